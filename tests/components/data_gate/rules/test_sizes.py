"""Rows enough: what stops, what is noted, and that the value offered is enough."""

import math

import pytest

from components.data_gate.rules import sizes


@pytest.fixture
def splits(rows):
    def splits(train, held):
        return {
            "train": rows(*[("t", "a")] * train),
            "eval": rows(*[("t", "a")] * held, prefix="e"),
        }

    return splits


@pytest.mark.parametrize(
    "train, held, message",
    [
        (
            1,
            2,
            "The train split has 1 example, and at least 2 are asked for. Add rows, or "
            "allow it: `--set data.gate.min_train_examples=1`.",
        ),
        (
            2,
            0,
            "The eval split has 0 examples, and at least 2 are asked for. Add rows.",
        ),
    ],
    ids=["train", "eval"],
)
def test_too_few_examples_stop(settings, splits, train, held, message):
    strict = settings(min_train_examples=2, min_eval_examples=2)
    found = sizes.too_few_examples(splits(train, held), strict)
    assert [(f.severity, f.message) for f in found] == [("stop", message)]


def test_few_examples_pass_with_what_is_offered(settings, splits, allow):
    strict = settings(min_eval_examples=4)
    (found,) = sizes.too_few_examples(splits(9, 3), strict)
    assert sizes.too_few_examples(splits(9, 3), allow(strict, found)) == []


def test_half_width_is_wilsons():
    # Wilson's interval for 5 of 10: 0.2366 to 0.7634.
    assert sizes.half_width(10) == pytest.approx((0.7634 - 0.2366) / 2, abs=1e-4)


@pytest.mark.parametrize("width", [0.01, 0.05, 0.15, 0.4, 0.5, 1.0])
def test_rows_for_a_width_are_the_fewest(width):
    fewest = sizes.rows_for(width)
    assert sizes.half_width(fewest) <= width
    assert fewest == 1 or sizes.half_width(fewest - 1) > width


def test_eval_split_too_small_for_its_interval_stops(settings, splits):
    (found,) = sizes.wide_interval(
        splits(99, 38), settings(max_interval_half_width=0.15)
    )
    assert (found.rule, found.severity) == ("wide_interval", "stop")
    assert found.message == (
        "The eval split has 38 rows: a score on it is known to ±0.152 only (95% "
        "interval at 0.5), and `data.gate.max_interval_half_width` allows ±0.150. 39 "
        "rows would do: add some, raise `data.eval_share` (0.2), or allow it: "
        "`--set data.gate.max_interval_half_width=0.152`."
    )


def test_eval_split_of_just_enough_rows_passes(settings, splits):
    strict = settings(max_interval_half_width=0.15)
    assert sizes.wide_interval(splits(99, 39), strict) == []


@pytest.mark.parametrize("held", [1, 7, 20, 38])
def test_wide_interval_passes_with_what_is_offered(settings, splits, allow, held):
    strict = settings(max_interval_half_width=0.15)
    (found,) = sizes.wide_interval(splits(99, held), strict)
    assert sizes.wide_interval(splits(99, held), allow(strict, found)) == []


def test_limit_on_eval_rows_is_named_as_the_way_out(settings, splits):
    limited = settings(max_interval_half_width=0.15).model_copy(
        update={"max_eval_examples": 20}
    )
    (found,) = sizes.wide_interval(splits(99, 20), limited)
    assert "raise `data.max_eval_examples` (20)" in found.message


def test_label_with_few_eval_rows_or_none_is_noted(rows):
    train = rows(("x", "a"), ("x", "b"), ("x", "c"))
    held = rows(*[("x", "a")] * 5, *[("x", "b")] * 4, prefix="e")
    (found,) = sizes.thin_labels({"train": train, "eval": held})
    assert (found.rule, found.severity) == ("thin_label", "note")
    assert found.examples == ("'c' (0)", "'b' (4)")
    assert "2 of 3: 'c' (0), 'b' (4)." in found.message


def test_labels_with_eval_rows_enough_are_not_noted(rows):
    train = rows(("x", "a"))
    held = rows(*[("x", "a")] * 5, prefix="e")
    assert sizes.thin_labels({"train": train, "eval": held}) == []


def test_half_width_shrinks_with_the_root_of_the_rows():
    assert sizes.half_width(40_000) == pytest.approx(0.98 / math.sqrt(40_000), rel=1e-3)


def test_width_that_is_just_allowed_stops_nothing(splits, settings):
    exact = settings(max_interval_half_width=sizes.half_width(40))
    assert sizes.wide_interval(splits(99, 40), exact) == []
    assert len(sizes.wide_interval(splits(99, 39), exact)) == 1
