"""Batch plans: each row once, in few shapes, within the limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainer_module.input import batching
from trainer_module.input.batching import ABSENT, BatchPlan

# A plan of three batches of rows that have 5, 3, 9, 2 and 7 tokens, and as many labels.
LENGTHS = [np.array([5, 3, 9, 2, 7]), np.array([1, 2, 3, 4, 5])]
WRITTEN = BatchPlan.of(
    [[4, 2], [0, ABSENT], [1, 3, ABSENT, ABSENT]], [[9, 5], [8, 1], [4, 4]], LENGTHS
)


def test_written_plan_counts_what_is_in_it():
    assert len(WRITTEN) == 3
    assert [WRITTEN.batch(n).tolist() for n in range(3)] == [
        [4, 2],
        [0, ABSENT],
        [1, 3, ABSENT, ABSENT],
    ]
    assert WRITTEN.examples.tolist() == [2, 1, 2]
    assert WRITTEN.real_tokens.tolist() == [7 + 9 + 5 + 3, 5 + 1, 3 + 2 + 2 + 4]
    assert WRITTEN.padded_tokens.tolist() == [2 * 14, 2 * 9, 4 * 8]
    assert WRITTEN.padding_share == pytest.approx(1 - 41 / 78)
    assert WRITTEN.shapes == ((2, 8, 1), (2, 9, 5), (4, 4, 4))


def same(one: BatchPlan, other: BatchPlan) -> bool:
    names = ("rows", "offsets", "widths", "real_tokens", "examples", "padded_tokens")
    return all(np.array_equal(getattr(one, n), getattr(other, n)) for n in names)


def test_rest_of_a_plan_is_its_last_batches():
    rest = WRITTEN.from_batch(1)
    tail = [WRITTEN.batch(n) for n in (1, 2)]
    assert same(rest, BatchPlan.of(tail, WRITTEN.widths[1:], LENGTHS))
    assert same(WRITTEN.from_batch(0), WRITTEN)
    assert same(WRITTEN.from_batch(1).from_batch(1), WRITTEN.from_batch(2))


def test_nothing_is_left_after_the_last_batch():
    done = WRITTEN.from_batch(3)
    assert len(done) == len(done.rows) == done.padding_share == 0
    assert done.shapes == ()
    assert done.examples.tolist() == done.padded_tokens.tolist() == []


@pytest.mark.parametrize("number", [-1, 4])
def test_batch_that_the_plan_lacks_is_refused(number):
    with pytest.raises(ValueError, match=f"0 and the plan's 3 batches.*{number}"):
        WRITTEN.from_batch(number)


def test_validation_plan_goes_from_long_to_short_and_fills_the_last_batch():
    plan = batching.plan_validation([np.array([9, 3, 40, 3, 17])], batch_size=2)
    assert plan.rows.tolist() == [2, 4, 0, 1, 3, ABSENT]
    assert plan.widths.tolist() == [[40], [9], [3]]


def test_training_plan_is_the_one_of_its_seed_and_epoch():
    lengths = [np.array([5, 50, 7, 51, 6, 5, 49, 6])]
    plan = batching.plan_training(lengths, batch_size=2, seed=1, epoch=0)
    assert plan.offsets.tolist() == [0, 2, 4, 6, 8]
    assert plan.rows.tolist() == PLAN_ROWS
    assert plan.widths.ravel().tolist() == PLAN_WIDTHS


PLAN_ROWS = [1, 3, 6, 2, 5, 0, 7, 4]
PLAN_WIDTHS = [51, 51, 6, 6]


@st.composite
def jobs(draw):
    """Lengths of one feature or two, and limits that they keep to."""
    features, rows = draw(st.integers(1, 2)), draw(st.integers(1, 120))
    longest = draw(st.sampled_from([1, 12, 90]))
    random = np.random.default_rng(draw(st.integers(0, 999)))
    lengths = [random.integers(1, longest + 1, rows) for _ in range(features)]
    replicas = draw(st.integers(1, 3))
    least = replicas * sum(int(feature.max()) for feature in lengths)
    budget = draw(st.one_of(st.none(), st.integers(least, 8 * least)))
    limits = {
        "batch_size": draw(st.integers(1, 20)),
        "replicas": replicas,
        "max_batch_tokens": budget,
        "max_width": draw(st.sampled_from([None, int(lengths[0].max())])),
        "max_shapes": draw(st.sampled_from([None, 1, 5])),
    }
    return lengths, limits


def plans_of(lengths, limits):
    yield batching.plan_training(lengths, seed=3, epoch=2, **limits)
    yield batching.plan_validation(lengths, **limits)


@given(jobs())
def test_every_row_comes_once_and_is_as_wide_as_its_batch_at_most(job):
    lengths, limits = job
    for plan in plans_of(lengths, limits):
        rows = plan.rows[plan.rows != ABSENT]
        assert np.array_equal(np.sort(rows), np.arange(len(lengths[0])))
        batch_of = np.repeat(np.arange(len(plan)), np.diff(plan.offsets))
        batch_of = batch_of[plan.rows != ABSENT]
        for feature, width in zip(lengths, plan.widths.T, strict=True):
            assert (feature[rows] <= width[batch_of]).all()


@given(jobs())
def test_batches_keep_their_limits_and_are_cut_evenly_for_replicas(job):
    lengths, limits = job
    replicas, budget = limits["replicas"], limits["max_batch_tokens"]
    for plan in plans_of(lengths, limits):
        sizes = np.diff(plan.offsets)
        assert sizes.max() <= max(limits["batch_size"], replicas)
        assert not (sizes % replicas).any()
        assert budget is None or plan.padded_tokens.max() <= budget
        if limits["max_width"]:
            assert plan.widths[:, 0].max() <= limits["max_width"]


@given(jobs())
def test_shapes_are_few_and_the_same_each_epoch(job):
    lengths, limits = job
    first, second = (
        batching.plan_training(lengths, seed=3, epoch=epoch, **limits)
        for epoch in (0, 1)
    )
    assert len(first) == len(second) and first.shapes == second.shapes
    most = limits["max_shapes"] or batching.MAX_SHAPES[len(lengths)]
    assert len(first.shapes) <= max(1, min(most, len(first) // 2 + 1))
    assert len(batching.plan_validation(lengths, **limits).shapes) <= most


@given(jobs())
def test_rows_that_exist_come_first_and_each_batch_has_one(job):
    for plan in plans_of(*job):
        for number in range(len(plan)):
            absent = plan.batch(number) == ABSENT
            assert not absent[0] and (np.diff(absent.astype(int)) >= 0).all()


@given(jobs())
def test_telemetry_is_that_of_the_batches_written_out(job):
    lengths, _ = job
    for plan in plans_of(*job):
        batches = [plan.batch(number) for number in range(len(plan))]
        assert same(plan, BatchPlan.of(batches, plan.widths, lengths))
        assert plan.real_tokens.sum() == sum(feature.sum() for feature in lengths)
        assert plan.examples.sum() == len(lengths[0])


@given(jobs(), st.data())
def test_rest_of_any_plan_is_its_tail(job, data):
    for plan in plans_of(*job):
        done = data.draw(st.integers(0, len(plan)))
        rest = plan.from_batch(done)
        assert len(rest) == len(plan) - done
        for number in range(len(rest)):
            assert np.array_equal(rest.batch(number), plan.batch(done + number))
        for name in ("widths", "real_tokens", "examples", "padded_tokens"):
            assert np.array_equal(getattr(rest, name), getattr(plan, name)[done:])


def test_same_seed_and_epoch_give_the_same_plan_and_others_do_not():
    lengths = [np.random.default_rng(0).integers(1, 60, 100)]

    def plan(seed, epoch):
        made = batching.plan_training(lengths, batch_size=8, seed=seed, epoch=epoch)
        return made.rows.tolist()

    assert plan(7, 0) == plan(7, 0)
    assert plan(7, 0) != plan(7, 1)
    assert plan(7, 0) != plan(8, 0)


def companions(plan: BatchPlan) -> set[tuple[int, int]]:
    """All pairs of rows that share a batch."""
    return {
        (int(a), int(b))
        for number in range(len(plan))
        for a in plan.batch(number)
        for b in plan.batch(number)
        if a < b
    }


def test_companions_of_a_row_change_from_epoch_to_epoch():
    lengths = [np.random.default_rng(0).integers(1, 60, 640)]
    first, second = (
        batching.plan_training(lengths, batch_size=8, seed=0, epoch=epoch)
        for epoch in (0, 1)
    )
    kept = len(companions(first) & companions(second)) / len(companions(first))
    assert kept < 1.5 * len(first.shapes) / len(first) == pytest.approx(0.3)


def test_training_plan_does_not_go_from_short_to_long():
    lengths = [np.arange(1, 500)]
    plan = batching.plan_training(lengths, batch_size=10, seed=0, epoch=0)
    widths = plan.widths[:, 0].tolist()
    assert widths not in (sorted(widths), sorted(widths)[::-1])


def test_long_rows_have_smaller_batches_and_short_ones_no_larger_than_asked_for():
    lengths = [np.repeat([8, 64, 512], 64)]
    plan = batching.plan_validation(lengths, batch_size=32, max_batch_tokens=1024)
    assert plan.shapes == ((2, 512), (16, 64), (32, 8))


def test_replica_without_rows_is_allowed():
    plan = batching.plan_validation([np.array([4])], batch_size=8, replicas=4)
    assert plan.rows.tolist() == [0, *[ABSENT] * 7]


def test_no_row_is_refused():
    with pytest.raises(ValueError, match="no row"):
        batching.plan_validation([np.array([], int)], batch_size=8)


def test_validation_of_some_rows_has_these_alone_under_their_own_numbers():
    lengths = [np.array([9, 3, 40, 3, 17, 5, 5])]
    only = np.array([1, 4, 6])
    plan = batching.plan_validation(lengths, only=only, batch_size=2)
    assert sorted(plan.rows[plan.rows != ABSENT]) == [1, 4, 6]
    assert plan.real_tokens.sum() == 3 + 17 + 5


@pytest.mark.parametrize(
    "rows, most, numbers",
    [(3, 5, [0, 1, 2]), (3, 3, [0, 1, 2]), (10, 4, [0, 3, 6, 9]), (10, 1, [0])],
)
def test_rows_are_spread_over_the_whole_split(rows, most, numbers):
    assert batching.spread(rows, most).tolist() == numbers
