"""The gate: passes only what is known, and nothing by absence."""

import dataclasses
import types

import numpy as np
import pytest

from components.evaluator import bootstrap, gate
from components.evaluator.scores.sheet import Metric, Sheet, mean

HIGH = Metric("accuracy", "high", "right", mean)
LOW = Metric("empty", "low", "empty", mean)
METRICS = (HIGH, LOW)


def right(share, rows=1000, *, shift=0):
    """As many ones as the share says, from the row `shift` on."""
    ones = np.zeros(rows)
    ones[: round(share * rows)] = 1
    return np.roll(ones, shift)


def scores(rows=1000, *, of="right", **shares):
    """Scores of models by name: the share of right, or of empty, answers."""
    empty = np.zeros(rows)
    sheets = {}
    for model, values in shares.items():
        values = right(values, rows) if isinstance(values, float) else values
        columns = {"right": empty, "empty": empty, of: values}
        sheets[model] = Sheet.of({n: v[:, None] for n, v in columns.items()})
    return bootstrap.score(sheets, METRICS)


def bounds(**given):
    kinds = dict.fromkeys(("floors", "ceilings", "max_drop", "min_gain"), {})
    extra = {"slices": {}, "labels": {}, "min_slice_rows": 30}
    return types.SimpleNamespace(**{**kinds, **extra, **given})


def decide(settings, found, **more):
    """Names of slices have one column each here, and no colon more."""
    keys = {name: (tuple(name.split(": ")),) for name in found if name != "Overall"}
    return gate.decide(settings, found, METRICS, keys={"Overall": (), **keys}, **more)


def only(settings, found, **more):
    (check,) = decide(settings, {"Overall": found}, **more)
    return check


@pytest.mark.parametrize(
    "floor, passed, words",
    [
        (0.87, True, "accuracy 0.9000 (0.8800 to 0.9180) reaches the floor 0.8700"),
        (0.89, False, "may be below the floor 0.8900; about 4,000 rows would tell"),
        (0.91, False, "is below the floor 0.9100"),
    ],
    ids=["interval above", "value above, interval not", "value below"],
)
def test_floor_holds_only_if_the_interval_clears_it(floor, passed, words):
    check = only(bounds(floors={"accuracy": floor}), scores(candidate=0.9))
    assert check.passed is passed
    assert words in check.in_words()


@pytest.mark.parametrize(
    "ceiling, passed, words",
    [
        (0.05, True, "empty 0.0300 (0.0200 to 0.0410) stays within the ceiling 0.0500"),
        (0.035, False, "may be above the ceiling 0.0350; about "),
        (0.02, False, "is above the ceiling 0.0200"),
    ],
)
def test_ceiling_holds_only_if_the_interval_stays_below(ceiling, passed, words):
    found = scores(of="empty", candidate=0.03)
    check = only(bounds(ceilings={"empty": ceiling}), found)
    assert check.passed is passed
    assert words in check.in_words()


@pytest.mark.parametrize(
    "max_drop, passed, words",
    [
        (0.02, True, "(-0.0100, -0.0170 to -0.0040) is not worse by more than 0.0200"),
        (0.012, False, "may be worse by more than 0.0120; about "),
        (0.005, False, "is worse by more than 0.0050"),
    ],
)
def test_drop_is_judged_by_the_paired_difference(max_drop, passed, words):
    found = scores(candidate=0.90, baseline=0.91)
    check = only(bounds(max_drop={"accuracy": max_drop}), found)
    assert check.passed is passed
    assert "accuracy 0.9000 against 0.9100 of the baseline" in check.in_words()
    assert words in check.in_words()


def test_model_that_errs_elsewhere_is_less_sure_to_be_as_good():
    same = scores(candidate=0.9, baseline=0.9)
    elsewhere = scores(candidate=right(0.9), baseline=right(0.9, shift=50))
    settings = bounds(max_drop={"accuracy": 0.01})
    assert only(settings, same).passed is True
    check = only(settings, elsewhere)
    assert check.passed is False
    assert check.rows_needed > 1000


