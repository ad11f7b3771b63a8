"""The points of a training's curves, from its updates. Pure."""

import math
from collections.abc import Iterable

from trainer_module.loop.events import Update

MOST_POINTS = 2000


def span_of(updates: int) -> int:
    """How many updates a point stands for, so that there are at most `MOST_POINTS`."""
    return max(1, -(-updates // MOST_POINTS))


class Curves:
    """Puts the updates between two points together.

    Points lie at the multiples of `span_of(updates)` and at the last update, whatever
    process writes them. After a resume within a span, its point is of the updates
    since then.
    """

    def __init__(self) -> None:
        self._span: list[Update] = []

    def add(self, update: Update) -> dict[str, float] | None:
        """The point at this update, where there is one; see `rest`."""
        self._span.append(update)
        ends = update.number % span_of(update.updates) == 0
        return self.rest() if ends or update.number == update.updates else None

    def rest(self) -> dict[str, float] | None:
        """The point of the updates since the last one; None if there are none.

        Returns:
          {tag: value}. Loss, learning rate and gradient norm are means over the
          updates, each with the same weight; of norms, over the finite ones (that of
          an update which mixed_float16 skips is not). The loss scale is the smallest,
          and left out where it was always 1. Speeds and shares are sums divided by
          sums.
        """
        span, self._span = self._span, []
        if not span:
            return None
        point = {
            "train/loss": _mean(u.loss for u in span),
            "train/learning_rate": _mean(u.learning_rate for u in span),
            "train/gradient_norm": _mean_of_finite([u.gradient_norm for u in span]),
        }
        if any(u.loss_scale != 1 for u in span):
            point["train/loss_scale"] = min(u.loss_scale for u in span)
        seconds = sum(u.seconds for u in span)
        real, padded = (
            sum(u.real_tokens for u in span),
            sum(u.padded_tokens for u in span),
        )
        if seconds > 0:
            point |= {
                "speed/examples_per_second": sum(u.examples for u in span) / seconds,
                "speed/real_tokens_per_second": real / seconds,
                "speed/input_wait_share": sum(u.waiting_seconds for u in span)
                / seconds,
            }
        if padded:
            point["speed/padding_share"] = 1 - real / padded
        return point


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)


def _mean_of_finite(values: list[float]) -> float:
    return _mean(list(filter(math.isfinite, values)) or values)
