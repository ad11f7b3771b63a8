"""Which rows are asked together. Pure.

The batches follow from the texts alone, so that neither the memory nor an answer
depends on how many workers there are or how Beam happens to bundle.
"""

from collections.abc import Sequence

ROWS_PER_BATCH = 32


def of_like_length(texts: Sequence[str]) -> list[list[int]]:
    """Numbers of rows, `ROWS_PER_BATCH` at most, so that little of a batch is padding.

    The longest come first: what does not fit in memory fails at once.
    """
    order = sorted(range(len(texts)), key=lambda row: (-len(texts[row]), row))
    starts = range(0, len(order), ROWS_PER_BATCH)
    return [order[start : start + ROWS_PER_BATCH] for start in starts]
