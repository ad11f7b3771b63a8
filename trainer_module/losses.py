"""Losses as sums and weights: the caller divides once, by the global count."""

import tensorflow as tf

IGNORED = -100  # A label that is padding, as in Hugging Face's data sets.


def cross_entropy(
    logits: tf.Tensor, labels: tf.Tensor, *, smoothing: float = 0.0
) -> tuple[tf.Tensor, tf.Tensor]:
    """Sums cross entropy over the real labels.

    Args:
      logits: float [..., classes], unnormalised.
      labels: int32 [...]; `IGNORED` where nothing is to be learned.
      smoothing: the share of each target that goes to all classes alike, its own
        included: Szegedy et al. 2015, https://arxiv.org/abs/1512.00567, section 7.

    Returns:
      (loss_sum, weight_sum): float32 scalars, in nats and in labels. An input
      without a single real label gives (0, 0), never NaN.
    """
    real = labels != IGNORED
    logits = tf.cast(logits, tf.float32)
    if smoothing:
        classes = logits.shape[-1]
        rest = smoothing / classes
        targets = tf.one_hot(labels, classes, 1.0 - smoothing + rest, rest)
        losses = tf.nn.softmax_cross_entropy_with_logits(targets, logits)
    else:  # Without a target for each class, which would be as large as the logits.
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=tf.where(real, labels, 0), logits=logits
        )
    loss_sum = tf.reduce_sum(tf.where(real, losses, 0.0))
    return loss_sum, count(labels)


def count(labels: tf.Tensor) -> tf.Tensor:
    """The number of real labels, as a float32 scalar."""
    return tf.reduce_sum(tf.cast(labels != IGNORED, tf.float32))
