"""Which shapes batches have, and which rows go into which. Pure numpy.

One feature (text to label): rows by length, cut into batches, and each batch as wide
as one of a few widths. Two (text to text): a few groups by the length of the source,
and within each a few widths of the target.
"""

import dataclasses
import functools
import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from trainer_module.input import widths

Pair = tuple[int, int]  # Widths of source and target; no target is 0 wide.

# Accelerators work in eights, so widths are multiples of 8 where that costs no more
# than this share of all tokens.
_MULTIPLE = 8
_MOST_EXTRA_TOKENS = 0.01
_SAMPLED_ROWS = 8192  # More tell little more about which widths are best.


@dataclasses.dataclass(frozen=True)
class Limits:
    """How large a batch may be, over all replicas.

    Attributes:
      batch_size: the most rows, but one a replica at least.
      max_batch_tokens: the most padded tokens of all features; None for no limit.
      replicas: a batch is cut into as many equal parts.
    """

    batch_size: int
    max_batch_tokens: int | None = None
    replicas: int = 1

    def rows(self, tokens: int) -> int:
        """Rows of a batch whose rows are `tokens` wide; 0 if the budget holds none."""
        most = max(self.batch_size // self.replicas, 1)
        if self.max_batch_tokens is None:
            return most * self.replicas
        fit = self.max_batch_tokens // (tokens * self.replicas)
        if fit < most:
            # As in fairseq: fewer different numbers, and those accelerators like.
            most = fit if fit < 8 else fit - fit % 8
        return most * self.replicas


@dataclasses.dataclass(frozen=True)
class Cell:
    """All batches of one shape.

    Attributes:
      widths: of source and target, 0 for no target.
      batch_rows: rows of each batch.
      rows: int64 [rows], which ones; the last batch may not be full.
    """

    widths: Pair
    batch_rows: int
    rows: np.ndarray

    @property
    def batches(self) -> int:
        return -(-len(self.rows) // self.batch_rows)

    @property
    def padded_tokens(self) -> int:
        return self.batches * self.batch_rows * sum(self.widths)


def lay_out(
    lengths: Sequence[np.ndarray],
    limits: Limits,
    *,
    max_shapes: int,
    batches_per_shape: int = 1,
    max_width: int | None = None,
) -> list[Cell]:
    """Chooses shapes with little padding and shares the rows out among them.

    A function of its arguments alone, in which no number is random.

    Args:
      lengths: for each ragged feature, one or two, an int array [rows] of tokens. The
        rows are in order of the first one, the longest first.
      limits: of a batch.
      max_shapes: the most cells.
      batches_per_shape: at most one shape for so many batches.
      max_width: the most tokens of the first feature that the model reads.

    Returns:
      The cells, the widest first. Each row is in one of them.

    Raises:
      ValueError: if a row is longer than `max_width`, or the budget of tokens is less
        than the longest row of each feature, once a replica.
    """
    _refuse_small_budget(lengths, limits)
    tokens = int(sum(feature.mean() for feature in lengths))
    batches = -(-len(lengths[0]) // limits.rows(max(tokens, 1)))
    count = max(1, min(max_shapes, batches // batches_per_shape))
    sample = _sample(lengths)
    multiple, pairs = _choose(
        tuple(tuple(feature[sample].tolist()) for feature in lengths),
        limits,
        count,
        max_width,
    )
    source, target = _rounded(lengths, multiple, max_width)
    return _share_out(source, target, _covering(source, target, pairs), limits)


@functools.lru_cache(maxsize=16)  # The next epoch has the same lengths.
def _choose(
    lengths: tuple[tuple[int, ...], ...],
    limits: Limits,
    count: int,
    max_width: int | None,
) -> tuple[int, tuple[Pair, ...]]:
    """What the widths are multiples of, and the widths."""
    features = [np.array(feature) for feature in lengths]
    pairs, least = _best(*_rounded(features, 1, max_width), limits, count)
    source, target = _rounded(features, _MULTIPLE, max_width)
    # A budget may hold the longest rows, but not rounded up.
    if limits.rows(int(source.max() + target.max())):
        round_pairs, tokens = _best(source, target, limits, count)
        if tokens <= least * (1 + _MOST_EXTRA_TOKENS):
            return _MULTIPLE, tuple(round_pairs)
    return 1, tuple(pairs)


def _sample(lengths: Sequence[np.ndarray]) -> np.ndarray:
    """Positions of some rows, evenly spread, and of the longest of each feature."""
    step = -(-len(lengths[0]) // _SAMPLED_ROWS)
    longest = [int(feature.argmax()) for feature in lengths]
    return np.union1d(np.arange(0, len(lengths[0]), step), longest)


def _refuse_small_budget(lengths: Sequence[np.ndarray], limits: Limits) -> None:
    longest = [max(int(feature.max()), 1) for feature in lengths]
    least = sum(longest) * limits.replicas
    if limits.max_batch_tokens is None or limits.max_batch_tokens >= least:
        return
    parts = " + ".join(map(str, longest))
    raise ValueError(
        f"`train.max_batch_tokens` ({limits.max_batch_tokens}) is too few for the "
        f"longest rows: {parts} tokens on each of {limits.replicas} devices. "
        f"Allowed: {least} or more: `--set train.max_batch_tokens={least}`, or cut the "
        "texts by a lower `model.max_source_tokens`."
    )


def _rounded(
    lengths: Sequence[np.ndarray], multiple: int, max_width: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """The least widths of each row's source and target; zeros for no target."""
    source = widths.round_up(lengths[0], multiple_of=multiple, max_width=max_width)
    if len(lengths) == 1:
        return source, np.zeros_like(source)
    return source, widths.round_up(lengths[1], multiple_of=multiple)


def _best(
    source: np.ndarray, target: np.ndarray, limits: Limits, count: int
) -> tuple[list[Pair], float]:
    """The pairs with the least padding of those tried, and their padded tokens."""
    best: list[Pair] = []
    least = np.inf
    for pairs in _candidates(source, target, limits, count):
        cells = _share_out(source, target, pairs, limits)
        padded = sum(cell.padded_tokens for cell in cells)
        if padded < least:
            best, least = pairs, padded
    return best, least


def _candidates(
    source: np.ndarray, target: np.ndarray, limits: Limits, count: int
) -> Iterator[list[Pair]]:
    """For each number of groups by source, the best widths of target within them.

    A further width goes to the group that gains most by it, which is the best there
    is, as the costs are convex.
    """
    by_source = widths.segment(
        *_batch_widths(source, limits, beside=int(target.mean())), count=count
    )
    for groups in by_source if target.any() else by_source[-1:]:
        group = np.searchsorted(groups.widths, source)
        options = [
            widths.segment(
                *_batch_widths(target[group == number], limits, beside=width),
                count=count - len(groups.widths) + 1,
            )
            for number, width in enumerate(groups.widths)
        ]
        taken = [1] * len(options)
        gains = [
            (option[n - 1].cost - option[n].cost, number)
            for number, option in enumerate(options)
            for n in range(1, len(option))
        ]
        for _, number in sorted(gains, reverse=True)[: count - len(options)]:
            taken[number] += 1
        yield [
            (width, other)
            for width, option, n in zip(groups.widths, options, taken, strict=True)
            for other in option[n - 1].widths
        ]


def _batch_widths(
    lengths: np.ndarray, limits: Limits, *, beside: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """The width of each batch if rows are cut in order of length, and its rows.

    Returns:
      (widths ascending, rows that have each), of which a segmentation can be found.
    """
    found, counts = np.unique(lengths, return_counts=True)
    rows = np.zeros(len(found), np.int64)
    spare = 0  # Places in the last batch of a width, which narrower rows take.
    for number in reversed(range(len(found))):
        left = max(int(counts[number]) - spare, 0)
        spare -= int(counts[number]) - left
        size = limits.rows(int(found[number]) + beside)
        rows[number] = -(-left // size) * size
        spare += int(rows[number]) - left
    return found[rows > 0], rows[rows > 0]


def _covering(
    source: np.ndarray, target: np.ndarray, pairs: Sequence[Pair]
) -> list[Pair]:
    """The pairs, wide enough also for targets that are not in the sample."""
    found = []
    longest = 0
    for width, targets in _groups(pairs).items():
        inside = (source <= width) & (source > longest)
        targets[0] = max(targets[0], int(target[inside].max(initial=0)))
        found += [(width, other) for other in targets]
        longest = width
    return found


def _groups(pairs: Sequence[Pair]) -> dict[int, list[int]]:
    """For each width of source, ascending, those of the target, descending."""
    return {
        width: sorted((other for _, other in group), reverse=True)
        for width, group in itertools.groupby(sorted(pairs), lambda pair: pair[0])
    }


def _share_out(
    source: np.ndarray, target: np.ndarray, pairs: Sequence[Pair], limits: Limits
) -> list[Cell]:
    """Fills the widest batches first, with narrower rows where their own are too few.

    So only a batch lacks a row when no row that would fit is left.
    """
    waiting = np.ones(len(source), bool)
    groups = _groups(pairs)
    cells = []
    for width, below in itertools.pairwise([*reversed(groups), 0]):
        first_narrower = int(np.searchsorted(-source, -below))
        members = np.flatnonzero(waiting[:first_narrower])
        members = members[np.argsort(-target[members], kind="stable")]
        waiting[members] = False
        for other, next_other in itertools.pairwise([*groups[width], -1]):
            own = int(np.searchsorted(-target[members], -next_other))
            size = limits.rows(width + other)
            places = -(-own // size) * size
            rows, members = members[:places], members[places:]
            if len(rows) < places:
                fit = np.flatnonzero(waiting & (target <= other))
                fit = fit[: places - len(rows)]
                waiting[fit] = False
                rows = np.concatenate([rows, fit])
            if len(rows):
                cells.append(Cell((width, other), size, rows))
    return cells
