"""Losses as sums and weights: the caller divides once, by the global count."""

import tensorflow as tf

IGNORED = -100  # A label that is padding, as in Hugging Face's data sets.


def cross_entropy(logits: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Sums cross entropy over the real labels.

    Args:
      logits: float [..., classes], unnormalised.
      labels: int32 [...]; `IGNORED` where nothing is to be learned.

    Returns:
      (loss_sum, weight_sum): float32 scalars, in nats and in labels. An input
      without a single real label gives (0, 0), never NaN.
    """
    real = labels != IGNORED
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=tf.where(real, labels, 0), logits=tf.cast(logits, tf.float32)
    )
    loss_sum = tf.reduce_sum(tf.where(real, losses, 0.0))
    return loss_sum, count(labels)


def count(labels: tf.Tensor) -> tf.Tensor:
    """The number of real labels, as a float32 scalar."""
    return tf.reduce_sum(tf.cast(labels != IGNORED, tf.float32))
