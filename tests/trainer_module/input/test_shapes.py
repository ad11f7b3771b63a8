"""Shapes of batches, and the rows that they get."""

import numpy as np
import pytest

from trainer_module.input import shapes
from trainer_module.input.shapes import Limits


def found(cells):
    return [(cell.widths, cell.batch_rows, cell.rows.tolist()) for cell in cells]


@pytest.mark.parametrize(
    "limits, tokens, rows",
    [
        (Limits(32), 1000, 32),
        (Limits(32, replicas=3), 1000, 30),
        (Limits(2, replicas=4), 1000, 4),
        (Limits(32, 640), 10, 32),  # No more than batch_size.
        (Limits(32, 640), 20, 32),
        (Limits(32, 640), 21, 24),  # 30 would fit: a multiple of 8.
        (Limits(32, 640), 80, 8),
        (Limits(32, 640), 81, 7),
        (Limits(32, 640), 640, 1),
        (Limits(32, 640), 641, 0),
        (Limits(32, 640, replicas=2), 21, 16),  # 15 would fit on each: 8.
        (Limits(32, 640, replicas=2), 320, 2),
        (Limits(32, 640, replicas=2), 321, 0),
        (Limits(10, 640), 20, 10),  # Rows that are asked for stay as they are.
    ],
)
def test_rows_of_a_batch(limits, tokens, rows):
    assert limits.rows(tokens) == rows


def test_wide_batch_is_filled_with_the_longest_of_the_narrower_rows():
    lengths = np.array([40, 39, 38, 5, 5, 4, 4, 3, 3])
    cells = shapes.lay_out([lengths], Limits(4), max_shapes=2)
    assert found(cells) == [((40, 0), 4, [0, 1, 2, 3]), ((5, 0), 4, [4, 5, 6, 7, 8])]
    assert [cell.batches for cell in cells] == [1, 2]
    assert [cell.padded_tokens for cell in cells] == [160, 40]


def test_targets_are_narrow_within_a_group_of_sources():
    source = np.array([40, 40, 40, 40, 10, 10, 10, 10])
    target = np.array([9, 2, 9, 2, 3, 1, 3, 1])
    cells = shapes.lay_out([source, target], Limits(2), max_shapes=4)
    assert found(cells) == [
        ((40, 9), 2, [0, 2]),
        ((40, 2), 2, [1, 3]),
        ((10, 3), 2, [4, 6]),
        ((10, 1), 2, [5, 7]),
    ]


def test_further_shape_goes_where_it_saves_most():
    source = np.array([40, 40, 40, 40, 10, 10, 10, 10])
    target = np.array([9, 2, 9, 2, 3, 2, 3, 2])
    cells = shapes.lay_out([source, target], Limits(2), max_shapes=3)
    assert [cell.widths for cell in cells] == [(40, 9), (40, 2), (10, 3)]


def test_borrowed_row_fits_in_both_features():
    source = np.array([40, 10, 10, 10])
    target = np.array([5, 30, 5, 30])
    first, *_ = shapes.lay_out([source, target], Limits(2), max_shapes=3)
    assert (first.widths, first.rows.tolist()) == ((40, 5), [0, 2])


def test_widths_are_multiples_of_8_where_that_costs_little():
    near = np.array([504] * 8 + [249] * 8 + [199] * 8)
    far = np.array([497] * 8 + [9] * 64)
    for lengths, wanted in ((near, [504, 256, 200]), (far, [497, 9])):
        cells = shapes.lay_out([lengths], Limits(8), max_shapes=3)
        assert [cell.widths[0] for cell in cells] == wanted


def test_there_are_no_more_shapes_than_batches_allow():
    lengths = np.arange(80, 0, -1)
    for most, batches_per_shape, wanted in ((3, 1, 3), (99, 2, 5), (99, 20, 1)):
        cells = shapes.lay_out(
            [lengths],
            Limits(8),
            max_shapes=most,
            batches_per_shape=batches_per_shape,
        )
        assert len(cells) == wanted


def test_rows_beyond_the_sample_are_held_too():
    random = np.random.default_rng(0)
    source = np.sort(random.integers(1, 300, 20000))[::-1]
    target = random.integers(1, 60, 20000)
    target[[1001, 9001, 19999]] = 500  # Three of 20,000, which no sample need have.
    cells = shapes.lay_out([source, target], Limits(16), max_shapes=12)
    rows = np.concatenate([cell.rows for cell in cells])
    assert np.array_equal(np.sort(rows), np.arange(20000))
    for cell in cells:
        assert source[cell.rows].max() <= cell.widths[0]
        assert target[cell.rows].max() <= cell.widths[1]


@pytest.mark.parametrize(
    "lengths, replicas, least",
    [([[90, 20]], 1, 90), ([[90, 20], [7, 30]], 1, 120), ([[90, 20], [7, 30]], 4, 480)],
)
def test_budget_below_the_longest_rows_is_refused_with_the_smallest_that_works(
    lengths, replicas, least
):
    lengths = [np.array(feature) for feature in lengths]
    with pytest.raises(
        ValueError,
        match=rf"max_batch_tokens` \({least - 1}\).*{replicas} devices.*"
        rf"`--set train.max_batch_tokens={least}`",
    ):
        shapes.lay_out(lengths, Limits(8, least - 1, replicas), max_shapes=4)
    cells = shapes.lay_out(lengths, Limits(8, least, replicas), max_shapes=4)
    assert sorted(np.concatenate([cell.rows for cell in cells])) == [0, 1]
    assert all(cell.batch_rows * sum(cell.widths) <= least for cell in cells)
