"""components.evaluator.core: each bound in words, and nothing passes by absence."""

import pytest

from components.evaluator import core


def metric(value, *, model="candidate", where="Overall", name="accuracy"):
    return {"slice": where, "model": model, "metric": name, "value": value}


@pytest.mark.parametrize(
    "value, passed",
    [(0.80, True), (0.70, True), (0.69, False), (None, False), (float("nan"), False)],
    ids=["above", "at_floor", "below", "missing", "nan"],
)
def test_floor_fails_closed(value, passed):
    (check,) = core.explain({"floors": {"accuracy": 0.7}}, [metric(value)])
    assert check.passed is passed


def test_metric_that_is_not_reported_cannot_pass():
    (check,) = core.explain({"floors": {"macro_f1": 0.7}}, [metric(0.9)])
    assert not check.passed
    assert "macro_f1 was not reported" in check.in_words()


@pytest.mark.parametrize(
    "value, passed", [(0.80, True), (0.79, True), (0.78, False)], ids=str
)
def test_drop_is_held_against_the_baseline(value, passed):
    metrics = [metric(value), metric(0.80, model="baseline")]
    (check,) = core.explain({"max_drop": {"accuracy": 0.0101}}, metrics)
    assert check.passed is passed


def test_drop_without_a_baseline_says_so():
    (check,) = core.explain({"max_drop": {"accuracy": 0.01}}, [metric(0.1)])
    assert check.passed is None
    assert "no baseline yet" in check.in_words()


def test_slice_bounds_hold_for_every_value_and_failures_come_first():
    gate = {"slices": {"language": {"floors": {"accuracy": 0.5}}}}
    metrics = [
        metric(0.9, where="language: en"),
        metric(0.1, where="language: zh"),
        metric(0.0, where="channel: app"),
    ]
    assert [(c.slice, c.passed) for c in core.explain(gate, metrics)] == [
        ("language: zh", False),
        ("language: en", True),
    ]
    assert core.explain(gate, metrics)[0].in_words() == (
        "accuracy for language: zh 0.1000 is below the floor 0.5000"
    )
