"""Intervals: as wide as theory has them, paired, and the same every time."""

import math

import numpy as np
import pytest

from components.evaluator import bootstrap
from components.evaluator.scores.sheet import Metric, Sheet, mean

SCORE = Metric("score", "high", "score", mean)


def sheet(values):
    return Sheet.of({"score": np.array(values, float)[:, None]})


@pytest.fixture(scope="module")
def values():
    return np.random.default_rng(1).normal(0.5, 0.2, size=500)


def test_interval_of_a_mean_is_as_wide_as_its_standard_error(values):
    found = bootstrap.score({"candidate": sheet(values)}, [SCORE], draws=4000)
    value, low, high = found.of("candidate", "score")
    assert value == pytest.approx(values.mean())
    error = values.std() / math.sqrt(500)
    assert high - low == pytest.approx(2 * 1.96 * error, rel=0.06)
    assert (low + high) / 2 == pytest.approx(value, abs=error / 5)


def test_interval_holds_the_truth_as_often_as_stated():
    dice, inside = np.random.default_rng(2), 0
    for _ in range(200):
        rows = dice.random(120) < 0.3
        found = bootstrap.score(
            {"m": sheet(rows)},
            [SCORE],
            confidence=0.9,
            draws=400,
            seed=int(dice.integers(99)),
        )
        _, low, high = found.of("m", "score")
        inside += low <= 0.3 <= high
    # Of 200 draws with a chance of 0.9, 99.9% hold from 164 to 193.
    assert 164 <= inside <= 193


def test_difference_is_paired_and_so_narrower_than_of_two_draws(values):
    better = values + 0.01
    found = bootstrap.score(
        {"candidate": sheet(better), "baseline": sheet(values)}, [SCORE]
    )
    assert found.difference("candidate", "baseline", "score") == pytest.approx(
        (0.01, 0.01, 0.01)
    )
    alone = found.of("candidate", "score")
    assert alone.high - alone.low > 0.02


def test_identical_models_differ_by_exactly_nothing(values):
    found = bootstrap.score({"a": sheet(values), "b": sheet(values)}, [SCORE])
    assert found.difference("a", "b", "score") == (0.0, 0.0, 0.0)


def test_same_seed_gives_the_same_bounds_however_much_fits_in_memory(
    values, monkeypatch
):
    whole = bootstrap.score({"m": sheet(values)}, [SCORE], seed=7)
    monkeypatch.setattr(bootstrap, "_CELLS_AT_A_TIME", 3 * 500)
    parts = bootstrap.score({"m": sheet(values)}, [SCORE], seed=7)
    assert whole.of("m", "score") == parts.of("m", "score")
    other = bootstrap.score({"m": sheet(values)}, [SCORE], seed=8)
    assert other.of("m", "score") != whole.of("m", "score")


def test_higher_confidence_is_a_wider_interval(values):
    widths = []
    for confidence in (0.8, 0.95, 0.99):
        found = bootstrap.score({"m": sheet(values)}, [SCORE], confidence=confidence)
        _, low, high = found.of("m", "score")
        widths.append(high - low)
    assert widths == sorted(widths)


def test_metric_without_a_value_in_some_draw_has_no_bounds():
    nan_without_two = Metric(
        "two",
        "high",
        "score",
        lambda sums, _: np.where(sums[..., 0] > 1, 1.0, np.nan),
    )
    found = bootstrap.score({"m": sheet([1, 1, 0, 0])}, [nan_without_two])
    value, low, high = found.of("m", "two")
    assert (value, math.isnan(low), math.isnan(high)) == (1.0, True, True)


@pytest.mark.parametrize(
    "sheets", [{}, {"m": sheet([])}, {"m": sheet([1, 2]), "n": sheet([1])}]
)
def test_sheets_without_rows_or_of_other_rows_are_refused(sheets):
    with pytest.raises(ValueError, match="same rows, one or more. Received rows"):
        bootstrap.score(sheets, [SCORE])


@pytest.mark.parametrize(
    "half_width, margin, needed",
    [
        (0.04, 0.02, 400),
        (0.02, 0.02, 100),
        (0.01, 0.02, 100),  # Enough as it is.
        (0.04, 0.0, None),
        (0.04, -0.01, None),
        (math.nan, 0.02, None),
    ],
)
def test_rows_needed_grow_with_the_square_of_the_width(half_width, margin, needed):
    assert bootstrap.rows_needed(100, half_width, margin) == needed
