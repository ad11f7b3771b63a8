"""Sums over rows, and what is computed from them."""

import numpy as np
import pytest

from components.evaluator.scores.sheet import Metric, Sheet, divided, mean

LENGTH = Metric("length", "neither", "length", mean)
SHEET = Sheet.of({"one": np.ones((3, 2)), "length": np.array([[1.0], [2.0], [6.0]])})


def test_blocks_stand_side_by_side():
    assert SHEET.rows == 3
    assert SHEET.blocks == {"one": slice(0, 2), "length": slice(2, 3)}
    np.testing.assert_array_equal(SHEET.lines.toarray()[2], [1, 1, 6])


def test_sums_count_each_row_as_often_as_told():
    sums = SHEET.sums(np.array([[1, 1, 1], [0, 3, 0]]))
    np.testing.assert_array_equal(sums, [[3, 3, 9], [3, 3, 6]])
    values = SHEET.value(LENGTH, sums, np.array([3, 3]))
    np.testing.assert_array_equal(values, [3, 2])


def test_some_rows_are_a_sheet_too():
    for chosen in (np.array([True, False, True]), np.array([0, 2])):
        some = SHEET.only(chosen)
        assert some.rows == 2
        np.testing.assert_array_equal(some.sums(np.ones(2)), [2, 2, 7])


def test_nothing_divided_by_nothing_is_not_a_number():
    np.testing.assert_array_equal(
        divided(np.array([0.0, 4.0]), np.array([0, 2])), [np.nan, 2]
    )
    assert np.isnan(SHEET.value(LENGTH, np.zeros(3), np.array(0)))


def test_metric_of_a_block_that_is_not_there_is_refused():
    other = Metric("other", "high", "other", mean)
    with pytest.raises(KeyError, match="other"):
        SHEET.value(other, np.zeros(3), np.array(1))
