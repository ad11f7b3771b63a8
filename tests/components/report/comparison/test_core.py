"""Differences computed by hand, and what is said where there are none."""

import re

import pytest

from components.report.comparison import conclusions, core
from components.report.comparison.core import compare
from tests import evaluated
from tests.components.report.comparison import sides

TARGETS = ["fee", "fee", "late", "lost"]
ROWS = evaluated.rows(TARGETS)
# A has rows 1 and 3 right, B all but the last.
ONE, OTHER = ["fee", "late", "late", "fee"], ["fee", "fee", "late", "fee"]


def row(rows, name):
    (found,) = (r for r in rows if r.name == name)
    return found


def values(found):
    a, b = (found.scores[side]["value"] for side in ("A", "B"))
    return a, b, found.difference["value"]


def test_difference_is_what_b_has_more():
    found = compare(*sides.of_labels(ROWS, ONE, OTHER))
    assert found.why_not_paired is None
    accuracy = row(found.overall, "accuracy")
    assert values(accuracy) == (0.5, 0.75, 0.25)
    # One of four rows differs: a draw has it from never to more than half the time.
    assert (accuracy.difference["low"], accuracy.better) == (0.0, None)
    assert accuracy.difference["high"] == pytest.approx(0.75)
    # F1 of A: fee 1/2, late 2/3, lost 0; of B: 4/5, 1, 0.
    a, b, more = values(row(found.overall, "macro_f1"))
    assert (a, b) == pytest.approx((7 / 18, 3 / 5))
    assert more == pytest.approx(3 / 5 - 7 / 18)


def test_metric_of_all_probabilities_has_a_difference_without_bounds():
    found = compare(*sides.of_labels(ROWS, ONE, OTHER))
    a, b, more = values(row(found.overall, "log_loss"))
    assert more == pytest.approx(b - a)
    assert row(found.overall, "log_loss").difference["low"] is None
    assert "top3_accuracy, auc and log_loss have no interval" in found.notes[0]


def test_order_of_the_rows_and_of_the_labels_does_not_count():
    back = ROWS.of([3, 2, 1, 0])
    a = sides.side("1", ROWS, evaluated.labelled(ONE))
    b = sides.side("2", back, evaluated.labelled(OTHER[::-1], ("lost", "late", "fee")))
    assert values(row(compare(a, b).overall, "accuracy")) == (0.5, 0.75, 0.25)


def test_slice_has_the_difference_of_its_rows():
    found = compare(*sides.of_labels(ROWS, ONE, OTHER))
    app, web = found.slices["accuracy"]
    assert (app.name, app.rows) == ("channel: app", {"A": 2, "B": 2})
    assert values(app) == (1.0, 1.0, 0.0)
    assert values(web) == (0.0, 0.5, 0.5)


def test_slice_of_other_rows_is_told_and_has_no_difference():
    moved = evaluated.rows(TARGETS, channels=["web", "app", "app", "web"])
    a = sides.side("1", ROWS, evaluated.labelled(ONE))
    b = sides.side("2", moved, evaluated.labelled(OTHER))
    found = compare(a, b)
    assert [r.difference for r in found.slices["accuracy"]] == [None, None]
    assert "The rows of 2 slices are not the same" in found.notes[-1]
    assert values(row(found.overall, "accuracy")) == (0.5, 0.75, 0.25)


def test_labels_come_from_gain_to_loss():
    found = compare(*sides.of_labels(ROWS, ONE, OTHER))
    assert [r.name for r in found.labels] == ["late", "fee", "lost"]
    assert values(found.labels[0]) == pytest.approx((2 / 3, 1.0, 1 / 3))
    assert found.labels[0].rows == {"A": 1, "B": 1}


def test_better_on_every_row_leaves_no_doubt():
    wrong = ["late", "late", "fee", "fee"]
    found = compare(*sides.of_labels(ROWS, wrong, TARGETS))
    assert found.of_main.difference == {"value": 1.0, "low": 1.0, "high": 1.0}
    assert found.of_main.better == "B"
    assert compare(*sides.of_labels(ROWS, TARGETS, wrong)).of_main.better == "A"


@pytest.mark.parametrize(
    "low, high, best, better",
    [
        (0.1, 0.2, "high", "B"),
        (0.1, 0.2, "low", "A"),
        (-0.2, -0.1, "low", "B"),
        (0.1, 0.2, "neither", None),
        (0.0, 0.2, "high", None),
        (None, None, "high", None),
    ],
)
def test_which_is_better_goes_by_the_bounds_and_the_metric(low, high, best, better):
    assert core.better({"value": 0.1, "low": low, "high": high}, best) == better


