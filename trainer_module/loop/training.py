"""Puts a training together from the parts that the loop is cut into."""

import dataclasses
import itertools
from collections.abc import Callable, Sequence

import numpy as np
import tensorflow as tf

from trainer_module import adapters, features, linear_probe
from trainer_module.checkpoints.clock import Every
from trainer_module.checkpoints.store import CheckpointError, Store
from trainer_module.input import batching
from trainer_module.input.batching import BatchPlan
from trainer_module.input.records import Rows
from trainer_module.loop import (
    keeper,
    memory,
    memory_probe,
    optimizers,
    precision,
    stopping,
    strategies,
)
from trainer_module.loop.best import Best
from trainer_module.loop.controller import Controller, Progress, TrainingDiverged
from trainer_module.loop.dropout import Masks
from trainer_module.loop.evaluator import Evaluator, Validation
from trainer_module.loop.events import Listener
from trainer_module.loop.feed import Feed
from trainer_module.loop.keeper import Keeper
from trainer_module.loop.trainer import Report, Trainer
from trainer_module.progress import Refusal, report
from trainer_module.settings import TrainerSettings
from trainer_module.tasks import building


@dataclasses.dataclass(frozen=True)
class Data:
    """What is learned from and judged by.

    Attributes:
      train, held_out: the splits.
      label_names_path: of a classification; see `tasks.building.build`.
      warm_start_dir: Format-HF of the model to start from; None for the checkpoint.
    """

    train: Rows
    held_out: Rows
    label_names_path: str | None = None
    warm_start_dir: str | None = None


