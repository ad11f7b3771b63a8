"""Points of the curves: where they lie, and what they hold."""

import math

import pytest

from tests.trainer_module.monitoring.updates import update
from trainer_module.monitoring.curves import MOST_POINTS, Curves, span_of


def points(numbers, **fields) -> list[int]:
    """At which of the updates there is a point."""
    curves = Curves()
    return [n for n in numbers if curves.add(update(n, **fields)) is not None]


@pytest.mark.parametrize(
    "updates, span", [(1, 1), (2000, 1), (2001, 2), (4000, 2), (4001, 3), (10**6, 500)]
)
def test_span_keeps_to_the_most_points(updates, span):
    assert span_of(updates) == span
    assert math.ceil(updates / span) <= MOST_POINTS


def test_last_update_is_a_point():
    assert points(range(1, 4002), updates=4001)[-2:] == [3999, 4001]


@pytest.mark.parametrize("resumed_at", [1, 2, 3, 2999])
def test_resumed_training_has_the_same_points(resumed_at):
    whole = points(range(1, 4002), updates=4001)
    rest = points(range(resumed_at + 1, 4002), updates=4001)
    assert rest == [n for n in whole if n > resumed_at]


def test_point_is_of_all_updates_in_its_span():
    curves = Curves()
    first = update(1, updates=4000, loss=1.0, learning_rate=0.1, gradient_norm=2.0)
    second = update(
        2,
        **{"updates": 4000, "loss": 3.0, "learning_rate": 0.3, "gradient_norm": 4.0},
        **{"examples": 8, "real_tokens": 40, "padded_tokens": 40},
        **{"seconds": 3.0, "waiting_seconds": 1.5},
    )
    assert curves.add(first) is None
    assert curves.add(second) == pytest.approx(
        {
            "train/loss": 2.0,
            "train/learning_rate": 0.2,
            "train/gradient_norm": 3.0,
            "speed/examples_per_second": (4 + 8) / 4,
            "speed/real_tokens_per_second": (20 + 40) / 4,
            "speed/input_wait_share": (0.5 + 1.5) / 4,
            "speed/padding_share": 1 - 60 / 80,
        }
    )
    assert curves.rest() is None


def test_loss_scale_is_the_smallest_once_it_is_not_one():
    curves = Curves()
    curves.add(update(1, updates=4000, loss_scale=1024.0))
    assert curves.add(update(2, updates=4000, loss_scale=512.0))[
        "train/loss_scale"
    ] == (512.0)


def test_norm_of_a_skipped_update_does_not_hide_the_others():
    curves = Curves()
    curves.add(update(1, updates=4000, gradient_norm=math.inf))
    point = curves.add(update(2, updates=4000, gradient_norm=3.0))
    assert point["train/gradient_norm"] == 3.0
    (curves.add(update(3, updates=4000, gradient_norm=math.inf)))
    point = curves.add(update(4, updates=4000, gradient_norm=math.inf))
    assert point["train/gradient_norm"] == math.inf
