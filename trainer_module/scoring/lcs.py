"""Longest common subsequences of tokens, a whole column of the table at a time.

A column of the table of lengths is one integer: bit i is 0 where the length grows from
row i to row i + 1. The next column takes a few operations on it (H. Hyyrö,
"Bit-parallel LCS-length computation revisited", 2004), so that texts of thousands of
tokens, whose table has millions of cells, take milliseconds.
"""

from collections import deque
from collections.abc import Iterator, Sequence

Tokens = Sequence[str]


def length(first: Tokens, second: Tokens) -> int:
    """How many tokens the longest common subsequence has."""
    last = deque(_columns(first, second), maxlen=1)
    return len(first) - last[0].bit_count() if last else 0


def positions(reference: Tokens, other: Tokens) -> list[int]:
    """Where in `reference` a longest common subsequence lies, the last one first.

    Of several, it is the one that rouge-score takes, since the union over sentences
    depends on the choice: from the ends of both, equal tokens are taken, else the last
    token of `reference` is left, unless only leaving that of `other` keeps the length.
    """
    if set(reference).isdisjoint(other):
        return []
    columns = list(_columns(reference, other))
    found = []
    i, j = len(reference), len(other)
    while i and j:
        if reference[i - 1] == other[j - 1]:
            i, j = i - 1, j - 1
            found.append(i)
        elif columns[j - 1] >> (i - 1) & 1:
            i -= 1
        else:
            j -= 1
    return found


def _columns(rows: Tokens, others: Tokens) -> Iterator[int]:
    """The table's columns, one for each of `others`."""
    matches: dict[str, int] = {}
    for i, token in enumerate(rows):
        matches[token] = matches.get(token, 0) | 1 << i
    full = (1 << len(rows)) - 1
    column = full
    for token in others:
        same = column & matches.get(token, 0)
        column = ((column + same) | (column - same)) & full
        yield column