def test_identical_model_passes_a_drop_of_nothing():
    found = scores(candidate=0.9, baseline=0.9)
    assert only(bounds(max_drop={"accuracy": 0.0}), found).passed is True


def test_more_of_what_is_bad_is_a_drop():
    settings = bounds(max_drop={"empty": 0.005})
    worse = scores(of="empty", candidate=0.03, baseline=0.02)
    better = scores(of="empty", candidate=0.02, baseline=0.03)
    assert only(settings, worse).passed is False
    assert "is worse by more than 0.0050" in only(settings, worse).in_words()
    assert only(settings, better).passed is True


@pytest.mark.parametrize(
    "untuned, passed, words",
    [
        (0.80, True, "is better by 0.0500"),
        (0.845, False, "may be not better by 0.0500; about "),
        (0.90, False, "is not better by 0.0500"),
    ],
)
def test_gain_is_over_the_untuned_checkpoint(untuned, passed, words):
    found = scores(candidate=0.9, untuned=untuned)
    check = only(bounds(min_gain={"accuracy": 0.05}), found)
    assert check.passed is passed
    assert "of the untuned checkpoint" in check.in_words()
    assert words in check.in_words()


@pytest.mark.parametrize(
    "untuned, passed, words",
    [
        (0.80, True, "is better"),
        (0.899, False, "may be not better; about 1,001"),
        (0.90, False, "is not better"),
        (0.95, False, "is not better"),
    ],
)
def test_gain_of_any_size_is_more_than_none(untuned, passed, words):
    found = scores(candidate=0.9, untuned=untuned)
    check = only(bounds(min_gain={"accuracy": 0.0}), found)
    assert check.passed is passed
    assert f") {words}" in check.in_words() and "better by" not in check.in_words()


@pytest.mark.parametrize(
    "kind, words",
    [
        ("max_drop", "there is no baseline to compare with"),
        ("min_gain", "there is no untuned checkpoint to compare with"),
    ],
)
def test_comparison_without_another_model_is_not_judged(kind, words):
    check = only(bounds(**{kind: {"accuracy": 0.01}}), scores(candidate=0.9))
    assert check.passed is None
    assert check.in_words() == f"accuracy was not judged: {words}"
    assert not gate.blessed([check])


def test_baseline_that_cannot_be_compared_fails_with_the_reason():
    check = only(
        bounds(max_drop={"accuracy": 0.1}),
        scores(candidate=0.9, baseline=0.5),
        incomparable={"baseline": "it knows other labels."},
    )
    assert check.passed is False
    assert check.in_words() == ("accuracy cannot pass: it knows other labels.")


def test_bounds_of_a_cross_hold_in_its_slices_alone():
    found = {"Overall": scores(candidate=0.9), "cell": scores(candidate=0.4)}
    keys = {"Overall": (), "cell": (("channel", "app"), ("language", "zh"))}
    of_cross = {"channel x language": bounds(floors={"accuracy": 0.5})}
    (check,) = gate.decide(bounds(slices=of_cross), found, METRICS, keys=keys)
    assert (check.slice, check.passed) == ("cell", False)
    of_column = {"channel": bounds(floors={"accuracy": 0.5})}
    assert gate.decide(bounds(slices=of_column), found, METRICS, keys=keys) == []


@pytest.mark.parametrize("values", [np.full(100, np.nan), np.r_[np.nan, np.ones(99)]])
def test_score_that_is_not_a_number_fails(values):
    check = only(bounds(floors={"accuracy": 0.1}), scores(100, candidate=values))
    assert check.passed is False
    assert check.in_words() == "accuracy has no value, so it cannot pass"


def test_baseline_without_a_value_fails_the_comparison():
    found = scores(100, candidate=0.9, baseline=np.full(100, np.nan))
    check = only(bounds(max_drop={"accuracy": 0.1}), found)
    assert check.passed is False
    assert "has no interval, so it cannot pass" in check.in_words()


