"""The inner loop: batches in, updated weights out. Knows no epoch and no metric."""

from collections.abc import Iterable

import tensorflow as tf
import tf_keras

from trainer_module import features, losses
from trainer_module.tasks.base import Batch, Task


class Trainer:
    """Updates a task's weights under a strategy.

    Each replica computes the gradient of (its loss sum / the global count of real
    labels); the replicas' gradients are summed, so the update is that of one device
    on the whole batch, however the labels are spread.

    Args:
      task: built inside the scope of `strategy`.
      optimizer: likewise.
      strategy: the strategy of the datasets given to `train`.
      clip_norm: largest global norm of the summed gradient.
      xla: compile the gradient with XLA too. Each new shape of a batch then costs
        seconds once; on a CPU the steps gain nothing.
    """

    def __init__(
        self,
        *,
        task: Task,
        optimizer: tf_keras.optimizers.Optimizer,
        strategy: tf.distribute.Strategy,
        clip_norm: float,
        xla: bool,
    ):
        self._task, self._optimizer = task, optimizer
        self._strategy, self._clip_norm, self._xla = strategy, clip_norm, xla
        self._variables = task.model.trainable_variables
        self._alone = strategy.num_replicas_in_sync == 1
        with strategy.scope():
            optimizer.build(self._variables)
        self._compiled = None

    @property
    def updates(self) -> int:
        return int(self._optimizer.iterations.numpy())

    def train(self, batches: Iterable, element_spec) -> Iterable[tuple]:
        """Yields (loss_sum, weight_sum), float32 scalars, after each update."""
        if self._compiled is None:
            self._compiled = tf.function(
                self._step, input_signature=[element_spec], autograph=False
            )
        for batch in batches:
            yield self._compiled(batch)

    def _step(self, batch):
        sums = self._strategy.run(self._update, args=(batch,))
        return tuple(
            self._strategy.reduce(tf.distribute.ReduceOp.SUM, s, axis=None)
            for s in sums
        )

    def _update(self, batch: Batch):
        total = self._sum_over_replicas(losses.count(batch[features.LABELS]))
        gradients, apply = self._gradients, self._apply
        if self._xla:
            gradients = tf.function(gradients, jit_compile=True, autograph=False)
        if self._alone:
            # Fused, the update takes a quarter of the time. Its shapes never change,
            # so it is compiled once. Replicas meet inside it, which XLA cannot do.
            apply = tf.function(apply, jit_compile=True, autograph=False)
        loss_sum, weight_sum, grads = gradients(batch, total)
        apply(self._sum_over_replicas(grads))
        return loss_sum, weight_sum

    def _apply(self, grads: list[tf.Tensor]) -> None:
        grads, _ = tf.clip_by_global_norm(grads, self._clip_norm)
        self._optimizer.apply_gradients(
            zip(grads, self._variables, strict=True), skip_gradients_aggregation=True
        )

    def _gradients(self, batch: Batch, total: tf.Tensor):
        with tf.GradientTape() as tape:
            loss_sum, weight_sum = self._task.loss_sums(batch, training=True)
            loss = loss_sum / tf.maximum(total, 1.0)
        grads = tape.gradient(
            loss, self._variables, unconnected_gradients=tf.UnconnectedGradients.ZERO
        )
        return loss_sum, weight_sum, [tf.convert_to_tensor(g) for g in grads]

    def _sum_over_replicas(self, values):
        if self._alone:
            return values
        context = tf.distribute.get_replica_context()
        return context.all_reduce(tf.distribute.ReduceOp.SUM, values)
