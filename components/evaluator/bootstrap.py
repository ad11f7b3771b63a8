"""How sure a score is: the paired percentile bootstrap over rows.

The eval rows are one draw of all that users might send. They are drawn again, with
replacement, thousands of times; each time all models are scored on the same rows, so
that what makes a row hard for all of them cancels in their difference (B. Efron and
R. Tibshirani, "An introduction to the bootstrap", 1993, chapter 13; P. Koehn,
"Statistical significance tests for machine translation evaluation", 2004).
"""

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from components.evaluator.scores.sheet import Metric, Sheet

DRAWS = 2000
_CELLS_AT_A_TIME = 1 << 22  # Of draws and of sums, so that memory is bounded.


class Interval(NamedTuple):
    """A value and the bounds that hold it with the stated confidence.

    All NaN if the metric has no value; both bounds NaN if it has none in some draw.
    """

    value: float
    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class Scores:
    """The scores of some models on the same rows.

    Attributes:
      rows: how many.
      confidence: of the intervals, two-sided: 0.95 leaves 0.025 at each end.
    """

    rows: int
    confidence: float
    _values: Mapping[tuple[str, str], float]
    _draws: Mapping[tuple[str, str], np.ndarray]

    @property
    def models(self) -> list[str]:
        """In the order in which they were given."""
        return list(dict.fromkeys(model for model, _ in self._values))

    def has(self, metric: str) -> bool:
        return any(name == metric for _, name in self._values)

    def of(self, model: str, metric: str) -> Interval:
        key = model, metric
        return self._interval(self._values[key], self._draws[key])

    def difference(self, model: str, other: str, metric: str) -> Interval:
        """What `model` has more than `other`."""
        key, minus = (model, metric), (other, metric)
        return self._interval(
            self._values[key] - self._values[minus],
            self._draws[key] - self._draws[minus],
        )

    def renamed(self, names: Mapping[str, str], rows: int) -> "Scores":
        """Some of the metrics, under other names.

        Args:
          names: {metric: its new name}.
          rows: that these metrics are of.
        """
        new = {key: (key[0], names[key[1]]) for key in self._values if key[1] in names}
        values = {new[key]: self._values[key] for key in new}
        draws = {new[key]: self._draws[key] for key in new}
        return Scores(rows, self.confidence, values, draws)

    def _interval(self, value: float, draws: np.ndarray) -> Interval:
        tail = (1 - self.confidence) / 2
        low, high = np.quantile(draws, [tail, 1 - tail])
        return Interval(float(value), float(low), float(high))


def score(
    sheets: Mapping[str, Sheet],
    metrics: Sequence[Metric],
    *,
    confidence: float = 0.95,
    draws: int = DRAWS,
    seed: int = 0,
) -> Scores:
    """Scores every model on all rows, and on `draws` draws of as many.

    Args:
      sheets: by model, all of the same rows in the same order, one row or more.

    Raises:
      ValueError: if the sheets have no row or are of different lengths.
    """
    lengths = {model: sheet.rows for model, sheet in sheets.items()}
    rows = next(iter(lengths.values()), 0)
    if not rows or set(lengths.values()) != {rows}:
        raise ValueError(
            "`sheets` must all have the same rows, one or more. Received rows: "
            f"{lengths}."
        )
    found: dict[tuple[str, str], list[np.ndarray]] = {}
    for times in _times(rows, draws=draws, seed=seed, sheets=sheets.values()):
        for model, sheet in sheets.items():
            sums = sheet.sums(times)
            counts = np.full(len(times), rows)
            for metric in metrics:
                part = sheet.value(metric, sums, counts)
                found.setdefault((model, metric.name), []).append(part)
    drawn = {key: np.concatenate(parts) for key, parts in found.items()}
    # The first "draw" has every row once.
    values = {key: float(draws_of[0]) for key, draws_of in drawn.items()}
    return Scores(rows, confidence, values, {key: of[1:] for key, of in drawn.items()})


def rows_needed(rows: int, half_width: float, margin: float) -> int | None:
    """About how many rows would tell a difference from a bound.

    An interval's width falls with the root of the number of rows.

    Args:
      rows: how many there were.
      half_width: from the value to the bound that has to clear.
      margin: from the value to what it has to clear; not above zero if it would not
        clear with any number of rows.
    """
    if not (margin > 0 and math.isfinite(half_width)):
        return None
    return max(rows, math.ceil(rows * (half_width / margin) ** 2))


def _times(
    rows: int, *, draws: int, seed: int, sheets: Iterable[Sheet]
) -> Iterator[np.ndarray]:
    """How often each row counts, [some draws, rows] at a time: first each row once."""
    widest = max(rows, *(sheet.lines.shape[1] for sheet in sheets))
    at_a_time = max(1, _CELLS_AT_A_TIME // widest)
    generator = np.random.default_rng(seed)
    yield np.ones((1, rows))
    for start in range(0, draws, at_a_time):
        count = min(at_a_time, draws - start)
        chosen = generator.integers(rows, size=(count, rows))
        chosen += np.arange(count)[:, None] * rows
        times = np.bincount(chosen.ravel(), minlength=count * rows)
        yield times.reshape(count, rows).astype(np.float64)
