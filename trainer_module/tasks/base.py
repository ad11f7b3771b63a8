"""The contract between the loop, the export and a task."""

from collections.abc import Mapping
from typing import Protocol

import tensorflow as tf
import tf_keras

from trainer_module.settings import TrainerSettings

Batch = Mapping[str, tf.Tensor]


class Task(Protocol):
    """One kind of fine-tuning, around one Keras model."""

    model: tf_keras.Model
    pad_id: int

    def loss_sums(self, batch: Batch, *, training: bool) -> tuple[tf.Tensor, tf.Tensor]:
        """(loss_sum, weight_sum) of a padded batch; see `losses.cross_entropy`."""

    def answer(self, text: tf.Tensor) -> dict[str, tf.Tensor]:
        """string [rows], at least one -> the served outputs, [rows, ...] each."""

    def encode(self, text: tf.Tensor) -> tf.RaggedTensor:
        """string [rows] -> the ids that the model reads."""

    def serving_module(self) -> tf.Module:
        """What `answer` needs and a SavedModel must hold: variables and files."""


def build(settings: TrainerSettings, label_names_path: str | None) -> Task:
    """Loads the checkpoint as the task's model. Call it inside the strategy's scope."""
    if settings.task == "classification":
        from trainer_module.tasks.classification import Classification

        if label_names_path is None:
            raise ValueError("Classification needs the file of label names.")
        return Classification(settings, label_names_path)
    from trainer_module.tasks.summarization import Summarization

    return Summarization(settings)
