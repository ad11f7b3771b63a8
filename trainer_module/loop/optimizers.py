"""AdamW and its schedule, counted in updates of the weights."""

import math
from collections.abc import Sequence

import numpy as np
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
    """Adam with decoupled weight decay.

    Algorithm 1 of Kingma and Ba 2015 (https://arxiv.org/abs/1412.6980) with the decay
    of Loshchilov and Hutter 2019 (https://arxiv.org/abs/1711.05101). As in PyTorch,
    and unlike Keras, epsilon is added after the correction of the bias: Keras' own
    epsilon is up to 32 times larger in the first updates, where it outweighs the
    small gradients of a pretrained model.
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
        # Keras' own decay would come after the step, and move what must not.
        super().__init__(name="AdamW", weight_decay=None, jit_compile=False)
        self._learning_rate = self._build_learning_rate(learning_rate)
        self._decay, self._epsilon = weight_decay, epsilon
        # The kernel takes 1 - beta in float32, exactly; the corrections are of those.
        self._beta_1, self._beta_2 = (
            float(np.float32(beta_1)),
            float(np.float32(beta_2)),
        )
        self._moves: tf.Tensor | float = 1.0

    def build(self, var_list):
        super().build(var_list)
        if getattr(self, "_built", False):
            return
        self._built = True
        self._m, self._v = (
            [self.add_variable_from_reference(v, variable_name=name) for v in var_list]
            for name in ("m", "v")
        )

    def apply(
        self,
        gradients: Sequence[tf.Tensor],
        variables: Sequence[tf.Variable],
        factor: tf.Tensor,
    ) -> None:
        """Counts an update, and makes it with `factor` times the gradients.

        A factor of zero moves neither weights nor moments, whatever the gradients
        are; there is no branch, for which XLA would pay each time.

        Args:
          gradients: summed over all replicas.
          variables: as given to `build`.
          factor: float32 scalar, the same on each replica.
        """
        # Replicas set it one after the other, to equal values; then all are updated.
        self._moves = tf.cast(factor != 0.0, tf.float32)
        scaled = [tf.math.multiply_no_nan(gradient, factor) for gradient in gradients]
        self.apply_gradients(
            zip(scaled, variables, strict=True), skip_gradients_aggregation=True
        )

    def update_step(self, gradient, variable):
        """One pass of TensorFlow's own kernel, which reads and writes all at once."""
        index = self._index_dict[self._var_key(variable)]
        rate = tf.cast(self.learning_rate, tf.float32) * self._moves
        number = tf.cast(self.iterations + 1, tf.float32)
        # 1 - beta^t, without the digits that the subtraction would lose.
        m_share = -tf.math.expm1(number * math.log(self._beta_1))
        root = tf.sqrt(-tf.math.expm1(number * math.log(self._beta_2)))
        decay = self.decay_of(variable)
        if decay:
            variable.assign(variable * (1.0 - rate * decay))
        # Where nothing moves, both betas are one and the rate is zero.
        still = 1.0 - self._moves
        tf.raw_ops.ResourceApplyAdam(
            var=variable.handle,
            m=self._m[index].handle,
            v=self._v[index].handle,
            beta1_power=0.0,  # The corrections are in the rate and in epsilon.
            beta2_power=0.0,
            lr=rate * root / m_share,
            beta1=tf.maximum(self._beta_1, still),
            beta2=tf.maximum(self._beta_2, still),
            epsilon=self._epsilon * root,
            grad=gradient,
        )

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
