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


def test_targets_are_read_as_they_were_ingested(tmp_path, write_records, classes):
    path = write_records(tmp_path / "a.gz", [("r1", [2, 3], 1)], targets=["Zürich?"])
    assert [t.decode() for t in records.read([path], classes).targets] == ["Zürich?"]


def rows_with(*arguments, **changes) -> records.Rows:
    """Rows; the targets have no part in the batches."""
    rows = records.Rows(*arguments, **{"targets": np.array([]), **changes})
    return rows


def digest_of(
    ids=((7, 8), (9,)),
    labels=((3,), (4, 5)),
    names=(b"a", b"bc"),
    targets=(b"x", b"y"),
) -> str:
    return rows_with(
        input_ids=tf.ragged.constant(ids, dtype=tf.int32),
        labels=tf.ragged.constant(labels, dtype=tf.int32),
        example_ids=np.array(names, object),
        targets=np.array(targets, object),
    ).digest()


def test_digest_is_that_of_the_content():
    assert digest_of() == digest_of()
    assert len(digest_of()) == 64


@pytest.mark.parametrize(
    "change",
    [
        {"ids": ((7, 8), (1,))},
        {"ids": ((7,), (8, 9))},
        {"labels": ((3, 4), (5,))},
        {"labels": ((3,), (4, 6))},
        {"names": (b"ab", b"c")},
        {"names": (b"bc", b"a")},
        {"targets": (b"x", b"z")},
    ],
)
def test_digest_changes_with_the_content(change):
    assert digest_of(**change) != digest_of()


def test_digest_tells_apart_which_row_has_which_class():
    def digest(labels):
        ids = tf.ragged.constant([[2], [2]], dtype=tf.int32)
        return rows_with(ids, tf.constant(labels), np.array([b"a", b"b"])).digest()

    assert digest([0, 1]) != digest([1, 0])


