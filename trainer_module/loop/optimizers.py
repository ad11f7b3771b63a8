"""AdamW and its schedule, counted in updates of the weights."""

import math

import tensorflow as tf
import tf_keras

from trainer_module.settings import TrainSettings

NO_DECAY = ("bias", "LayerNorm", "layer_norm", "gamma", "beta")


class WarmupThenDecay(tf_keras.optimizers.schedules.LearningRateSchedule):
    """Linear from zero to `peak`, then linear or cosine to zero at `total_updates`."""

    def __init__(self, *, peak: float, warmup: int, total_updates: int, decay: str):
        self._peak, self._warmup = peak, warmup
        self._total, self._decay = total_updates, decay

    def __call__(self, step):
        done = tf.cast(step, tf.float32) + 1.0  # The first update moves already.
        rising = done / max(1.0, float(self._warmup))
        left = (self._total - done + 1.0) / max(1.0, float(self._total - self._warmup))
        falling = tf.clip_by_value(left, 0.0, 1.0)
        if self._decay == "cosine":
            falling = 0.5 * (1.0 - tf.cos(math.pi * falling))
        return self._peak * tf.minimum(rising, falling)

    def get_config(self):
        return {
            "peak": self._peak,
            "warmup": self._warmup,
            "total_updates": self._total,
            "decay": self._decay,
        }


class AdamW(tf_keras.optimizers.Optimizer):
    """Adam with decoupled weight decay, in which a gradient of NaN moves nothing.

    Algorithm 1 of Kingma and Ba 2015 (https://arxiv.org/abs/1412.6980) with the decay
    of Loshchilov and Hutter 2019 (https://arxiv.org/abs/1711.05101). As in PyTorch,
    and unlike Keras, epsilon is added after the correction of the bias: Keras' own
    epsilon is up to 32 times larger in the first updates, where it outweighs the
    small gradients of a pretrained model.

    Where a gradient is NaN, the weight and its moments stay as they are: the loop
    makes a gradient NaN that overflowed, and XLA has no branch to pay for.
    """

    def __init__(
        self,
        *,
        learning_rate: tf_keras.optimizers.schedules.LearningRateSchedule,
        weight_decay: float,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-6,
    ):
        # Keras' own decay would also move what a gradient of NaN must not.
        super().__init__(name="AdamW", weight_decay=None, jit_compile=False)
        self._learning_rate = self._build_learning_rate(learning_rate)
        self._decay, self._epsilon = weight_decay, epsilon
        self._beta_1, self._beta_2 = beta_1, beta_2

    def build(self, var_list):
        super().build(var_list)
        if getattr(self, "_built", False):
            return
        self._built = True
        self._m, self._v = (
            [self.add_variable_from_reference(v, variable_name=name) for v in var_list]
            for name in ("m", "v")
        )

    def update_step(self, gradient, variable):
        index = self._index_dict[self._var_key(variable)]
        m, v = self._m[index], self._v[index]
        rate = tf.cast(self.learning_rate, variable.dtype)
        number = tf.cast(self.iterations + 1, variable.dtype)
        # 1 - beta^t, without the digits that the subtraction would lose.
        m_share = -tf.math.expm1(number * math.log(self._beta_1))
        root = tf.sqrt(-tf.math.expm1(number * math.log(self._beta_2)))
        mean = m + (gradient - m) * (1 - self._beta_1)
        square = v + (tf.square(gradient) - v) * (1 - self._beta_2)
        # The corrections are scalars, so they are kept off the large tensors.
        step = (rate * root / m_share) * mean / (tf.sqrt(square) + self._epsilon * root)
        moved = variable * (1 - rate * self.decay_of(variable)) - step
        for old, new in ((variable, moved), (m, mean), (v, square)):
            old.assign(tf.where(tf.math.is_nan(gradient), old, new))

    def decay_of(self, variable) -> float:
        """The share of a weight that is lost at a rate of one."""
        return 0.0 if any(part in variable.name for part in NO_DECAY) else self._decay


def build(settings: TrainSettings, *, total_updates: int) -> AdamW:
    """AdamW without weight decay on biases and norms.

    Clipping is not the optimizer's: it has to see the gradient of the whole batch,
    which the loop sums over replicas first.
    """
    return AdamW(
        learning_rate=WarmupThenDecay(
            peak=settings.learning_rate,
            warmup=round(settings.warmup_share * total_updates),
            total_updates=total_updates,
            decay=settings.decay,
        ),
        weight_decay=settings.weight_decay,
    )
