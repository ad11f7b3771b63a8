"""Batch plans, written out."""

import numpy as np
import pytest

from trainer_module.input import batching
from trainer_module.input.batching import ABSENT


def rows_of(plan: batching.BatchPlan) -> list[int]:
    return [int(row) for row in plan.rows.ravel() if row != ABSENT]


@pytest.mark.parametrize(
    "length, width",
    [
        (0, 8),
        (1, 8),
        (8, 8),
        (9, 16),
        (24, 24),
        (33, 48),
        (128, 128),
        (129, 192),
        (512, 512),
        (513, 1024),
        (1024, 1024),
        (1025, 2048),
        (4096, 4096),
    ],
)
def test_padded_length(length, width):
    assert batching.padded_length(length) == width


def test_validation_plan_sorts_by_length_and_fills_the_last_batch():
    plan = batching.plan_validation([np.array([9, 3, 40, 3, 17])], batch_size=2)
    assert plan.rows.tolist() == [[1, 3], [0, 4], [2, ABSENT]]
    assert plan.padded_lengths.tolist() == [[8], [24], [48]]
    assert len(plan) == 3


@pytest.mark.parametrize("length, width", [(0, 1), (1, 1), (9, 9), (1025, 1025)])
def test_exact_length(length, width):
    assert batching.exact_length(length) == width


def test_plans_take_the_widths_they_are_told():
    lengths = [np.array([9, 3, 40, 3, 17])]
    exact = batching.exact_length
    plan = batching.plan_validation(lengths, batch_size=2, width_of=exact)
    assert plan.padded_lengths.tolist() == [[3], [17], [40]]
    plan = batching.plan_training(
        lengths, batch_size=2, seed=0, epoch=0, width_of=exact
    )
    assert sorted(plan.padded_lengths.ravel()) == [3, 17, 40]


def test_each_feature_is_as_wide_as_its_own_longest_row():
    sources, targets = np.array([3, 9, 10]), np.array([30, 2, 1])
    plan = batching.plan_validation([sources, targets], batch_size=2)
    assert plan.rows.tolist() == [[0, 1], [2, ABSENT]]
    assert plan.padded_lengths.tolist() == [[16, 32], [16, 8]]


def test_training_plan_is_the_one_of_its_seed_and_epoch():
    lengths = [np.array([5, 50, 7, 51, 6])]
    plan = batching.plan_training(lengths, batch_size=2, seed=1, epoch=0)
    assert plan.rows.tolist() == PLAN_ROWS
    assert plan.padded_lengths.tolist() == PLAN_WIDTHS


PLAN_ROWS = [[2, 1], [0, 4], [3, ABSENT]]
PLAN_WIDTHS = [[64], [8], [64]]


@pytest.mark.parametrize("rows", [1, 3, 4, 5, 9, 4 * 64 * 2 + 1])
def test_every_row_comes_exactly_once_and_one_batch_at_most_is_incomplete(rows):
    lengths = [np.random.default_rng(0).integers(1, 60, rows)]
    for plan in (
        batching.plan_training(lengths, batch_size=4, seed=3, epoch=2),
        batching.plan_validation(lengths, batch_size=4),
    ):
        assert sorted(rows_of(plan)) == list(range(rows))
        absent = (plan.rows == ABSENT).sum(axis=1)
        assert sorted(absent)[:-1] == [0] * (len(plan) - 1)
        # Real rows come first, so the first of a batch is always one.
        assert all((np.diff(row == ABSENT) >= 0).all() for row in plan.rows.astype(int))
        assert (plan.rows[:, 0] != ABSENT).all()


def test_absent_rows_of_a_validation_plan_are_in_its_last_batch():
    plan = batching.plan_validation([np.arange(9)], batch_size=4)
    assert (plan.rows[:-1] != ABSENT).all()
    assert plan.rows[-1].tolist() == [8, ABSENT, ABSENT, ABSENT]


def test_same_seed_and_epoch_give_the_same_plan_and_others_do_not():
    lengths = [np.random.default_rng(0).integers(1, 60, 100)]

    def plan(seed, epoch):
        made = batching.plan_training(lengths, batch_size=8, seed=seed, epoch=epoch)
        return made.rows.tolist()

    assert plan(7, 0) == plan(7, 0)
    assert plan(7, 0) != plan(7, 1)
    assert plan(7, 0) != plan(8, 0)


def test_training_batches_hold_rows_of_like_length():
    lengths = np.repeat([4, 100], 400)
    plan = batching.plan_training([lengths], batch_size=10, seed=0, epoch=0)
    mixed = [row for row in plan.rows if len({lengths[n] for n in row}) > 1]
    assert len(mixed) <= 2  # One where the lengths meet, in each window of 64 batches.


def test_training_plan_does_not_go_from_short_to_long():
    lengths = [np.arange(1, 500)]
    plan = batching.plan_training(lengths, batch_size=10, seed=0, epoch=0)
    widths = plan.padded_lengths[:, 0].tolist()
    assert widths != sorted(widths)
