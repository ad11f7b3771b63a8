"""Optimizers of Keras under the contract of the loop, see `optimizers.AdamW.apply`."""

import tensorflow as tf
import tf_keras


class _Applied:
    def apply(self, gradients, variables, factor):
        scaled = [tf.math.multiply_no_nan(gradient, factor) for gradient in gradients]
        self.apply_gradients(
            zip(scaled, variables, strict=True), skip_gradients_aggregation=True
        )


class Descent(_Applied, tf_keras.optimizers.SGD):
    """Plain gradient descent: Adam would hide a wrong scale of the gradient."""


class Adam(_Applied, tf_keras.optimizers.Adam):
    pass
