"""The mean over all real labels, and metrics of the rows that are there."""

import math

import numpy as np
import pytest
import tensorflow as tf

from trainer_module.input.batching import ABSENT
from trainer_module.input.records import Rows
from trainer_module.loop.evaluator import Evaluator
from trainer_module.loop.events import Sample
from trainer_module.losses import IGNORED

pytestmark = pytest.mark.slow

SPEC = {"labels": tf.TensorSpec([None], tf.int32)}
ROWS = Rows(
    input_ids=tf.ragged.constant([[5], [6, 7], [8], [9]], dtype=tf.int32),
    labels=tf.constant([1, 2, 3, 4]),
    example_ids=np.array([b"a", b"b", b"c", b"d"]),
    targets=np.array([b"1", b"2", b"3", b"4"]),
)


class LabelsAsLosses:
    """A task whose loss of a row is its label, and which predicts the label."""

    writes_text = False

    def evaluate(self, batch):
        real = batch["labels"] != IGNORED
        labels = tf.cast(tf.where(real, batch["labels"], 0), tf.float32)
        weights = tf.reduce_sum(tf.cast(real, tf.float32))
        return tf.reduce_sum(labels), weights, self.predict(batch)

    def predict(self, batch):
        return batch["labels"][:, None]

    def read_predictions(self, predictions):
        return [str(row[0]) for row in predictions]

    def read_inputs(self, input_ids):
        return [" ".join(map(str, row)) for row in input_ids]

    def metrics(self, targets, predictions):
        right = sum(t == p for t, p in zip(targets, predictions, strict=True))
        return {"accuracy": right / len(targets), "rows": len(targets)}


class Writer(LabelsAsLosses):
    """The same for a task that writes text in a second pass."""

    writes_text = True

    def predict(self, batch):
        return tf.zeros([tf.shape(batch["labels"])[0], 0], tf.int32)

    def write(self, batch):
        return batch["labels"][:, None]


def evaluate(*batches, numbers=None, some=None, task=None, samples=0):
    evaluator = Evaluator(
        task=task or LabelsAsLosses(),
        strategy=tf.distribute.get_strategy(),
        element_spec=SPEC,
        rows=ROWS,
        samples=samples,
    )

    def numbered(batches, numbers):
        made = [{"labels": tf.constant(b)} for b in batches]
        return made, [np.array(n) for n in numbers]

    if numbers is None:
        numbers = [
            [i if label != IGNORED else ABSENT for i, label in enumerate(b)]
            for b in batches
        ]
    return evaluator.evaluate(
        numbered(batches, numbers), numbered(*some) if some else None
    )


def test_each_label_counts_once():
    found = evaluate([1, 2, 3], [10, IGNORED, IGNORED])
    assert found.metrics["loss"] == 4.0


def test_absent_rows_count_neither_in_loss_nor_in_metrics():
    found = evaluate([4, IGNORED], [1, IGNORED], numbers=[[3, ABSENT], [0, ABSENT]])
    assert found.metrics == {"loss": 2.5, "accuracy": 1.0, "rows": 2}


def test_without_a_label_the_loss_is_nan_and_there_are_no_metrics():
    found = evaluate([IGNORED])
    assert list(found.metrics) == ["loss"] and math.isnan(found.metrics["loss"])


def test_predictions_are_held_against_the_targets_of_their_own_rows():
    found = evaluate([3, 9], [2, 1], numbers=[[2, 0], [1, 3]])
    assert found.metrics["accuracy"] == 0.5


def test_samples_are_spread_over_the_split_with_input_target_and_prediction():
    found = evaluate([9, 2], [3, 4], numbers=[[0, 1], [2, 3]], samples=2)
    assert found.samples == (Sample("5", "1", "9"), Sample("8", "3", "3"))


def test_text_is_written_for_the_chosen_rows_alone():
    found = evaluate(
        [1, 2], [3, 4], task=Writer(), some=([[9, 4]], [[1, 3]]), samples=5
    )
    assert found.metrics == {"loss": 2.5, "accuracy": 0.5, "rows": 2}
    assert found.samples == (Sample("6 7", "2", "9"), Sample("9", "4", "4"))


def test_task_that_writes_text_has_the_loss_alone_where_none_is_written():
    assert evaluate([1, 2], task=Writer()).metrics == {"loss": 1.5}
