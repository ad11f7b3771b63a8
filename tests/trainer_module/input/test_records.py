"""Records to rows to padded batches, all numbers written out."""

import types

import numpy as np
import pytest
import tensorflow as tf

from trainer_module import features
from trainer_module.input import batching, records
from trainer_module.input.batching import ABSENT, BatchPlan
from trainer_module.losses import IGNORED

pytestmark = pytest.mark.slow


def transform_of(spec):
    """Stands in for TFTransformOutput, of which only the spec is read."""
    return types.SimpleNamespace(transformed_feature_spec=lambda: dict(spec))


@pytest.fixture
def summaries(transformed_spec):
    return transform_of(transformed_spec("summarization"))


@pytest.fixture
def classes(transformed_spec):
    return transform_of(transformed_spec("classification"))


def test_summary_records_become_ragged_rows(tmp_path, write_records, summaries):
    write_records(tmp_path / "b-1.gz", [("r3", [9, 1], [4, 5, 6, 1])])
    write_records(tmp_path / "a-0.gz", [("r1", [7, 8, 1], [3, 1]), ("é2", [1], [1])])
    rows = records.read([str(tmp_path / "*")], summaries)
    assert rows.input_ids.to_list() == [[7, 8, 1], [1], [9, 1]]
    assert rows.labels.to_list() == [[3, 1], [1], [4, 5, 6, 1]]
    assert [name.decode() for name in rows.example_ids] == ["r1", "é2", "r3"]
    assert [lengths.tolist() for lengths in rows.lengths] == [[3, 1, 2], [2, 1, 4]]
    assert len(rows) == 3
    assert rows.input_ids.dtype == rows.labels.dtype == tf.int32


def test_class_records_have_one_id_and_one_length(tmp_path, write_records, classes):
    path = write_records(tmp_path / "a.gz", [("r1", [2, 9, 3], 1), ("r2", [2, 3], 0)])
    rows = records.read([path], classes)
    assert rows.labels.numpy().tolist() == [1, 0]
    assert [lengths.tolist() for lengths in rows.lengths] == [[3, 2]]


def test_missing_feature_is_named_beside_what_is_there(
    tmp_path, write_records, transformed_spec
):
    path = write_records(tmp_path / "a.gz", [("r1", [1], 0)])
    spec = transformed_spec("classification")
    del spec[features.INPUT_IDS]
    with pytest.raises(
        ValueError,
        match=r"\['input_ids'\] are missing. Received: \['example_id', 'labels'\]",
    ):
        records.read([path], transform_of(spec))


@pytest.mark.parametrize(
    "pattern, message",
    [("nothing-*", "matches .*nothing"), ("empty*", "is in .*empty.gz")],
)
def test_no_record_is_refused_with_where_it_was_looked_for(
    tmp_path, write_records, classes, pattern, message
):
    write_records(tmp_path / "empty.gz", [])
    with pytest.raises(ValueError, match=f"No transformed record {message}"):
        records.read([str(tmp_path / pattern)], classes)


def test_label_outside_the_vocabulary_is_refused_with_its_rows(
    tmp_path, write_records, classes
):
    written = [("r1", [1], 0), ("r2", [1], -1), ("r3", [1], -1)]
    path = write_records(tmp_path / "a.gz", written)
    with pytest.raises(ValueError, match=r"2 rows .*label.*r2.*r3"):
        records.read([path], classes)


SUMMARY_ROWS = records.Rows(
    input_ids=tf.ragged.constant([[7] * 20, [5, 1], [6, 6, 1]], dtype=tf.int32),
    labels=tf.ragged.constant([[8] * 30, [3, 1], [4, 1]], dtype=tf.int32),
    example_ids=np.array([b"long", b"r1", b"r2"]),
)


def batch_list(rows, plan, pad_id=0):
    return list(records.batches(rows, plan, pad_id=pad_id).as_numpy_iterator())


def test_batch_has_the_plans_rows_padded_to_its_widths():
    plan = BatchPlan(np.array([[2, 1]]), np.array([[4, 3]], np.int32))
    (batch,) = batch_list(SUMMARY_ROWS, plan)
    assert batch["input_ids"].tolist() == [[6, 6, 1, 0], [5, 1, 0, 0]]
    assert batch["labels"].tolist() == [[4, 1, IGNORED], [3, 1, IGNORED]]
    assert batch["input_ids"].dtype == batch["labels"].dtype == np.int32


def test_absent_row_has_ignored_labels_and_no_longer_ids_than_its_batch():
    # Row 0, the longest of all, is in another batch.
    plan = BatchPlan(np.array([[1, ABSENT]]), np.array([[8, 8]], np.int32))
    (batch,) = batch_list(SUMMARY_ROWS, plan)
    assert batch["input_ids"].shape == batch["labels"].shape == (2, 8)
    assert (batch["labels"][1] == IGNORED).all()
    assert batch["input_ids"][1].tolist() == batch["input_ids"][0].tolist()


def test_absent_class_row_has_an_ignored_label():
    rows = records.Rows(
        input_ids=tf.ragged.constant([[2, 3], [2, 9, 3]], dtype=tf.int32),
        labels=tf.constant([1, 0]),
        example_ids=np.array([b"a", b"b"]),
    )
    plan = BatchPlan(np.array([[1, ABSENT, ABSENT]]), np.array([[3]], np.int32))
    (batch,) = batch_list(rows, plan, pad_id=9)
    assert batch["labels"].tolist() == [0, IGNORED, IGNORED]
    assert batch["input_ids"].tolist() == [[2, 9, 3]] * 3


@pytest.mark.parametrize("rows", [1, 3, 4, 5, 9])
def test_an_epoch_holds_every_real_label_once(rows):
    lengths = [n % 7 + 1 for n in range(rows)]
    made = records.Rows(
        input_ids=tf.ragged.constant([[1] * n for n in lengths], dtype=tf.int32),
        labels=tf.ragged.constant([[n] * n for n in lengths[::-1]], dtype=tf.int32),
        example_ids=np.array([b"%d" % n for n in range(rows)]),
    )
    for plan in (
        batching.plan_training(made.lengths, batch_size=4, seed=0, epoch=0),
        batching.plan_validation(made.lengths, batch_size=4),
    ):
        labels = np.concatenate([b["labels"].ravel() for b in batch_list(made, plan)])
        assert sorted(labels[labels != IGNORED]) == sorted(
            n for n in lengths for _ in range(n)
        )


def test_batches_come_in_the_plans_order():
    rows = records.Rows(
        input_ids=tf.ragged.constant([[n] for n in range(40)], dtype=tf.int32),
        labels=tf.range(40),
        example_ids=np.array([b"x"] * 40),
    )
    order = np.random.default_rng(0).permutation(40)
    plan = BatchPlan(order[:, None], np.ones([40, 1], np.int32))
    assert [b["labels"][0] for b in batch_list(rows, plan)] == order.tolist()
