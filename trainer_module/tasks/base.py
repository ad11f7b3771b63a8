"""The contract between the loop, the export and a task."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
import tensorflow as tf
import tf_keras

Batch = Mapping[str, tf.Tensor]


class Task(Protocol):
    """One kind of fine-tuning, around one Keras model."""

    model: tf_keras.Model
    pad_id: int
    max_width: int | None  # The most tokens that the model reads; None for any number.
    writes_text: bool  # Then predictions take a second, slower pass: `write`.

    def loss_sums(self, batch: Batch, *, training: bool) -> tuple[tf.Tensor, tf.Tensor]:
        """(loss_sum, weight_sum) of a padded batch; see `losses.cross_entropy`."""

    def evaluate(self, batch: Batch) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """(loss_sum, weight_sum, predictions) of a padded batch, in one pass.

        The predictions are int32 [rows, 1], or [rows, 0] of a task that writes text.
        """

    def write(self, batch: Batch) -> tf.Tensor:
        """Predictions of a task that writes text: int32 [rows, n], n fixed."""

    def read_predictions(self, predictions: np.ndarray) -> list[str]:
        """int32 [rows, n] -> what the served model would answer."""

    def read_inputs(self, input_ids: Sequence[np.ndarray]) -> list[str]:
        """Ids of some rows -> about the text that the model read."""

    def metrics(
        self, targets: Sequence[str], predictions: Sequence[str]
    ) -> dict[str, float]:
        """The task's `settings.METRICS`, by the Evaluator's own functions."""

    def embed(self, batch: Batch) -> tf.Tensor:
        """float32 [rows, width]: the mean of the encoder's last states."""

    def label_vectors(self) -> np.ndarray | None:
        """float [classes, width]: what a text's mean is compared with, if anything."""

    def answer(self, text: tf.Tensor) -> dict[str, tf.Tensor]:
        """string [rows], at least one -> the served outputs, [rows, ...] each."""

    def encode(self, text: tf.Tensor) -> tf.RaggedTensor:
        """string [rows] -> the ids that the model reads."""

    def save_pretrained(self, path: str) -> None:
        """Writes the model to a folder in Hugging Face's format, without tokenizer."""

    def serving_module(self) -> tf.Module:
        """What `answer` needs and a SavedModel must hold: variables and files."""


def mean_of_real(states: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """Mean over the real tokens: [rows, tokens, width], [rows, tokens] -> float32."""
    real = tf.cast(mask, tf.float32)[:, :, None]
    # A row that is all padding has no token to divide by.
    count = tf.maximum(tf.reduce_sum(real, axis=1), 1.0)
    return tf.reduce_sum(tf.cast(states, tf.float32) * real, axis=1) / count