def by_language(rows):
    """Scores overall and of slices: bad in zh."""
    return {
        "Overall": scores(candidate=0.9),
        "language: en": scores(candidate=0.95),
        "language: zh": scores(rows, candidate=0.4),
        "channel: app": scores(candidate=0.1),
    }


def test_bounds_of_a_column_hold_in_each_of_its_slices():
    settings = bounds(slices={"language": bounds(floors={"accuracy": 0.5})})
    checks = decide(settings, by_language(100))
    assert [(c.slice, c.passed) for c in checks] == [
        ("language: zh", False),
        ("language: en", True),
    ]
    assert "accuracy for language: zh 0.4000 (" in checks[0].in_words()
    assert not gate.blessed(checks)


@pytest.mark.parametrize("rows", [1, 29])
def test_slice_of_few_rows_neither_blocks_nor_passes_in_silence(rows):
    settings = bounds(slices={"language": bounds(floors={"accuracy": 0.5})})
    checks = decide(settings, by_language(rows))
    few = next(c for c in checks if c.slice == "language: zh")
    assert few.passed is None
    assert few.in_words() == (
        f"accuracy for language: zh was not judged: {rows} rows are too few"
    )
    assert gate.blessed(checks)


def test_slice_that_no_row_has_is_not_checked():
    settings = bounds(slices={"product": bounds(floors={"accuracy": 0.5})})
    assert decide(settings, by_language(100)) == []


def of_labels(settings, found, **more):
    return gate.decide_labels(settings, found, METRICS, **more)


def test_label_goes_by_its_own_bounds_and_others_by_those_of_every_label():
    labels = {
        "*": bounds(floors={"accuracy": 0.5}),
        "fee": bounds(floors={"accuracy": 0.95}),
        "late": bounds(),
    }
    found = {name: scores(candidate=0.9) for name in ("fee", "late", "lost")}
    checks = of_labels(bounds(labels=labels), found)
    assert [(c.slice, c.bound, c.passed) for c in checks] == [
        ("label: fee", 0.95, False),
        ("label: lost", 0.5, True),
    ]


def test_label_of_few_rows_is_not_judged():
    labels = {"fee": bounds(floors={"accuracy": 0.95})}
    (check,) = of_labels(bounds(labels=labels), {"fee": scores(29, candidate=0.1)})
    assert check.passed is None


def test_bound_on_a_label_that_nobody_knows_fails():
    labels = {"fees": bounds(floors={"accuracy": 0.5})}
    (check,) = of_labels(bounds(labels=labels), {"fee": scores(candidate=0.9)})
    assert check.passed is False
    assert check.in_words() == (
        "accuracy for label: fees cannot pass: no row and no model has this label. "
        "Mend its name in `gate.labels`."
    )


def test_label_is_not_held_against_a_baseline_that_cannot_be_compared():
    labels = {"*": bounds(max_drop={"accuracy": 0.1})}
    (check,) = of_labels(
        bounds(labels=labels),
        {"fee": scores(candidate=0.9, baseline=0.9)},
        incomparable={"baseline": "it knows other labels."},
    )
    assert (check.passed, check.why) == (False, "it knows other labels.")


def test_nothing_judged_is_not_blessed():
    assert not gate.blessed([])


def test_failed_checks_come_first_and_one_is_enough_to_refuse():
    settings = bounds(floors={"accuracy": 0.5}, ceilings={"accuracy": 0.8})
    checks = decide(settings, {"Overall": scores(candidate=0.9)})
    assert [check.rule for check in checks] == ["ceiling", "floor"]
    assert not gate.blessed(checks)
    assert gate.blessed(checks[1:])


def test_bound_met_to_the_last_digit_is_met():
    # 0.93 - 0.94 is -0.009999999999999898 or so.
    found = scores(candidate=right(0.93), baseline=right(0.94))
    difference = found.difference("candidate", "baseline", "accuracy")
    check = only(bounds(max_drop={"accuracy": -difference.low}), found)
    assert check.passed is True


def test_check_is_plain_data():
    check = only(bounds(floors={"accuracy": 0.5}), scores(candidate=0.9))
    assert dataclasses.asdict(check)["score"] == check.score
