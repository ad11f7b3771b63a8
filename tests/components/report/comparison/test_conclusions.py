"""The verdict in words, and what it leaves out."""

import dataclasses

import pytest

from components.report.comparison import conclusions
from components.report.comparison.core import Row, compare
from tests import evaluated
from tests.components.report.comparison import sides

TARGETS = ["fee", "fee", "late", "lost"] * 10
WRONG = ["late", "late", "fee", "fee"] * 10
CHANNELS = ["app"] * 30 + ["web"] * 10
ROWS = evaluated.rows(TARGETS, channels=CHANNELS)


def verdict(one, other):
    return conclusions.verdict(compare(*sides.of_labels(ROWS, one, other)))


def test_better_everywhere_is_good():
    found = verdict(WRONG, TARGETS)
    assert (found.kind, found.sentence) == (
        "good",
        "B is better in accuracy by 1.0000 (1.0000 to 1.0000); in no slice with "
        "enough rows is it shown to be worse.",
    )
    assert found.reasons[0] == (
        "B is also better in: macro_f1, macro_precision, macro_recall and "
        "calibration_error."
    )


def test_worse_everywhere_is_bad():
    found = verdict(TARGETS, WRONG)
    assert found.kind == "bad"
    assert found.sentence.startswith("A is better in accuracy by 1.0000 (1.0000 to ")


def test_better_and_worse_in_a_slice_is_open_and_names_the_slice():
    found = verdict(WRONG[:30] + TARGETS[30:], TARGETS[:30] + WRONG[30:])
    assert found.kind == "open"
    assert found.sentence.startswith("B is better in accuracy by 0.5000 (0.")
    assert found.sentence.endswith(
        ", and worse in 1 slice: channel: web by 1.0000 (1.0000 to 1.0000)."
    )


def test_slice_of_few_rows_has_no_part_in_it():
    found = compare(
        *sides.of_labels(ROWS, WRONG[:30] + TARGETS[30:], TARGETS[:30] + WRONG[30:])
    )
    found = dataclasses.replace(found, min_slice_rows=11)
    assert conclusions.verdict(found).kind == "good"
    assert "By label" not in " ".join(
        conclusions.verdict(dataclasses.replace(found, min_slice_rows=21)).reasons
    )


def test_no_difference_tells_how_many_rows_would_show_it():
    one = [*TARGETS[:36], *WRONG[36:]]  # 36 of 40 are right,
    other = [*WRONG[:3], *TARGETS[3:]]  # and 37 of 40.
    found = verdict(one, other)
    assert (found.kind, found.sentence) == (
        "open",
        "No difference in accuracy that the 40 eval rows could show.",
    )
    assert found.reasons[0].startswith(
        "accuracy of A 0.9000, of B 0.9250: B has +0.0250 (−0."
    )
    assert "eval rows would show it; there are 40." in found.reasons[1]


def test_equal_runs_need_no_more_rows():
    found = verdict(TARGETS, TARGETS)
    assert found.reasons == (
        "accuracy of A 1.0000, of B 1.0000: B has +0.0000 (+0.0000 to +0.0000) more.",
    )


def test_runs_that_are_not_paired_say_why_and_what_each_has():
    a = sides.side("1", ROWS, evaluated.labelled(TARGETS), kept=False)
    b = sides.side("2", ROWS, evaluated.labelled(WRONG))
    found = conclusions.verdict(compare(a, b))
    assert (found.kind, found.sentence) == (
        "open",
        "Which is better cannot be told row by row: the answers of run 1 are gone.",
    )
    assert found.reasons == (
        "accuracy of A: 1.0000 (1.0000 to 1.0000) on 40 rows.",
        "accuracy of B: 0.0000 (0.0000 to 0.0000) on 40 rows.",
    )


@pytest.mark.parametrize(
    "count, said",
    [(10, ""), (60, "Of 60 comparisons about 3 would seem clear by chance alone.")],
)
def test_what_chance_alone_would_show(count, said):
    difference = {"value": 0.0, "low": 0.0, "high": 0.1}
    row = Row("x", {"A": 1, "B": 1}, {}, difference, None)
    assert conclusions.by_chance([row] * count, 0.95) == said
