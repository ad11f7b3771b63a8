"""Which rows go together in a batch, and how long it is padded. Pure numpy.

Rows of like length share a batch, so that little of a batch is padding, and batches
have few shapes, so that XLA compiles few programs; `shapes` chooses them. Where nothing
is compiled, there may be more. A batch's companions are drawn anew each epoch from all
rows of its shape: of those of a row, about shapes / batches stay the same. More shapes
mean less padding and more of that, so there is at most one for `_BATCHES_PER_SHAPE`
batches.
"""

import dataclasses
import functools
from collections.abc import Sequence

import numpy as np

from trainer_module.input import shapes

ABSENT = -1  # A row that only fills up a batch: its weight is zero.
# The most shapes, by the number of ragged features: where XLA makes a program for each,
# and where more of them cost seconds of planning only. docs/benchmarks.md has figures.
MAX_SHAPES = {1: 16, 2: 32}
MAX_SHAPES_UNCOMPILED = {1: 48, 2: 128}
_BATCHES_PER_SHAPE = 2


@dataclasses.dataclass(frozen=True)
class BatchPlan:
    """One epoch of batches, or what is left of one.

    Attributes:
      rows: int64 [places], row numbers, batch after batch; `ABSENT` where there is
        none. Those of a batch that exist come first, and there is at least one.
      offsets: int64 [batches + 1], where each batch starts in `rows`, and the end.
      widths: int32 [batches, features], of each ragged feature.
      real_tokens: int64 [batches], of all ragged features, without padding.
    """

    rows: np.ndarray
    offsets: np.ndarray
    widths: np.ndarray
    real_tokens: np.ndarray

    @classmethod
    def of(
        cls,
        batches: Sequence[Sequence[int]] | np.ndarray,
        widths: Sequence[Sequence[int]] | np.ndarray,
        lengths: Sequence[np.ndarray],
    ) -> "BatchPlan":
        """The plan of batches that are written out.

        Args:
          batches: the row numbers of each.
          widths: of each batch, for each ragged feature.
          lengths: for each ragged feature an int array [rows].
        """
        sizes = np.array([len(batch) for batch in batches], np.int64)
        rows = np.concatenate([np.asarray(batch, np.int64) for batch in batches])
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        real = _real_tokens(rows, offsets, lengths)
        return cls(rows, offsets, np.asarray(widths, np.int32), real)

    def __len__(self) -> int:
        return len(self.widths)

    def batch(self, number: int) -> np.ndarray:
        """int64 [rows of the batch]."""
        return self.rows[self.offsets[number] : self.offsets[number + 1]]

    def from_batch(self, number: int) -> "BatchPlan":
        """The rest of the epoch, once `number` batches are done.

        Raises:
          ValueError: if the plan has fewer batches.
        """
        if not 0 <= number <= len(self):
            raise ValueError(
                f"`number` must be between 0 and the plan's {len(self)} batches. "
                f"Received: {number}."
            )
        start = self.offsets[number]
        return BatchPlan(
            self.rows[start:],
            self.offsets[number:] - start,
            self.widths[number:],
            self.real_tokens[number:],
        )

    @functools.cached_property
    def examples(self) -> np.ndarray:
        """int64 [batches], rows that exist."""
        there = np.concatenate([[0], np.cumsum(self.rows != ABSENT)])
        return np.diff(there[self.offsets])

    @functools.cached_property
    def padded_tokens(self) -> np.ndarray:
        """int64 [batches], of all ragged features, with padding and absent rows."""
        return np.diff(self.offsets) * self.widths.sum(axis=1, dtype=np.int64)

    @functools.cached_property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """The distinct (rows, width of each ragged feature), the smallest first."""
        each = np.column_stack([np.diff(self.offsets), self.widths])
        return tuple(tuple(map(int, shape)) for shape in np.unique(each, axis=0))

    @property
    def padding_share(self) -> float:
        """The share of all tokens that is padding; 0 if there is no batch."""
        padded = int(self.padded_tokens.sum())
        return 1 - int(self.real_tokens.sum()) / padded if padded else 0.0


