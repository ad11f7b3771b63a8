"""Dropout whose masks are a function of where the training stands.

Keras' generators keep a state that no checkpoint holds and that XLA ignores. Here a
mask follows from (seed, update, batch, replica, layer, call) alone, so a training that
was stopped and resumed gives the weights of one that was not, bit for bit.
"""

import contextlib
import threading
from collections.abc import Iterator

import tensorflow as tf
import tf_keras

# The generator is Philox: from a key and a counter, 64 bits each, which need not be
# mixed first (Salmon et al. 2011, https://doi.org/10.1145/2063384.2063405). How many of
# these bits each number has: no two masks share all of them, so none is drawn twice.
_SEED_BITS, _LAYER_BITS, _CALL_BITS = 32, 20, 12
_BATCH_BITS, _REPLICA_BITS = 12, 16

_PHILOX = tf.random.Algorithm.PHILOX.value
_CHANCES = 2**16  # Sixteen random bits decide on one value; 32 would cost twice.


class Masks:
    """Takes over the dropout of a model.

    Each value is kept or dropped by 16 random bits of Philox, so a rate is rounded to
    a multiple of 1/65536, and what is kept is divided by the share that really is.
    The bits are the same on each device, with XLA and without.

    Args:
      model: built and complete; layers that are added later keep Keras' generator.
      seed: from 0 to 2**32 - 1.

    Raises:
      TypeError: if a layer draws random numbers of another kind.
    """

    def __init__(self, model: tf_keras.Model, *, seed: int):
        if not 0 <= seed < 2**_SEED_BITS:
            raise ValueError(
                f"`seed` must be from 0 to {2**_SEED_BITS - 1}. Received: {seed}."
            )
        self._seed = seed
        self._local = threading.local()  # Replicas are traced in threads of their own.
        random_layer = tf_keras.__internal__.layers.BaseRandomLayer
        layers = [x for x in model._flatten_layers() if isinstance(x, random_layer)]
        for number, layer in enumerate(layers):
            if not isinstance(layer, tf_keras.layers.Dropout):
                raise TypeError(
                    "`model` may draw random numbers in Dropout layers only. "
                    f"Received: {layer.name}, a {type(layer).__name__}."
                )
            generator = _Generator(self, number)
            # Not by `layer.x = ...`, which would make it a part of checkpoints.
            object.__setattr__(layer, "_random_generator", generator)
        self.layers = len(layers)

    @contextlib.contextmanager
    def at(self, update: tf.Tensor, batch: tf.Tensor, replica: tf.Tensor) -> Iterator:
        """Within it, the model may be called in training.

        Enter it in the innermost tf.function around the model, with tensors that are
        that function's own: what is a Python number there is the same in every step.

        Args:
          update: integer scalar, updates done so far, less than 2**35.
          batch: integer scalar, of the update, less than 4096.
          replica: integer scalar, `replica_id_in_sync_group`, less than 65536.
        """
        outer = getattr(self._local, "place", None)
        self._local.place = _Place(update, batch, replica)
        try:
            yield
        finally:
            self._local.place = outer

    def _key_and_counter(self, layer: int) -> tuple[int, tf.Tensor]:
        """Another pair for each call of each layer; see `_random_uint16`."""
        place = getattr(self._local, "place", None)
        if place is None:
            raise RuntimeError(
                "A model was called in training outside of `Masks.at`, so its dropout "
                "has no place in the training to follow from."
            )
        call = place.calls.get(layer, 0)
        place.calls[layer] = call + 1
        if call >= 2**_CALL_BITS or layer >= 2**_LAYER_BITS:
            raise RuntimeError(f"Call {call} of dropout layer {layer} is too many.")
        return (self._seed << _LAYER_BITS | layer) << _CALL_BITS | call, place.counter


class _Place:
    """A batch of the training, and how often each layer was called in it."""

    def __init__(self, update, batch, replica):
        update, batch, replica = (
            tf.cast(number, tf.int64) for number in (update, batch, replica)
        )
        update_and_batch = update * 2**_BATCH_BITS + batch
        counter = update_and_batch * 2**_REPLICA_BITS + replica
        self.counter = tf.cast(counter, tf.uint64)
        self.calls: dict[int, int] = {}


class _Generator(tf.Module):
    """Stands where a Dropout layer has its random generator."""

    def __init__(self, masks: Masks, layer: int):
        super().__init__(name="dropout_masks")
        self._masks, self._layer = masks, layer

    def _maybe_init(self) -> None:
        """Keras calls it when it builds a layer; there is no state to make."""

    def dropout(self, inputs, rate: float, noise_shape=None) -> tf.Tensor:
        dropped = min(round(rate * _CHANCES), _CHANCES - 1)
        if dropped == 0:
            return inputs
        key, counter = self._masks._key_and_counter(self._layer)
        shape = tf.shape(inputs) if noise_shape is None else noise_shape
        keep = _random_uint16(shape, key, counter) >= tf.constant(dropped, tf.uint16)
        return _scale_kept(inputs, keep, _CHANCES / (_CHANCES - dropped))


def _random_uint16(shape: tf.Tensor, key: int, counter: tf.Tensor) -> tf.Tensor:
    """The same bits for the same `key` and `counter`, a uint64 scalar."""
    size = tf.reduce_prod(shape)
    words = tf.raw_ops.StatelessRandomUniformFullIntV2(
        shape=[(size + 1) // 2],
        key=tf.constant([key], tf.uint64),
        # The lower half counts the blocks of four words within this draw.
        counter=tf.stack([tf.zeros([], tf.uint64), counter]),
        alg=tf.constant(_PHILOX),  # Each device would have a default of its own.
        dtype=tf.uint32,
    )
    return tf.reshape(tf.reshape(tf.bitcast(words, tf.uint16), [-1])[:size], shape)


def _scale_kept(inputs: tf.Tensor, keep: tf.Tensor, scale: float) -> tf.Tensor:
    """`inputs` times `scale` where `keep` is true, else zero.

    TensorFlow's own gradient would hold the mask as floats until the backward pass,
    in place of one byte a value.
    """

    @tf.custom_gradient
    def scaled(values):
        def gradient(upstream):
            return upstream * (tf.cast(keep, upstream.dtype) * scale)

        return values * (tf.cast(keep, values.dtype) * scale), gradient

    return scaled(inputs)
