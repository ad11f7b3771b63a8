"""The widths with the least padding, against every choice there is."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainer_module.input import widths

LENGTHS = st.lists(st.integers(0, 40), min_size=1, max_size=30)


def padded(lengths, chosen) -> int:
    """Tokens if each row is padded to the smallest width that holds it."""
    return sum(min(w for w in chosen if w >= length) for length in lengths)


def test_widths_are_where_the_lengths_are():
    lengths = np.array([3, 3, 4, 20, 21, 21, 90])
    assert widths.choose(lengths, count=1) == (90,)
    assert widths.choose(lengths, count=2) == (21, 90)
    assert widths.choose(lengths, count=3) == (4, 21, 90)


def test_more_rows_of_a_length_pull_a_width_to_it():
    few, many = [10] * 2 + [12] * 3 + [20], [10] * 13 + [12] * 3 + [20]
    assert widths.choose(np.array(few), count=2) == (12, 20)
    assert widths.choose(np.array(many), count=2) == (10, 20)


def test_no_more_widths_are_given_than_there_are_lengths():
    assert widths.choose(np.array([5, 9, 5]), count=8) == (5, 9)


@given(LENGTHS, st.integers(1, 4))
def test_no_other_widths_pad_less(lengths, count):
    chosen = widths.choose(np.array(lengths), count=count)
    assert list(chosen) == sorted(set(chosen)) and len(chosen) <= count
    real = [max(length, 1) for length in lengths]
    assert chosen[-1] == max(real)
    distinct = sorted(set(real))
    least = min(
        padded(real, [*others, distinct[-1]])
        for others in itertools.combinations(distinct[:-1], len(chosen) - 1)
    )
    assert padded(real, chosen) == least


@given(LENGTHS, st.integers(1, 6), st.randoms())
def test_widths_do_not_depend_on_the_order_of_rows(lengths, count, random):
    shuffled = random.sample(lengths, len(lengths))
    assert widths.choose(np.array(lengths), count=count) == widths.choose(
        np.array(shuffled), count=count
    )


@given(LENGTHS, st.integers(1, 6))
def test_each_further_width_gains_no_more_than_the_one_before(lengths, count):
    found = widths.segment(*np.unique(lengths, return_counts=True), count=count)
    gains = -np.diff([one.cost for one in found])
    assert (gains >= 0).all() and (np.diff(gains) <= 0).all()


@pytest.mark.parametrize(
    "max_width, last", [(None, 104), (200, 104), (104, 104), (100, 100), (97, 97)]
)
def test_widths_are_multiples_but_never_beyond_what_the_model_reads(max_width, last):
    chosen = widths.choose(
        np.array([0, 9, 30, 97]), count=4, multiple_of=8, max_width=max_width
    )
    assert chosen == (8, 16, 32, last)


def test_row_that_the_model_cannot_read_is_refused_with_the_way_out():
    with pytest.raises(ValueError, match=r"65 tokens.*64.*max_source_tokens=64`"):
        widths.choose(np.array([65, 3]), count=2, max_width=64)


def test_thousands_of_lengths_still_give_widths_that_hold_every_row():
    lengths = np.arange(1, 5001)
    chosen = widths.choose(lengths, count=2)
    assert chosen[-1] == 5000
    assert chosen[0] == pytest.approx(2500, abs=5)
