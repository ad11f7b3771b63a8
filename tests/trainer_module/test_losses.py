"""Sums over real labels; padding and -100 never count."""

import math

import numpy as np
import pytest
import tensorflow as tf

from trainer_module import losses

pytestmark = pytest.mark.slow


def numbers(pair):
    return [float(value) for value in pair]


def test_sum_and_count_are_over_real_labels():
    logits = tf.constant([[[0.0, 0.0], [0.0, math.log(3.0)], [9.0, -9.0]]])
    labels = tf.constant([[0, 1, losses.IGNORED]])
    assert numbers(losses.cross_entropy(logits, labels)) == pytest.approx(
        [math.log(2) + math.log(4 / 3), 2.0]
    )


def test_class_labels_have_no_token_axis():
    logits = tf.constant([[0.0, 0.0, 0.0], [5.0, 0.0, 0.0]])
    labels = tf.constant([2, losses.IGNORED])
    assert numbers(losses.cross_entropy(logits, labels)) == pytest.approx(
        [math.log(3), 1.0]
    )


@pytest.mark.parametrize("xla", [False, True])
def test_no_real_label_gives_zero_and_a_zero_gradient(xla):
    logits = tf.Variable([[1.0, math.inf], [math.nan, 0.0]])
    labels = tf.fill([2], losses.IGNORED)

    @tf.function(jit_compile=xla)
    def sums_and_gradient():
        with tf.GradientTape() as tape:
            loss_sum, weight_sum = losses.cross_entropy(tf.zeros([2, 2]) * 1.0, labels)
            mixed = loss_sum + 0.0 * tf.reduce_sum(tf.ones_like(logits))
        return loss_sum, weight_sum, tape.gradient(mixed, logits)

    loss_sum, weight_sum, gradient = sums_and_gradient()
    assert numbers((loss_sum, weight_sum)) == [0.0, 0.0]
    assert gradient is None or not np.any(gradient.numpy())


def test_wider_padding_changes_nothing():
    random = np.random.default_rng(0)
    logits = random.normal(size=[2, 3, 5]).astype(np.float32)
    labels = np.array([[1, 2, losses.IGNORED], [4, losses.IGNORED, losses.IGNORED]])
    wide_logits = np.concatenate([logits, random.normal(size=[2, 4, 5])], axis=1)
    wide_labels = np.pad(labels, [[0, 0], [0, 4]], constant_values=losses.IGNORED)
    narrow = losses.cross_entropy(tf.constant(logits), tf.constant(labels))
    wide = losses.cross_entropy(
        tf.constant(wide_logits, tf.float32), tf.constant(wide_labels)
    )
    assert numbers(narrow) == pytest.approx(numbers(wide))


def test_low_precision_logits_are_summed_in_float32():
    logits = tf.zeros([1000, 3], tf.bfloat16)
    loss_sum, weight_sum = losses.cross_entropy(logits, tf.zeros([1000], tf.int32))
    assert loss_sum.dtype == weight_sum.dtype == tf.float32
    assert float(loss_sum) == pytest.approx(1000 * math.log(3), rel=1e-5)


def test_count_counts_real_labels():
    assert float(losses.count(tf.constant([[0, -100], [7, -100]]))) == 2.0


def test_smoothing_gives_a_share_of_the_target_to_all_classes():
    scores = np.array([[1.0, 2.0, 4.0], [0.0, 0.0, 0.0], [9.0, -9.0, 0.0]])
    log_shares = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    labels = [2, 0, losses.IGNORED]
    by_hand = -sum(
        0.7 * log_shares[row, labels[row]] + 0.3 * log_shares[row].mean()
        for row in (0, 1)
    )
    found = losses.cross_entropy(
        tf.constant(scores, tf.float32), tf.constant(labels), smoothing=0.3
    )
    assert numbers(found) == pytest.approx([by_hand, 2.0])
