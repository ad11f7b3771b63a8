"""The few widths to which rows are padded, chosen for their lengths. Pure numpy.

XLA compiles every shape anew, so a batch takes one of a few widths. Which ones is the
segmentation of a line into k parts of least cost, solved exactly by dynamic
programming (Bellman 1961, https://doi.org/10.1145/366573.366611; for one dimension and
k clusters, Grønlund et al. 2017, https://arxiv.org/abs/1701.07204): rows in order of
length are cut into k parts, and a part costs its longest row's width for each row.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np

_MOST_CANDIDATES = 1024  # The tables take this squared.


@dataclasses.dataclass(frozen=True)
class Segmentation:
    """The best widths of their number.

    Attributes:
      widths: ascending.
      cost: padded tokens, each row at the smallest width that holds it.
    """

    widths: tuple[int, ...]
    cost: float


def choose(
    lengths: np.ndarray,
    *,
    count: int,
    multiple_of: int = 1,
    max_width: int | None = None,
) -> tuple[int, ...]:
    """The widths with the least padding if each row takes the smallest that holds it.

    Args:
      lengths: int [rows], tokens of each row; at least one row.
      count: the most widths.
      multiple_of: what every width is a multiple of, but for `max_width` itself.
      max_width: the most tokens that the model reads.

    Returns:
      At most `count` widths, ascending; the last one holds the longest row.

    Raises:
      ValueError: if a row is longer than `max_width`.
    """
    rounded = round_up(lengths, multiple_of=multiple_of, max_width=max_width)
    found, rows = np.unique(rounded, return_counts=True)
    return segment(found, rows, count=count)[-1].widths


def round_up(
    lengths: np.ndarray, *, multiple_of: int = 1, max_width: int | None = None
) -> np.ndarray:
    """The smallest width of each row by itself, at least `multiple_of`.

    Raises:
      ValueError: if a row is longer than `max_width`.
    """
    widths = -(-np.maximum(lengths, 1) // multiple_of) * multiple_of
    if max_width is None:
        return widths
    longest = int(np.max(lengths))
    if longest > max_width:
        raise ValueError(
            f"A row has {longest} tokens, and the model reads {max_width}. Lower "
            f"`model.max_source_tokens`: `--set model.max_source_tokens={max_width}`."
        )
    return np.minimum(widths, max_width)


def segment(
    values: np.ndarray, weights: np.ndarray, *, count: int
) -> Sequence[Segmentation]:
    """The best segmentation of each number of widths, up to `count`.

    Args:
      values: int [candidates], ascending; beyond 1024 of them the rest are rounded up
        to the next one that is looked at.
      weights: how many rows have each value.

    Returns:
      For one width, two, and so on; no more than there are values. The costs are
      convex in the number of widths, since those of the parts are Monge (Aggarwal et
      al. 1994, https://doi.org/10.1007/BF02574380).
    """
    values, weights = _thinned(values, weights)
    below = np.concatenate([[0], np.cumsum(weights)]).astype(np.float64)
    # cost[i, j]: candidates i to j, j included, all at the width of j.
    cost = values * (below[None, 1:] - below[:-1, None])
    cost[np.tril_indices(len(values), -1)] = np.inf
    least, starts = cost[0], [np.zeros(len(values), np.int64)]
    found = [Segmentation((int(values[-1]),), float(least[-1]))]
    for _ in range(1, min(count, len(values))):
        before = np.concatenate([[np.inf], least[:-1]])
        totals = before[:, None] + cost
        starts.append(np.argmin(totals, axis=0))
        least = np.take_along_axis(totals, starts[-1][None], axis=0)[0]
        found.append(Segmentation(_traced(values, starts), float(least[-1])))
    return found


def _thinned(values: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    step = -(-len(values) // _MOST_CANDIDATES)
    kept = values[::-1][::step][::-1]
    totals = np.zeros(len(kept))
    np.add.at(totals, np.searchsorted(kept, values), weights)
    return kept, totals


def _traced(values: np.ndarray, starts: list[np.ndarray]) -> tuple[int, ...]:
    """The ends of the parts, from where the last of each number of parts starts."""
    ends, end = [], len(values) - 1
    for start in reversed(starts):
        ends.append(int(values[end]))
        end = int(start[end]) - 1
    return tuple(reversed(ends))