def test_label_that_only_one_knows_is_listed():
    a = sides.side("1", ROWS, evaluated.labelled(ONE, ("fee", "late", "theft")))
    b = sides.side("2", ROWS, evaluated.labelled(OTHER))
    found = compare(a, b)
    # A never learned "lost", which an eval row has.
    assert found.only_in == {"A": ["theft"], "B": ["lost"]}
    assert found.why_not_paired is None
    reasons = conclusions.verdict(found).reasons
    assert "Only A knows the label theft." in reasons
    assert "Only B knows the label lost." in reasons


def test_other_confidence_of_the_records_is_told():
    a, b = sides.of_labels(ROWS, ONE, OTHER)
    a.record["evaluation"]["confidence"] = 0.975
    assert compare(a, b).notes[0] == (
        "The intervals that A has recorded are of 97.5% confidence, and those of B of "
        "95%."
    )


def unpaired(b, **changed):
    return compare(sides.side("1", ROWS, evaluated.labelled(ONE), **changed), b)


def test_other_rows_are_counted_and_not_compared():
    other = evaluated.rows(TARGETS, ids=["r0", "r1", "x", "y"])
    found = unpaired(sides.side("2", other, evaluated.labelled(OTHER)))
    assert found.why_not_paired == (
        "they answered other eval rows: A 4 and B 4, of which 2 are the same."
    )
    accuracy = row(found.overall, "accuracy")
    assert accuracy.difference is None and accuracy.better is None
    assert accuracy.scores["B"]["value"] == 0.75
    assert accuracy.scores["B"]["low"] is not None
    assert found.examples is None


@pytest.mark.parametrize(
    "changed, said",
    [
        (
            {"targets": ["fee", "fee", "late", "late"]},
            "1 of the 4 .* another reference",
        ),
        ({"sources": ["x", "y", "text 2", "text 3"]}, "2 of the 4 .* another text"),
    ],
)
def test_same_ids_with_other_texts_are_not_compared(changed, said):
    other = evaluated.rows(**{"targets": TARGETS, **changed})
    found = unpaired(sides.side("2", other, evaluated.labelled(OTHER)))
    assert found.overall[0].difference is None
    assert re.search(said, found.why_not_paired)


def test_answers_that_are_gone_are_told():
    b = sides.side("2", ROWS, evaluated.labelled(OTHER))
    found = unpaired(b, kept=False)
    assert found.why_not_paired == "the answers of run 1 are gone."
    assert [r.scores["A"]["value"] for r in found.overall][0] == 0.5


def test_other_task_is_refused():
    a = sides.side("1", ROWS, evaluated.labelled(ONE))
    b = sides.side("2", ROWS, evaluated.written(OTHER))
    with pytest.raises(ValueError, match="classification and summarization"):
        compare(a, b)


def test_score_that_the_record_has_otherwise_is_told():
    a, b = sides.of_labels(ROWS, ONE, OTHER)
    for score in a.record["evaluation"]["metrics"]:
        score["value"] = 0.99
    notes = compare(a, b).notes
    assert any(n.startswith("accuracy, macro_f1, ") and " of A " in n for n in notes)
    assert not any(" of B " in n for n in notes)


def test_examples_are_those_that_changed_and_by_how_much():
    found = compare(*sides.of_labels(ROWS, ONE, OTHER)).examples
    (gained,) = found["gained"]
    assert (gained["source"], gained["target"]) == ("text 1", "fee")
    assert gained["answers"]["baseline"]["prediction"] == "late"
    assert gained["answers"]["candidate"]["prediction"] == "fee"
    assert gained["scores"] == pytest.approx({"baseline": -0.8, "candidate": 0.8})
    assert found["lost"] == []


def test_written_texts_are_compared_in_every_metric():
    rows = evaluated.rows(["a b", "c d"])
    a = sides.side("1", rows, evaluated.written(["a b", "x y"]))
    b = sides.side("2", rows, evaluated.written(["a b", "c d"]))
    found = compare(a, b)
    assert values(found.of_main) == (0.5, 1.0, 0.5)
    assert found.main == "rouge_l"
    assert all(r.difference["low"] is not None for r in found.overall)
    assert (found.labels, found.only_in, found.notes) == ([], {}, [])
    assert [e["source"] for e in found.examples["gained"]] == ["text 1"]
