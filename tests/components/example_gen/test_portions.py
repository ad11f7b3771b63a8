"""components.example_gen.portions: files up to a size, samples in one piece."""

import pytest

from components.example_gen import portions
from components.example_gen.portions import Portion


@pytest.fixture
def plan(write, settings, monkeypatch):
    """Plans files of 10, 20, 30, ... bytes, with at most 50 bytes in a portion."""
    monkeypatch.setattr(portions, "MAX_BYTES", 50)

    def plan(train, held=0, **changes):
        def paths(count, name):
            return [write("x" * 10 * (n + 1), f"{name}{n}.csv") for n in range(count)]

        held_out = paths(held, "e") or None
        found = portions.plan(settings(paths(train, "t"), eval=held_out, **changes))
        return [
            (tuple(path.rsplit("/", 1)[1][:2] for path in p.paths), *rest(p))
            for p in found
        ]

    def rest(portion: Portion):
        return portion.split, portion.number, portion.count

    return plan


def test_files_are_read_together_up_to_the_size_and_in_order(plan):
    assert plan(4) == [
        (("t0", "t1"), None, 0, 3),
        (("t2",), None, 1, 3),
        (("t3",), None, 2, 3),
    ]


def test_file_beyond_the_size_is_a_portion_of_its_own(plan, monkeypatch):
    monkeypatch.setattr(portions, "MAX_BYTES", 5)
    assert [paths for paths, *_ in plan(2)] == [("t0",), ("t1",)]


def test_splits_with_files_of_their_own_are_numbered_each(plan):
    assert plan(2, 3) == [
        (("t0", "t1"), "train", 0, 1),
        (("e0", "e1"), "eval", 0, 2),
        (("e2",), "eval", 1, 2),
    ]


@pytest.mark.parametrize("key", ["max_train_examples", "max_eval_examples"])
def test_sample_is_of_all_files(plan, key):
    assert plan(4, **{key: 3}) == [(("t0", "t1", "t2", "t3"), None, 0, 1)]


def test_only_the_split_that_is_limited_is_read_in_one_piece(plan):
    counts = [count for *_, count in plan(3, 3, max_eval_examples=1)]
    assert counts == [2, 2, 1]
