"""A training as TensorBoard shows it: what is written, and when."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from trainer_module.loop.events import Epoch, Update
from trainer_module.monitoring import hyperparameters
from trainer_module.monitoring.board import Board
from trainer_module.monitoring.profile import Profile
from trainer_module.monitoring.projector import Embedding
from trainer_module.settings import TrainerSettings

Named = Iterable[tuple[str, Any]]


class Watch:
    """Listens to one training and writes what it hears.

    Args:
      folder: of this training alone, and the same after a resume.
      settings: of the training.
      updates_before: done by earlier processes.
      weights: gives (name, variable) pairs.
      gradients: gives (name, array) pairs.
    """

    def __init__(
        self,
        folder: str,
        settings: TrainerSettings,
        *,
        updates_before: int,
        weights: Callable[[], Named],
        gradients: Callable[[], Named],
    ):
        self.folder, self._resumed = folder, bool(updates_before)
        self._histograms = settings.train.tensorboard.histograms
        self._weights, self._gradients = weights, gradients
        self._board = Board(folder, settings=settings, resumed_at=updates_before)
        self._profile = Profile(
            folder, updates=settings.train.tensorboard.profile_updates
        )
        self._closed = False
        self._board.started(hyperparameters.of(settings))

    def graph(self, trace: Callable[[], tf.Graph]) -> None:
        """Writes the graph of a step, once a training."""
        if not self._resumed:
            self._board.graph(trace)

    def updated(self, update: Update) -> None:
        self._profile.updated(update)
        self._board.updated(update)

    def saving(self) -> None:
        self._board.saving()

    def validated(self, epoch: Epoch) -> None:
        if self._histograms:
            arrays = ((name, v.numpy()) for name, v in self._weights())
            self._board.histograms("weights", arrays)
            self._board.histograms("gradients", self._gradients())
        self._board.validated(epoch)

    def finished(
        self, metrics: Mapping[str, float], embeddings: Sequence[Embedding]
    ) -> None:
        """Writes what belongs to the exported weights."""
        self._board.finished(metrics)
        self._board.embeddings(embeddings)

    def close(self) -> None:
        """Ends the writing; a second call does nothing."""
        if not self._closed:
            self._closed = True
            self._profile.close()
            self._board.close()

    def copy_to(self, folder: str) -> None:
        """Copies what was written, once it is closed."""
        for path, _, names in tf.io.gfile.walk(self.folder):
            target = os.path.join(folder, os.path.relpath(path, self.folder))
            tf.io.gfile.makedirs(target)
            for name in names:
                tf.io.gfile.copy(
                    os.path.join(path, name), os.path.join(target, name), overwrite=True
                )