def plan_training(
    lengths: Sequence[np.ndarray],
    *,
    batch_size: int,
    seed: int,
    epoch: int,
    max_batch_tokens: int | None = None,
    replicas: int = 1,
    max_width: int | None = None,
    max_shapes: int | None = None,
) -> BatchPlan:
    """A random order that depends on `seed` and `epoch` alone.

    Every epoch has the same number of batches of each shape.

    Args:
      lengths: for each ragged feature, one or two, an int array [rows] of tokens.
      batch_size: the most rows of a batch, over all replicas.
      max_batch_tokens: the most padded tokens of a batch, over all replicas.
      replicas: the rows of a batch are a multiple of it.
      max_width: the most tokens of the first feature that the model reads.
      max_shapes: the most shapes; None for `MAX_SHAPES`.

    Raises:
      ValueError: if there is no row, if one is longer than `max_width`, or if
        `max_batch_tokens` does not hold the longest rows.
    """
    random = np.random.default_rng([seed, epoch])
    # Rows of the same lengths change places, and so shapes where one is at the edge.
    order = random.permutation(len(lengths[0]))
    order, cells = _cells(
        lengths,
        order,
        shapes.Limits(batch_size, max_batch_tokens, replicas),
        max_shapes=max_shapes,
        batches_per_shape=_BATCHES_PER_SHAPE,
        max_width=max_width,
    )
    blocks = [_block(random.permutation(order[c.rows]), c.batch_rows) for c in cells]
    turn = random.permutation(sum(map(len, blocks)))
    return _plan(lengths, cells, blocks, turn)


def plan_validation(
    lengths: Sequence[np.ndarray],
    *,
    only: np.ndarray | None = None,
    batch_size: int,
    max_batch_tokens: int | None = None,
    replicas: int = 1,
    max_width: int | None = None,
    max_shapes: int | None = None,
) -> BatchPlan:
    """Every row once, the widest batches first.

    Args:
      only: int [rows], the numbers of the rows that are wanted; None for all.
      others: as of `plan_training`.
    """
    numbers = np.arange(len(lengths[0])) if only is None else only
    wanted = [feature[numbers] for feature in lengths]
    order, cells = _cells(
        wanted,
        np.arange(len(numbers)),
        shapes.Limits(batch_size, max_batch_tokens, replicas),
        max_shapes=max_shapes,
        batches_per_shape=1,
        max_width=max_width,
    )
    blocks = [_block(order[c.rows], c.batch_rows) for c in cells]
    plan = _plan(wanted, cells, blocks, np.arange(sum(map(len, blocks))))
    rows = np.where(plan.rows == ABSENT, ABSENT, numbers[plan.rows])
    return dataclasses.replace(plan, rows=rows)


def spread(rows: int, most: int) -> np.ndarray:
    """At most `most` row numbers, evenly over all `rows`: int64, ascending."""
    if rows <= most:
        return np.arange(rows)
    return np.linspace(0, rows - 1, most).astype(np.int64)


def _cells(
    lengths: Sequence[np.ndarray],
    order: np.ndarray,
    limits: shapes.Limits,
    *,
    max_shapes: int | None,
    batches_per_shape: int,
    max_width: int | None,
) -> tuple[np.ndarray, list[shapes.Cell]]:
    """The rows, sorted by their lengths, and the cells of that order."""
    if not len(order):
        raise ValueError("There is no row to make a batch of.")
    descending = np.lexsort([-feature[order] for feature in reversed(lengths)])
    order = order[descending]
    cells = shapes.lay_out(
        [feature[order] for feature in lengths],
        limits,
        max_shapes=max_shapes or MAX_SHAPES[len(lengths)],
        batches_per_shape=batches_per_shape,
        max_width=max_width,
    )
    return order, cells


def _block(rows: np.ndarray, batch_rows: int) -> np.ndarray:
    """int64 [batches, batch_rows]."""
    missing = np.full(-len(rows) % batch_rows, ABSENT, np.int64)
    return np.concatenate([rows, missing]).reshape(-1, batch_rows)


def _plan(
    lengths: Sequence[np.ndarray],
    cells: Sequence[shapes.Cell],
    blocks: Sequence[np.ndarray],
    turn: np.ndarray,
) -> BatchPlan:
    """The batches of all blocks, in the order that `turn` gives."""
    counts = [len(block) for block in blocks]
    sizes = np.repeat([block.shape[1] for block in blocks], counts)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])[turn]
    offsets = np.concatenate([[0], np.cumsum(sizes[turn])])
    inside = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes[turn])
    rows = np.concatenate([b.ravel() for b in blocks])
    rows = rows[np.repeat(starts, sizes[turn]) + inside]
    widths = np.array([c.widths[: len(lengths)] for c in cells], np.int32)
    real = _real_tokens(rows, offsets, lengths)
    return BatchPlan(rows, offsets, np.repeat(widths, counts, axis=0)[turn], real)


def _real_tokens(
    rows: np.ndarray, offsets: np.ndarray, lengths: Sequence[np.ndarray]
) -> np.ndarray:
    """int64 [batches]."""
    each = np.sum(lengths, axis=0, dtype=np.int64)
    return np.add.reduceat(np.where(rows == ABSENT, 0, each[rows]), offsets[:-1])
