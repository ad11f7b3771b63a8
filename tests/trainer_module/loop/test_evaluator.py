"""The mean over all real labels, not the mean of the batches' means."""

import math

import pytest
import tensorflow as tf

from trainer_module.loop.evaluator import Evaluator
from trainer_module.losses import IGNORED

pytestmark = pytest.mark.slow

SPEC = {"labels": tf.TensorSpec([None], tf.int32)}


class LabelsAsLosses:
    """A task whose loss of a row is its label."""

    def loss_sums(self, batch, *, training):
        assert training is False
        real = batch["labels"] != IGNORED
        labels = tf.cast(tf.where(real, batch["labels"], 0), tf.float32)
        return tf.reduce_sum(labels), tf.reduce_sum(tf.cast(real, tf.float32))


def evaluate(*batches):
    evaluator = Evaluator(task=LabelsAsLosses(), strategy=tf.distribute.get_strategy())
    return evaluator.evaluate([{"labels": tf.constant(b)} for b in batches], SPEC)


def test_each_label_counts_once():
    assert evaluate([1, 2, 3], [10, IGNORED, IGNORED]) == 4.0


def test_absent_rows_do_not_count():
    assert evaluate([4, IGNORED], [IGNORED, IGNORED]) == 4.0


def test_without_a_label_the_loss_is_nan():
    assert math.isnan(evaluate([IGNORED]))
