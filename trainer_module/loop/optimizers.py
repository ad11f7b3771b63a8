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


def build(settings: TrainSettings, *, total_updates: int) -> tf_keras.optimizers.AdamW:
    """AdamW without weight decay on biases and norms.

    Clipping is not the optimizer's: it has to see the gradient of the whole batch,
    which the loop sums over replicas first.
    """
    optimizer = tf_keras.optimizers.AdamW(
        learning_rate=WarmupThenDecay(
            peak=settings.learning_rate,
            warmup=round(settings.warmup_share * total_updates),
            total_updates=total_updates,
            decay=settings.decay,
        ),
        weight_decay=settings.weight_decay,
        beta_2=0.999,
        epsilon=1e-6,
        jit_compile=False,  # The loop compiles the whole step.
    )
    optimizer.exclude_from_weight_decay(var_names=list(NO_DECAY))
    return optimizer