class Training:
    """One training under a strategy, from its checkpoint on if there is one.

    Args:
      settings: all of it.
      data: the splits.
      strategy: from `strategies.build`.
      store: where it is kept, for each worker the same.
    """

    def __init__(
        self,
        settings: TrainerSettings,
        data: Data,
        *,
        strategy: tf.distribute.Strategy,
        store: Store,
    ):
        train = settings.train
        self.settings, self.data, self.strategy = settings, data, strategy
        self.store, self._train = store, train
        tf.keras.utils.set_random_seed(train.seed)
        with precision.policy(train.precision), strategy.scope():
            self.task = building.build(
                settings,
                data.label_names_path,
                warm_start_dir=data.warm_start_dir,
            )
            adapters.prepare(self.task.model, train)
        self._feed, self._held_out = (
            Feed(rows, strategy=strategy, pad_id=self.task.pad_id)
            for rows in (data.train, data.held_out)
        )
        self.updates = self._updates_per_epoch() * train.epochs
        self.trainer = self._make_trainer()
        self.progress = Progress(best=Best(train.keep_best, train.early_stopping))
        self._keeper = Keeper(
            store,
            self.trainer.variables,
            due=Every(train.checkpoint_minutes).due,
            writes=strategies.is_chief(strategy),
        )

    def resume(self) -> bool:
        """Goes on from the newest checkpoint; whether there was one."""
        saved = self.store.newest()
        if saved is not None:
            self.progress.restore(saved.facts)
            if saved.arrays:  # A finished training keeps its best weights alone.
                keeper.restore(self.trainer.variables, saved.arrays)
        self._meet()  # First: in what follows, a worker waits for all the others.
        if saved is None:
            self._start_head()
        return saved is not None

    def run(self, listeners: Sequence[Listener] = ()) -> None:
        """Trains to the end; the task then holds the best weights.

        Raises:
          Refusal: if the loss is no longer finite, or was never a number.
          Stopped: if the process was asked to end; all is saved.
        """
        train = self._train
        if self.progress.epoch < train.epochs:
            self._tell("memory", self._check_memory())
        controller = Controller(
            progress=self.progress,
            epochs=train.epochs,
            updates=self.updates,
            windows=lambda epoch, first: self._feed.windows(
                self.plan(epoch), first=first, size=train.accumulate_batches
            ),
            update=self._update,
            validate=self._make_validate(),
            metric=train.keep_best.metric,
            keeper=self._keeper,
            names=self._feed.names,
            listeners=listeners,
            stopping=stopping.requested,
            skips_overflow=train.precision == "mixed_float16",
        )
        try:
            controller.run()
        except (TrainingDiverged, CheckpointError) as error:
            raise Refusal(str(error)) from error
        except tf.errors.ResourceExhaustedError as error:
            raise memory.explain_exhausted(error, self._largest_batch()) from error
        self._take_best_weights()
        self._keeper.finish(self.progress.facts(), update=self.progress.update)

    @property
    def best_metrics(self) -> dict[str, float]:
        """Of the eval split, after the best epoch."""
        return self.progress.history[self.progress.best.epoch - 1]["metrics"]

    def plan(self, epoch: int) -> BatchPlan:
        """The batches of an epoch, counted from 0.

        Raises:
          Refusal: if the longest rows do not fit into a batch.
        """
        try:
            return batching.plan_training(
                self.data.train.lengths,
                seed=self._train.seed,
                epoch=epoch,
                **self._batch_limits(),
            )
        except ValueError as error:
            raise Refusal(str(error)) from error

    def gradients(self) -> list[tuple[str, np.ndarray]]:
        """Of the first batch of the first epoch, with the weights as they are now."""
        (window,) = itertools.islice(
            self._feed.windows(self.plan(0), first=0, size=1), 1
        )
        return self.trainer.gradients(window.batches[0])

    def _start_head(self) -> None:
        """By `train.head_start`; a warm start brings a head that has learned."""
        if self._train.head_start == "random" or self.data.warm_start_dir:
            return
        with precision.policy("float32"):
            alone = building.build(self.settings, self.data.label_names_path)
        found = linear_probe.fit(alone, self.data.train, classes=len(alone.label_names))
        head = self.task.model.classifier.weights
        with self.strategy.scope():
            for variable, values in zip(head, found, strict=True):
                variable.assign(self._agreed(values))
        self._tell("note", "The head starts as a linear probe of the train split.")

    def _tell(self, kind: str, message: str) -> None:
        """Once, however many workers there are."""
        if strategies.is_chief(self.strategy):
            report(kind, message=message)

    def _agreed(self, values: np.ndarray) -> tf.Tensor:
        """The mean of all workers' values: their processors may round differently."""
        if not strategies.has_workers(self.strategy):
            return tf.constant(values)
        return self.strategy.reduce(
            tf.distribute.ReduceOp.MEAN,
            self.strategy.run(lambda: tf.constant(values)),
            axis=None,
        )

    def _check_memory(self) -> str:
        """Refuses batches that do not fit; gives how that is known."""
        batch, model = self._largest_batch(), self.task.model
        if strategies.has_workers(self.strategy):
            # One with less memory would measure alone, and wait for the others.
            return "The memory of a batch was not checked: there are several workers."
        return memory_probe.check(
            self._try_out,
            batch,
            memory.Shape.of(model.config, model.count_params()),
            on_cpu=strategies.on_cpu(),
        )

    def _largest_batch(self) -> memory.Batch:
        rows, *widths = max(self.plan(0).shapes, key=lambda s: s[0] * sum(s[1:]))
        replicas = self.strategy.num_replicas_in_sync
        return memory.Batch(rows // replicas, tuple(widths), self._train, replicas)

    def _try_out(self, rows: int, widths: tuple[int, ...]) -> None:
        """The work of a batch of so many rows on each replica; nothing moves."""
        ids = tf.fill([rows, widths[0]], self.task.pad_id + 1)
        labels = tf.zeros([rows, *widths[1:]], tf.int32)
        batch = {features.INPUT_IDS: ids, features.LABELS: labels}
        self.trainer.try_out(
            self.strategy.experimental_distribute_values_from_function(lambda _: batch)
        )

    def _batch_limits(self) -> dict:
        return {
            "batch_size": self._train.batch_size,
            "max_batch_tokens": self._train.max_batch_tokens,
            "replicas": self.strategy.num_replicas_in_sync,
            "max_width": self.task.max_width,
            "max_shapes": self._max_shapes(),
        }

    def _max_shapes(self) -> int:
        most = batching.MAX_SHAPES
        if strategies.on_cpu():
            most = batching.MAX_SHAPES_UNCOMPILED
        return most[len(self.data.train.lengths)]

    def _updates_per_epoch(self) -> int:
        """Each epoch has as many batches as the first."""
        return -(-len(self.plan(0)) // self._train.accumulate_batches)

    def _make_trainer(self) -> Trainer:
        train = self._train
        with self.strategy.scope():
            optimizer = optimizers.build(train, total_updates=self.updates)
            loss_scale = precision.loss_scale_for(train)
        return Trainer(
            task=self.task,
            optimizer=optimizer,
            strategy=self.strategy,
            element_spec=self._feed.element_spec(self.plan(0)),
            clip_norm=train.clip_norm,
            xla=not strategies.on_cpu(),
            accumulates=train.accumulate_batches > 1,
            masks=Masks(self.task.model, seed=train.seed) if train.dropout else None,
            loss_scale=loss_scale,
        )

    def _update(self, window, *, stop: bool) -> Callable[[], Report]:
        values = self.trainer.update(window.batches, stop=stop)
        return lambda: Report.of(values)

    def _make_validate(self) -> Callable[[], Validation]:
        rows = self.data.held_out
        everything = batching.plan_validation(rows.lengths, **self._batch_limits())
        some = self._decoded_rows()
        evaluator = Evaluator(
            task=self.task,
            strategy=self.strategy,
            element_spec=self._held_out.element_spec(everything),
            rows=rows,
            samples=self._train.tensorboard.sample_outputs,
        )

        def validate() -> Validation:
            return evaluator.evaluate(
                self._held_out.numbered(everything),
                self._held_out.numbered(some) if some else None,
            )

        return validate

    def _decoded_rows(self) -> BatchPlan | None:
        """Those of the eval split for which T5 writes its texts."""
        if not (self.task.writes_text and self._train.max_decoded_rows):
            return None
        held_out = self.data.held_out
        return batching.plan_validation(
            held_out.lengths,
            only=batching.spread(len(held_out), self._train.max_decoded_rows),
            **self._batch_limits(),
        )

    def _take_best_weights(self) -> None:
        best = self.progress.best
        if best.epoch is None:
            raise Refusal(
                f"train.keep_best: {self._train.keep_best.metric} was not a number "
                "after any epoch, so no epoch is the best. Is the eval split empty of "
                "targets? Otherwise lower `train.learning_rate`."
            )
        weights = {"weights": self.trainer.variables["weights"]}
        keeper.restore(weights, self._keeper.best_arrays(epoch=best.epoch))

    def _meet(self) -> None:
        """Waits for the other workers, and refuses to go on from unlike places."""
        if not strategies.has_workers(self.strategy):
            return
        here = self.progress.update
        mean = float(self._agreed(np.float32(here)))
        if mean != here:
            raise Refusal(
                f"runner.strategy: this worker would go on from update {here}, and "
                f"others from elsewhere ({mean:.1f} on average). All of them have to "
                "see the same `runner.root`: put it on a disk that they share."
            )
