"""Mixed precision: the policy of a training, and the loss scale that float16 needs."""

import contextlib
from collections.abc import Iterator

import tensorflow as tf
import tf_keras

from trainer_module.settings import TrainSettings


@contextlib.contextmanager
def policy(name: str) -> Iterator[None]:
    """Sets Keras' policy for the models made inside.

    It is one setting of the whole process, in which other nodes run as well.
    """
    before = tf_keras.mixed_precision.global_policy()
    tf_keras.mixed_precision.set_global_policy(name)
    try:
        yield
    finally:
        tf_keras.mixed_precision.set_global_policy(before)


class LossScale:
    """Dynamic loss scaling of Micikevicius et al. 2018, https://arxiv.org/abs/1710.03740.

    Small gradients of float16 become zero, so the loss is multiplied before the
    gradient is taken. The factor doubles after `updates_between_growth` finite updates
    in a row, and is halved by each that is not finite, which moves nothing.
    """

    def __init__(self, *, initial: float = 2.0**15, updates_between_growth: int = 2000):
        self._growth = updates_between_growth
        # Each replica comes to the same numbers, so the first one's are taken.
        options = {
            "trainable": False,
            "aggregation": tf.VariableAggregation.ONLY_FIRST_REPLICA,
        }
        self.factor = tf.Variable(initial, name="loss_scale", **options)
        self._good = tf.Variable(0, name="updates_since_change", **options)

    @property
    def variables(self) -> list[tf.Variable]:
        return [self.factor, self._good]

    def update(self, finite: tf.Tensor) -> None:
        """Call it once an update, with whether the gradient was finite."""
        good = tf.where(finite, self._good + 1, 0)
        grows = good >= self._growth
        lower = tf.maximum(self.factor / 2.0, 1.0)
        higher = tf.where(grows, self.factor * 2.0, self.factor)
        self.factor.assign(tf.where(finite, higher, lower))
        self._good.assign(tf.where(grows, 0, good))


def loss_scale_for(settings: TrainSettings) -> LossScale | None:
    """Make it in the strategy's scope."""
    return LossScale() if settings.precision == "mixed_float16" else None
