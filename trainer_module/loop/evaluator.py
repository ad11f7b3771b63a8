"""Validation in the loop: loss and metrics of the eval split, weights untouched."""

import dataclasses
from collections.abc import Iterable

import numpy as np
import tensorflow as tf

from trainer_module.input.batching import ABSENT
from trainer_module.input.records import Rows
from trainer_module.loop.events import Sample
from trainer_module.tasks.base import Task

# Batches, and the row numbers of each: `ABSENT` where there is none.
Numbered = tuple[Iterable, Iterable[np.ndarray]]


@dataclasses.dataclass(frozen=True)
class Validation:
    """What one validation finds.

    Attributes:
      metrics: "loss", the mean over real labels in nats (NaN without one), and the
        task's own, if there are predictions.
      samples: some rows and what the model makes of them.
    """

    metrics: dict[str, float]
    samples: tuple[Sample, ...] = ()


class Evaluator:
    """Runs a task's model over the eval split.

    Args:
      task: built inside the scope of `strategy`.
      strategy: that of the batches.
      element_spec: of a batch, as the dataset gives it.
      rows: the eval split.
      samples: how many rows are shown with their predictions.
    """

    def __init__(
        self,
        *,
        task: Task,
        strategy: tf.distribute.Strategy,
        element_spec,
        rows: Rows,
        samples: int = 0,
    ):
        self._task, self._strategy, self._rows = task, strategy, rows
        self._samples = samples
        signature = {"input_signature": [element_spec], "autograph": False}
        self._evaluate = tf.function(self._evaluate_step, **signature)
        self._write = tf.function(self._write_step, **signature)

    def evaluate(self, all_rows: Numbered, some_rows: Numbered | None) -> Validation:
        """Loss and metrics.

        Args:
          all_rows: each row of the split once.
          some_rows: those for which a task that writes text shall write it.
        """
        loss_sum = weight_sum = 0.0
        predictions: dict[int, np.ndarray] = {}
        for batch, numbers in zip(*all_rows, strict=True):
            loss, weight, predicted = self._evaluate(batch)
            loss_sum, weight_sum = loss_sum + float(loss), weight_sum + float(weight)
            if not self._task.writes_text:
                _note(predictions, numbers, predicted)
        if self._task.writes_text and some_rows:
            for batch, numbers in zip(*some_rows, strict=True):
                _note(predictions, numbers, self._write(batch))
        loss = loss_sum / weight_sum if weight_sum else float("nan")
        return self._judge(loss, predictions)

    def _evaluate_step(self, batch):
        loss, weight, predictions = self._strategy.run(
            self._task.evaluate, args=(batch,)
        )
        total = tf.distribute.ReduceOp.SUM
        return (
            self._strategy.reduce(total, loss, axis=None),
            self._strategy.reduce(total, weight, axis=None),
            self._strategy.gather(predictions, axis=0),
        )

    def _write_step(self, batch):
        written = self._strategy.run(self._task.write, args=(batch,))
        return self._strategy.gather(written, axis=0)

    def _judge(self, loss: float, predictions: dict[int, np.ndarray]) -> Validation:
        if not predictions:
            return Validation({"loss": loss})
        numbers = sorted(predictions)
        texts = self._task.read_predictions(np.stack([predictions[n] for n in numbers]))
        targets = [self._rows.targets[n].decode("utf-8") for n in numbers]
        metrics = {"loss": loss, **self._task.metrics(targets, texts)}
        shown = range(0, len(numbers), max(1, len(numbers) // max(1, self._samples)))
        shown = shown[: self._samples]
        ids = [self._rows.input_ids[numbers[i]].numpy() for i in shown]
        sources = self._task.read_inputs(ids) if ids else []
        samples = tuple(
            Sample(source, targets[i], texts[i])
            for i, source in zip(shown, sources, strict=True)
        )
        return Validation(metrics, samples)


def _note(found: dict[int, np.ndarray], numbers: np.ndarray, predicted) -> None:
    for number, row in zip(numbers, predicted.numpy(), strict=True):
        if number != ABSENT:
            found[int(number)] = row
