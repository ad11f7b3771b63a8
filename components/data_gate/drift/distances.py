"""How far apart two samples are, and how far chance alone may bring them. Pure.

Two samples of one distribution differ too, small ones a lot. So each distance comes
with what chance explains: the distance that 95 of 100 pairs of samples of these sizes
from one distribution stay below. Only what is beyond counts as drift.
"""

import dataclasses
from collections.abc import Mapping

import numpy as np

from components.data_gate.drift.profile import MIN_ROWS, Counts, Histogram, Profile

_LEVEL = 0.95
_DRAWS = 2000
# sqrt(-ln((1 - level) / 2) / 2), see `of_lengths`.
_SMIRNOV = float(np.sqrt(-np.log((1 - _LEVEL) / 2) / 2))
_NORMAL = 1.6449  # The quantile of the standard normal distribution at the level.


@dataclasses.dataclass(frozen=True)
class Distance:
    """A distance from 0 to 1, and the part of it that chance explains."""

    value: float
    chance: float

    @property
    def beyond(self) -> float:
        return max(0.0, self.value - self.chance)


def of_labels(then: Mapping[str, int], now: Mapping[str, int]) -> Distance:
    """The total variation distance of two label distributions.

    Half the sum of the absolute differences of the shares: the share of the rows that
    would have to have another label for the two to be equal. What chance explains is
    simulated: pairs of multinomial samples from the pooled distribution, a parametric
    bootstrap (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, ch. 6).

    Args:
      then: label -> rows; likewise `now`. Neither is empty.
    """
    names = sorted({*then, *now})
    counts = np.array([[side.get(n, 0) for n in names] for side in (then, now)])
    sizes = counts.sum(axis=1)
    shares = counts / sizes[:, None]
    random = np.random.default_rng(0)  # Equal counts have equal verdicts.
    pooled = counts.sum(axis=0) / sizes.sum()
    draws = [random.multinomial(size, pooled, _DRAWS) / size for size in sizes]
    chance = np.quantile(_total_variation(*draws), _LEVEL)
    return Distance(float(_total_variation(*shares)), float(chance))


def _total_variation(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.abs(first - second).sum(axis=-1) / 2


@dataclasses.dataclass(frozen=True)
class LengthDistance(Distance):
    """Where two distributions of lengths are farthest apart.

    Attributes:
      edge: a length in words.
      longer_then: the share of the rows that were longer than that.
      longer_now: likewise.
    """

    edge: int
    longer_then: float
    longer_now: float


def of_lengths(then: Histogram, now: np.ndarray) -> LengthDistance | None:
    """The Kolmogorov-Smirnov distance, at the edges of the histogram.

    Chance explains sqrt(-ln(alpha / 2) / 2) * sqrt(1/n + 1/m) of it (Smirnov, Annals
    of Mathematical Statistics 19, 1948), and less for lengths in bins, which makes
    this the careful side. So does what the last bin may hide.

    Args:
      then: of m rows.
      now: int64 [n], lengths in words.

    Returns:
      None where there is nothing to compare.
    """
    if not then.edges or not len(now):
        return None
    shares = np.searchsorted(np.sort(now), then.edges, side="right") / len(now)
    apart = np.abs(shares - then.cumulative)
    at = int(apart.argmax())
    rows = sum(then.rows)
    chance = _SMIRNOV * np.sqrt(1 / rows + 1 / len(now)) + (MIN_ROWS - 1) / rows
    return LengthDistance(
        value=float(apart[at]),
        chance=float(min(1.0, chance)),
        edge=then.edges[at],
        longer_then=float(1 - then.cumulative[at]),
        longer_now=float(1 - shares[at]),
    )


def of_words(then: Profile, now: Counts) -> Distance | None:
    """How much more often words occur now that were not frequent then.

    The difference of two shares, of which chance explains what their standard errors
    allow.

    Returns:
      None where there is nothing to compare: no word was frequent, or there is none.
    """
    if not then.words or not now.occurrences:
        return None
    error = np.hypot(then.unknown_error, now.unknown_error(then.words.keys()))
    return Distance(
        value=max(0.0, now.unknown_share(then.words) - then.unknown_share),
        chance=float(_NORMAL * error),
    )
