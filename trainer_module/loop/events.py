"""What the loop tells those who listen: TensorBoard, the terminal, the run's record."""

import dataclasses
from collections.abc import Mapping
from typing import Protocol


@dataclasses.dataclass(frozen=True)
class Update:
    """One update of the weights.

    Attributes:
      number: updates done so far, this one included.
      updates: how many the training has at most.
      epoch: from 1.
      loss: mean over the update's real labels, in nats.
      learning_rate: that of this update.
      gradient_norm: global norm, before clipping.
      loss_scale: 1 but for mixed_float16.
      examples: rows, without those that only fill a batch.
      real_tokens: input and label tokens, without padding.
      padded_tokens: with padding.
      seconds: since the update before.
      waiting_seconds: the part of it that the loop waited for input.
    """

    number: int
    updates: int
    epoch: int
    loss: float
    learning_rate: float
    gradient_norm: float
    loss_scale: float
    examples: int
    real_tokens: int
    padded_tokens: int
    seconds: float
    waiting_seconds: float


@dataclasses.dataclass(frozen=True)
class Sample:
    """One row of the eval split, its target, and what the model makes of it."""

    text: str
    target: str
    prediction: str


@dataclasses.dataclass(frozen=True)
class Epoch:
    """One epoch and the validation after it.

    Attributes:
      number: from 1.
      epochs: how many the training has at most.
      updates: done so far.
      loss: mean of the epoch's training loss, in nats.
      metrics: of the eval split, "loss" and the task's.
      best: whether it is the best so far, by `train.keep_best`.
      seconds: for training and validation.
      samples: what the model makes of a few rows.
    """

    number: int
    epochs: int
    updates: int
    loss: float
    metrics: Mapping[str, float]
    best: bool
    seconds: float
    samples: tuple[Sample, ...] = ()


class Listener(Protocol):
    def updated(self, update: Update) -> None:
        """Called after an update."""

    def saving(self) -> None:
        """Called before a checkpoint is saved."""

    def validated(self, epoch: Epoch) -> None:
        """Called after the validation of an epoch."""
