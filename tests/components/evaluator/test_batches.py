"""Batches follow from the texts alone."""

import random

from components.evaluator import batches


def test_every_row_comes_once_the_longest_first():
    texts = ["x" * n for n in random.Random(1).choices(range(300), k=100)]
    found = batches.of_like_length(texts)
    assert [len(batch) for batch in found] == [32, 32, 32, 4]
    rows = [row for batch in found for row in batch]
    assert sorted(rows) == list(range(100))
    lengths = [len(texts[row]) for row in rows]
    assert lengths == sorted(lengths, reverse=True)


def test_rows_of_one_length_stay_in_their_order():
    assert batches.of_like_length(["b", "a", "cc"]) == [[2, 0, 1]]


def test_no_texts_are_no_batches():
    assert batches.of_like_length([]) == []