def test_missing_feature_is_named_beside_what_is_there(
    tmp_path, write_records, transformed_spec
):
    path = write_records(tmp_path / "a.gz", [("r1", [1], 0)])
    spec = transformed_spec("classification")
    del spec[features.INPUT_IDS]
    with pytest.raises(
        ValueError,
        match=r"\['input_ids'\] are missing. "
        r"Received: \['example_id', 'labels', 'target'\]",
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


SUMMARY_ROWS = rows_with(
    input_ids=tf.ragged.constant([[7] * 20, [5, 1], [6, 6, 1]], dtype=tf.int32),
    labels=tf.ragged.constant([[8] * 30, [3, 1], [4, 1]], dtype=tf.int32),
    example_ids=np.array([b"long", b"r1", b"r2"]),
)


def batch_list(rows, plan, pad_id=0, **options):
    dataset = records.batches(rows, plan, pad_id=pad_id, **options)
    return list(dataset.as_numpy_iterator())


def plan_of(rows, batches, widths) -> BatchPlan:
    return BatchPlan.of(batches, widths, rows.lengths)


def test_batch_has_the_plans_rows_padded_to_its_widths():
    plan = plan_of(SUMMARY_ROWS, [[2, 1]], [[4, 3]])
    (batch,) = batch_list(SUMMARY_ROWS, plan)
    assert batch["input_ids"].tolist() == [[6, 6, 1, 0], [5, 1, 0, 0]]
    assert batch["labels"].tolist() == [[4, 1, IGNORED], [3, 1, IGNORED]]
    assert batch["input_ids"].dtype == batch["labels"].dtype == np.int32


def test_absent_row_has_ignored_labels_and_no_longer_ids_than_its_batch():
    # Row 0, the longest of all, is in another batch.
    plan = plan_of(SUMMARY_ROWS, [[1, ABSENT]], [[8, 8]])
    (batch,) = batch_list(SUMMARY_ROWS, plan)
    assert batch["input_ids"].shape == batch["labels"].shape == (2, 8)
    assert (batch["labels"][1] == IGNORED).all()
    assert batch["input_ids"][1].tolist() == batch["input_ids"][0].tolist()


def test_absent_class_row_has_an_ignored_label():
    rows = rows_with(
        input_ids=tf.ragged.constant([[2, 3], [2, 9, 3]], dtype=tf.int32),
        labels=tf.constant([1, 0]),
        example_ids=np.array([b"a", b"b"]),
    )
    plan = plan_of(rows, [[1, ABSENT, ABSENT]], [[3]])
    (batch,) = batch_list(rows, plan, pad_id=9)
    assert batch["labels"].tolist() == [0, IGNORED, IGNORED]
    assert batch["input_ids"].tolist() == [[2, 9, 3]] * 3


@pytest.mark.parametrize("rows", [1, 3, 4, 5, 9])
def test_an_epoch_holds_every_real_label_once(rows):
    lengths = [n % 7 + 1 for n in range(rows)]
    made = rows_with(
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
    rows = rows_with(
        input_ids=tf.ragged.constant([[n] for n in range(40)], dtype=tf.int32),
        labels=tf.range(40),
        example_ids=np.array([b"x"] * 40),
    )
    order = np.random.default_rng(0).permutation(40)
    plan = plan_of(rows, order[:, None], np.ones([40, 1]))
    assert [b["labels"][0] for b in batch_list(rows, plan)] == order.tolist()


def made_rows(kind: str, rows: int) -> records.Rows:
    random = np.random.default_rng(0)
    ids, labels = (
        tf.ragged.constant(
            [[n + 5] * random.integers(1, longest) for n in range(rows)], dtype=tf.int32
        )
        for longest in (40, 20)
    )
    return rows_with(
        input_ids=ids,
        labels=labels if kind == "summarization" else tf.range(rows),
        example_ids=np.array([b"%d" % n for n in range(rows)]),
    )


@pytest.mark.parametrize("kind", ["classification", "summarization"])
@pytest.mark.parametrize("replicas", [1, 2, 4])
def test_pieces_of_the_replicas_make_up_the_batch(kind, replicas):
    rows = made_rows(kind, 61)
    plan = batching.plan_training(
        rows.lengths,
        batch_size=8,
        seed=0,
        epoch=0,
        replicas=replicas,
        max_batch_tokens=240,
    )
    assert len({shape[0] for shape in plan.shapes}) > 1
    whole = batch_list(rows, plan)
    pieces = batch_list(rows, plan, replicas=replicas)
    assert len(pieces) == replicas * len(whole)
    for number, batch in enumerate(whole):
        own = pieces[number * replicas : (number + 1) * replicas]
        for key, values in batch.items():
            assert {len(piece[key]) for piece in own} == {len(values) // replicas}
            np.testing.assert_array_equal(
                np.concatenate([piece[key] for piece in own]), values
            )


def test_worker_gets_the_pieces_of_its_own_replicas():
    rows = made_rows("classification", 40)
    plan = batching.plan_validation(rows.lengths, batch_size=8, replicas=4)
    every = batch_list(rows, plan, replicas=4)
    second = batch_list(rows, plan, replicas=4, local=range(2, 4))
    wanted = [piece for n, piece in enumerate(every) if n % 4 >= 2]
    assert len(second) == len(wanted) == 2 * len(plan)
    for piece, other in zip(second, wanted, strict=True):
        np.testing.assert_array_equal(piece["labels"], other["labels"])
        np.testing.assert_array_equal(piece["input_ids"], other["input_ids"])


def test_replica_without_rows_gets_ignored_ones_that_fit_its_batch():
    plan = plan_of(SUMMARY_ROWS, [[1, ABSENT, ABSENT, ABSENT]], [[3, 2]])
    _, empty = batch_list(SUMMARY_ROWS, plan, replicas=2)
    assert empty["input_ids"].tolist() == [[5, 1, 0]] * 2
    assert (empty["labels"] == IGNORED).all() and empty["labels"].shape == (2, 2)


def test_plan_for_other_replicas_is_refused():
    plan = plan_of(SUMMARY_ROWS, [[0, 1, 2]], [[20, 30]])
    with pytest.raises(ValueError, match=r"\[3\] rows .* 2 replicas.*replicas=2"):
        records.batches(SUMMARY_ROWS, plan, pad_id=0, replicas=2)


@pytest.mark.parametrize("done", [0, 1, 5, 8])
def test_resumed_epoch_gives_the_batches_that_were_left(done):
    rows = made_rows("summarization", 61)
    plan = batching.plan_training(rows.lengths, batch_size=8, seed=0, epoch=1)
    every = batch_list(rows, plan)
    assert len(every) == 8
    left = batch_list(rows, plan.from_batch(done))
    assert len(left) == len(every) - done
    for batch, other in zip(left, every[done:], strict=True):
        np.testing.assert_array_equal(batch["input_ids"], other["input_ids"])
        np.testing.assert_array_equal(batch["labels"], other["labels"])


@pytest.mark.parametrize("kind, rank", [("classification", 1), ("summarization", 2)])
def test_batches_are_numbers_of_any_shape(kind, rank):
    rows = made_rows(kind, 9)
    plan = batching.plan_validation(rows.lengths, batch_size=4)
    assert records.batches(rows, plan, pad_id=0).element_spec == {
        "input_ids": tf.TensorSpec([None, None], tf.int32),
        "labels": tf.TensorSpec([None] * rank, tf.int32),
    }
