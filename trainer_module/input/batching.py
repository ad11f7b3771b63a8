"""Which rows go together in a batch, and how long it is padded. Pure numpy.

Rows of like length share a batch, so that little of a batch is padding.
"""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

PADDED_LENGTHS = (8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024)
ABSENT = -1  # A row that only fills up the last batch: its weight is zero.
_BATCHES_PER_WINDOW = 64  # Sorting within a window keeps the epoch's order random.


@dataclasses.dataclass(frozen=True)
class BatchPlan:
    """One epoch of batches.

    Attributes:
      rows: int64 [batches, batch_size], row numbers, `ABSENT` where there is none.
      padded_lengths: int32 [batches, features], for each ragged feature its width.
    """

    rows: np.ndarray
    padded_lengths: np.ndarray

    def __len__(self) -> int:
        return len(self.rows)


def exact_length(length: int) -> int:
    """The width without rounding, for a device on which a new shape costs nothing."""
    return max(length, 1)


def padded_length(length: int) -> int:
    """The smallest of a few widths that holds `length` tokens.

    XLA compiles each shape anew, so accelerators get a few only.
    """
    for width in PADDED_LENGTHS:
        if length <= width:
            return width
    step = PADDED_LENGTHS[-1]
    return -(-length // step) * step


def plan_training(
    lengths: Sequence[np.ndarray],
    *,
    batch_size: int,
    seed: int,
    epoch: int,
    width_of: Callable[[int], int] = padded_length,
) -> BatchPlan:
    """A random order that depends on `seed` and `epoch` alone.

    Args:
      lengths: for each ragged feature an int array [rows]; the first one decides
        which rows go together.
      batch_size: rows of a batch, over all replicas.
      width_of: from a batch's longest row, in tokens, to its width.
    """
    random = np.random.default_rng([seed, epoch])
    order = random.permutation(len(lengths[0]))
    window = batch_size * _BATCHES_PER_WINDOW
    parts = [order[i : i + window] for i in range(0, len(order), window)]
    order = np.concatenate([p[np.argsort(lengths[0][p], kind="stable")] for p in parts])
    plan = _cut(order, lengths, batch_size, width_of)
    mixed = random.permutation(len(plan))
    return BatchPlan(plan.rows[mixed], plan.padded_lengths[mixed])


def plan_validation(
    lengths: Sequence[np.ndarray],
    *,
    batch_size: int,
    width_of: Callable[[int], int] = padded_length,
) -> BatchPlan:
    """Every row once, by length: the order of a sum does not matter."""
    order = np.argsort(lengths[0], kind="stable")
    return _cut(order, lengths, batch_size, width_of)


def _cut(
    order: np.ndarray,
    lengths: Sequence[np.ndarray],
    batch_size: int,
    width_of: Callable[[int], int],
) -> BatchPlan:
    missing = -len(order) % batch_size
    filled = np.concatenate([order, np.full(missing, ABSENT, order.dtype)])
    rows = filled.reshape(-1, batch_size)
    widths = [
        [width_of(int(feature[batch[batch != ABSENT]].max())) for feature in lengths]
        for batch in rows
    ]
    return BatchPlan(rows, np.array(widths, np.int32).reshape(len(rows), -1))
