"""Common subsequences by columns, against the plain table."""

import random

import pytest

from trainer_module.scoring import lcs


def table_of(rows, others):
    """Cell [i][j]: the length for the first i and the first j tokens."""
    table = [[0] * (len(others) + 1) for _ in range(len(rows) + 1)]
    for i, row in enumerate(rows, start=1):
        for j, other in enumerate(others, start=1):
            if row == other:
                table[i][j] = table[i - 1][j - 1] + 1
            else:
                table[i][j] = max(table[i - 1][j], table[i][j - 1])
    return table


def by_the_rule(rows, others):
    """Equal tokens are taken; a row is left unless only leaving a column keeps it."""
    table, found = table_of(rows, others), []
    i, j = len(rows), len(others)
    while i and j:
        if rows[i - 1] == others[j - 1]:
            i, j = i - 1, j - 1
            found.append(i)
        elif table[i][j - 1] > table[i - 1][j]:
            j -= 1
        else:
            i -= 1
    return found


@pytest.mark.parametrize(
    "first, second, length",
    [
        ("abcbdab", "bdcaba", 4),
        ("abc", "abc", 3),
        ("abc", "cba", 1),
        ("abc", "xyz", 0),
        ("", "abc", 0),
        ("abc", "", 0),
        ("", "", 0),
    ],
)
def test_length_of_the_longest_common_subsequence(first, second, length):
    assert lcs.length(first, second) == length
    assert lcs.length(second, first) == length


@pytest.mark.parametrize("alphabet", ["ab", "abcdef"])
def test_random_tokens_give_what_the_table_gives(alphabet):
    dice = random.Random(3)
    for _ in range(300):
        rows = dice.choices(alphabet, k=dice.randrange(0, 90))
        others = dice.choices(alphabet, k=dice.randrange(0, 90))
        assert lcs.length(rows, others) == table_of(rows, others)[-1][-1]
        assert lcs.positions(rows, others) == by_the_rule(rows, others)


def test_positions_are_those_in_the_first():
    assert lcs.positions("xaybz", "qab") == [3, 1]
    assert lcs.positions("abc", "xyz") == []
    assert lcs.positions("", "abc") == []
