"""The inner loop: batches in, updated weights out. Knows no epoch and no metric."""

import contextlib
import dataclasses
from collections.abc import Sequence

import numpy as np
import tensorflow as tf
import tf_keras

from trainer_module.loop.dropout import Masks
from trainer_module.loop.precision import LossScale
from trainer_module.tasks.base import Batch, Task


@dataclasses.dataclass(frozen=True)
class Report:
    """What one update tells.

    Attributes:
      loss_sum: over the update's real labels, in nats.
      weight_sum: how many labels these are.
      gradient_norm: global norm before clipping; not finite if nothing was updated.
      learning_rate: that of this update.
      loss_scale: 1 where there is none.
      stop: whether some worker was asked to end.
    """

    loss_sum: float
    weight_sum: float
    gradient_norm: float
    learning_rate: float
    loss_scale: float
    stop: bool

    @classmethod
    def of(cls, values: tf.Tensor) -> "Report":
        """Waits for the device, and fetches what `Trainer.update` gave."""
        *numbers, stop = values.numpy().tolist()
        return cls(*numbers, stop=stop > 0)


class Trainer:
    """Updates a task's weights under a strategy.

    An update takes one batch or several. The gradient is that of the summed loss over
    all of their real labels, divided by how many these are; it is summed over batches
    and replicas first, then clipped. So it does not depend on how the rows are spread.

    Args:
      task: built inside the scope of `strategy`.
      optimizer: likewise; `apply` as `AdamW` has it.
      strategy: the strategy of the batches given to `update`.
      element_spec: of a batch, as the dataset gives it.
      clip_norm: largest global norm of the summed gradient.
      xla: compile the gradient with XLA too. Each new shape of a batch then costs
        seconds once; on a CPU the steps gain nothing.
      accumulates: whether an update may take several batches. One copy of the
        gradient is kept then.
      masks: where dropout gets its masks from; None leaves it to Keras.
      loss_scale: for float16; built inside the scope.
    """

    def __init__(
        self,
        *,
        task: Task,
        optimizer: tf_keras.optimizers.Optimizer,
        strategy: tf.distribute.Strategy,
        element_spec,
        clip_norm: float,
        xla: bool,
        accumulates: bool = False,
        masks: Masks | None = None,
        loss_scale: LossScale | None = None,
    ):
        self._task, self._optimizer, self._strategy = task, optimizer, strategy
        self._clip_norm, self._masks, self._scale = clip_norm, masks, loss_scale
        self._variables = task.model.trainable_variables
        self._alone = strategy.num_replicas_in_sync == 1
        # A TPU compiles all that a replica does by itself.
        self._xla = xla and not isinstance(strategy, tf.distribute.TPUStrategy)
        with strategy.scope():
            optimizer.build(self._variables)
            self._sums = self._make_sums() if accumulates else None
        number, flags = tf.TensorSpec([], tf.int32), tf.TensorSpec([2], tf.float32)
        self._whole = _compiled(self._on_replicas(self._update), element_spec, flags)
        self._add = _compiled(self._on_replicas(self._accumulate), element_spec, number)
        self._close = _compiled(self._on_replicas(self._update_from_sums), flags)
        self._only = _compiled(self._on_replicas(self._gradients_alone), element_spec)

    @property
    def updates(self) -> int:
        return int(self._optimizer.iterations.numpy())

    @property
    def variables(self) -> dict[str, list[tf.Variable]]:
        """All that an update reads and changes, but the frozen weights."""
        scale = self._scale.variables if self._scale else []
        return {
            "weights": list(self._variables),
            "optimizer": [*self._optimizer.variables],
            "loss_scale": scale,
        }

    def update(self, batches: Sequence, *, stop: bool = False) -> tf.Tensor:
        """Moves the weights once.

        Args:
          batches: one or, if the trainer accumulates, more.
          stop: whether this worker wants to end; all of them hear of it.

        Returns:
          What `Report.of` reads. On an accelerator it may not be computed yet.
        """
        return self._run(batches, tf.constant([float(stop), 0.0]))

    def try_out(self, batch) -> None:
        """Does all the work of an update, and leaves everything as it was."""
        counters = [self._optimizer.iterations]
        counters += self._scale.variables if self._scale else []
        before = [counter.numpy() for counter in counters]
        self._run([batch], tf.constant([0.0, 1.0])).numpy()
        for counter, value in zip(counters, before, strict=True):
            counter.assign(value)

    def gradients(self, batch) -> list[tuple[str, np.ndarray]]:
        """(name of the weight, its gradient in nats a label) of one batch."""
        values = [gradient.numpy() for gradient in self._only(batch)]
        names = [variable.name for variable in self._variables]
        return list(zip(names, values, strict=True))

    def graph(self) -> tf.Graph:
        """What is computed for a batch; traced by this, if it was not yet."""
        step = self._whole if self._sums is None else self._add
        return step.get_concrete_function().graph

    def _run(self, batches: Sequence, flags: tf.Tensor) -> tf.Tensor:
        """Flags: whether this worker wants to end, and whether nothing shall move."""
        if self._sums is None:
            (batch,) = batches
            return self._whole(batch, flags)
        for number, batch in enumerate(batches):
            self._add(batch, tf.constant(number))
        return self._close(flags)

    def _on_replicas(self, function):
        def first(values):
            # Whatever is given back is the same on each replica.
            return self._strategy.experimental_local_results(values)[0]

        return lambda *args: tf.nest.map_structure(
            first, self._strategy.run(function, args=args)
        )

    # --- on each replica ----------------------------------------------------------

    def _update(self, batch: Batch, flags: tf.Tensor) -> tf.Tensor:
        sums, grads = self._gradients(batch, tf.constant(0))
        return self._finish(sums, grads, flags)

    def _gradients_alone(self, batch: Batch) -> list[tf.Tensor]:
        sums, grads = self._gradients(batch, tf.constant(0))
        scale = self._scale.factor.read_value() if self._scale else 1.0
        labels = tf.maximum(self._sum_over_replicas(sums)[1], 1.0) * scale
        return [g / labels for g in self._sum_over_replicas(grads)]

    def _accumulate(self, batch: Batch, number: tf.Tensor) -> tf.Tensor:
        sums, grads = self._gradients(batch, number)
        for total, part in zip(self._sums, [sums, *grads], strict=True):
            total.assign_add(part)
        return number

    def _update_from_sums(self, flags: tf.Tensor) -> tf.Tensor:
        sums, *grads = [total.read_value() for total in self._sums]
        report = self._finish(sums, grads, flags)
        for total in self._sums:
            total.assign(tf.zeros(total.shape))
        return report

    def _gradients(self, batch: Batch, number: tf.Tensor):
        """([loss_sum, weight_sum], gradients of the scaled loss sum) of one batch."""
        compute = self._loss_and_gradients
        if self._xla:
            compute = tf.function(compute, jit_compile=True, autograph=False)
        replica = tf.distribute.get_replica_context().replica_id_in_sync_group
        return compute(batch, number, tf.convert_to_tensor(replica))

    def _loss_and_gradients(self, batch: Batch, number, replica):
        masks = contextlib.nullcontext()
        if self._masks:
            masks = self._masks.at(self._optimizer.iterations, number, replica)
        with tf.GradientTape(watch_accessed_variables=False) as tape, masks:
            tape.watch(self._variables)  # Frozen ones cost nothing then.
            loss_sum, weight_sum = self._task.loss_sums(batch, training=True)
            scaled = loss_sum * self._scale.factor if self._scale else loss_sum
        grads = tape.gradient(
            scaled, self._variables, unconnected_gradients=tf.UnconnectedGradients.ZERO
        )
        dense = [tf.convert_to_tensor(gradient) for gradient in grads]
        return tf.stack([loss_sum, weight_sum]), dense

    def _finish(self, sums: tf.Tensor, grads: list[tf.Tensor], flags: tf.Tensor):
        """Sums over replicas, clips, moves; gives what `Report.of` reads."""
        sums = self._sum_over_replicas(tf.concat([sums, flags], axis=0))
        grads = self._sum_over_replicas(grads)
        loss_sum, weight_sum, stop, still = tf.unstack(sums)
        scale = self._scale.factor.read_value() if self._scale else tf.constant(1.0)
        divisor = tf.maximum(weight_sum, 1.0) * scale
        norm = tf.linalg.global_norm(grads) / divisor
        finite = tf.math.is_finite(norm) & tf.math.is_finite(loss_sum)
        clipped = self._clip_norm / tf.maximum(norm, self._clip_norm) / divisor
        factor = tf.where(finite & (still == 0.0), clipped, 0.0)
        self._optimizer.apply(grads, self._variables, factor)
        rate = tf.cast(self._optimizer.learning_rate, tf.float32)
        if self._scale:
            self._scale.update(finite)
        return tf.stack([loss_sum, weight_sum, norm, rate, scale, stop])

    def _sum_over_replicas(self, values):
        if self._alone:
            return values
        context = tf.distribute.get_replica_context()
        return context.all_reduce(tf.distribute.ReduceOp.SUM, values)

    def _make_sums(self) -> list[tf.Variable]:
        shapes = [tf.TensorShape([2]), *(v.shape for v in self._variables)]
        options = {}
        if not self._alone:
            options = {
                "synchronization": tf.VariableSynchronization.ON_READ,
                "aggregation": tf.VariableAggregation.SUM,
            }
        return [tf.Variable(tf.zeros(s), trainable=False, **options) for s in shapes]


def _compiled(function, *signature):
    return tf.function(function, input_signature=signature, autograph=False)
