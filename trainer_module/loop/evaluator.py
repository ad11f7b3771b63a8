"""Validation in the loop: the mean loss over the eval split, weights untouched."""

from collections.abc import Iterable

import tensorflow as tf

from trainer_module.tasks.base import Task


class Evaluator:
    """Mean loss of a task's model, each real label counted once."""

    def __init__(self, *, task: Task, strategy: tf.distribute.Strategy):
        self._task, self._strategy = task, strategy
        self._compiled = None

    def evaluate(self, batches: Iterable, element_spec) -> float:
        """Mean loss in nats; NaN if there is no real label."""
        if self._compiled is None:
            self._compiled = tf.function(
                self._step, input_signature=[element_spec], autograph=False
            )
        sums = [self._compiled(batch) for batch in batches]
        loss_sum = sum(float(loss) for loss, _ in sums)
        weight_sum = sum(float(weight) for _, weight in sums)
        return loss_sum / weight_sum if weight_sum else float("nan")

    def _step(self, batch):
        sums = self._strategy.run(
            lambda b: self._task.loss_sums(b, training=False), args=(batch,)
        )
        return tuple(
            self._strategy.reduce(tf.distribute.ReduceOp.SUM, s, axis=None)
            for s in sums
        )
