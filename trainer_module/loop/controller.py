"""The outer loop: plain Python, no graph code, no model knowledge."""

import dataclasses
import math
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from trainer_module.loop.best import Best
from trainer_module.loop.events import Epoch, Listener, Sample, Update
from trainer_module.loop.stopping import Stopped

_NAMED_ROWS = 8


class TrainingDiverged(Exception):
    """The loss is no longer finite; running the same training again cannot help."""


class Window(Protocol):
    """The batches of one update; see `feed.Window`."""

    next_batch: int
    examples: int
    real_tokens: int
    padded_tokens: int
    waiting_seconds: float
    rows: Any


class Report(Protocol):
    """What one update tells; see `trainer.Report`."""

    loss_sum: float
    weight_sum: float
    gradient_norm: float
    learning_rate: float
    loss_scale: float
    stop: bool


class Validation(Protocol):
    """What one validation finds; see `evaluator.Validation`."""

    metrics: dict[str, float]
    samples: tuple[Sample, ...]


class Keeper(Protocol):
    """Where a training is kept; see `keeper.Keeper`."""

    def due(self) -> bool:
        """Whether it is time to save."""

    def save(self, facts: dict[str, Any], *, update: int, wait: bool = False) -> None:
        """Saves weights, optimizer and facts; `wait` returns when they are written."""

    def save_best(self, facts: dict[str, Any], *, update: int) -> None:
        """Keeps these weights as the best ones."""


@dataclasses.dataclass
class Progress:
    """How far a training is: JSON, but for `best`.

    Attributes:
      update: updates done.
      epoch: the current one, from 0.
      batch: the next one of this epoch.
      loss_sum: of this epoch so far, in nats.
      weight_sum: of this epoch so far, in labels.
      examples, real_tokens, padded_tokens: of this epoch so far.
      update_seconds, waiting_seconds: of this epoch's updates so far.
      seconds: of this epoch so far, over all processes that worked on it.
      history: what the finished epochs told.
      best: which of them is the best.
    """

    best: Best
    update: int = 0
    epoch: int = 0
    batch: int = 0
    loss_sum: float = 0.0
    weight_sum: float = 0.0
    examples: int = 0
    real_tokens: int = 0
    padded_tokens: int = 0
    update_seconds: float = 0.0
    waiting_seconds: float = 0.0
    seconds: float = 0.0
    history: list[dict[str, Any]] = dataclasses.field(default_factory=list)

    def facts(self) -> dict[str, Any]:
        names = (f.name for f in dataclasses.fields(self) if f.name != "best")
        return {**{n: getattr(self, n) for n in names}, "best": self.best.facts()}

    def account(self, report: Report, update: Update) -> None:
        self.loss_sum += report.loss_sum
        self.weight_sum += report.weight_sum
        self.examples += update.examples
        self.real_tokens += update.real_tokens
        self.padded_tokens += update.padded_tokens
        self.update_seconds += update.seconds
        self.waiting_seconds += update.waiting_seconds

    def close(self, epoch: Epoch) -> None:
        """Notes a finished epoch; the next one begins."""
        seconds = max(self.update_seconds, 1e-9)
        self.history.append(
            {
                "epoch": epoch.number,
                "updates": epoch.updates,
                "loss": epoch.loss,
                "validation_loss": epoch.metrics["loss"],
                "metrics": dict(epoch.metrics),
                "best": epoch.best,
                "seconds": epoch.seconds,
                "examples_per_second": self.examples / seconds,
                "padding_share": 1.0 - self.real_tokens / max(self.padded_tokens, 1),
                "input_wait_share": self.waiting_seconds / seconds,
            }
        )
        self.epoch, self.batch = self.epoch + 1, 0
        self.loss_sum = self.weight_sum = self.seconds = 0.0
        self.examples = self.real_tokens = self.padded_tokens = 0
        self.update_seconds = self.waiting_seconds = 0.0

    def restore(self, facts: dict[str, Any]) -> None:
        for field in dataclasses.fields(self):
            if field.name != "best":
                setattr(self, field.name, facts[field.name])
        self.history = list(self.history)
        self.best.restore(facts["best"])


class Controller:
    """Runs the epochs from where the training is, and tells what happens.

    Args:
      progress: where to begin; moved on.
      epochs: how many there are at most.
      updates: how many there are at most, in all epochs.
      windows: (epoch from 0, first batch) -> its windows, in order.
      update: (window, stop) -> a function that waits for what the update tells.
      validate: () -> loss and metrics of the eval split.
      metric: which of them `progress.best` follows.
      keeper: where the training is kept.
      names: row numbers -> the rows' names, for a message.
      listeners: who is told.
      stopping: whether this process was asked to end.
      skips_overflow: whether an update whose gradient overflows is part of the plan.
      clock: seconds, monotonic.
    """

    def __init__(
        self,
        *,
        progress: Progress,
        epochs: int,
        updates: int,
        windows: Callable[[int, int], Iterable[Window]],
        update: Callable[..., Callable[[], Report]],
        validate: Callable[[], Validation],
        metric: str,
        keeper: Keeper,
        names: Callable[[Iterable[int]], list[str]],
        listeners: Sequence[Listener] = (),
        stopping: Callable[[], bool] = lambda: False,
        skips_overflow: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._progress, self._epochs, self._updates = progress, epochs, updates
        self._windows, self._update, self._validate = windows, update, validate
        self._metric, self._keeper, self._names = metric, keeper, names
        self._listeners, self._stopping = tuple(listeners), stopping
        self._skips_overflow, self._clock = skips_overflow, clock
        self._told_at = clock()

    def run(self) -> None:
        """Trains until the last epoch, or until no better one is to be expected.

        Raises:
          TrainingDiverged: if a loss is not finite. The newest checkpoint is from
            before it.
          Stopped: if some worker was asked to end. All is saved.
        """
        progress = self._progress
        while progress.epoch < self._epochs and not progress.best.exhausted:
            started = self._clock() - progress.seconds
            if self._train(started):
                # Before the validation, which may fail.
                self._save(started)
            self._close_epoch(self._validate(), started)

    def _train(self, started: float) -> bool:
        """The rest of an epoch; whether there was any."""
        progress, trained = self._progress, False
        pending: tuple[Window, Callable[[], Report], int] | None = None
        self._told_at = self._clock()
        for window in self._windows(progress.epoch, progress.batch):
            report = self._update(window, stop=self._stopping())
            progress.update += 1
            progress.batch = window.next_batch
            # What an update tells is read when the next one is on its way, so that
            # an accelerator never waits.
            stop = pending is not None and self._told(*pending)
            pending, trained = (window, report, progress.update), True
            if stop or self._keeper.due():
                stop = self._told(*pending) or stop
                pending = None
                self._save(started, wait=stop)
            if stop:
                raise self._stopped()
        if pending and self._told(*pending):
            self._save(started, wait=True)
            raise self._stopped()
        return trained

    def _stopped(self) -> Stopped:
        return Stopped(
            f"Asked to end. Update {self._progress.update} of {self._updates} is "
            "saved; the same command goes on from there."
        )

    def _told(
        self, window: Window, wait_for_report: Callable[[], Report], number: int
    ) -> bool:
        """Accounts for an update and tells of it; whether someone wants to end."""
        report, progress = wait_for_report(), self._progress
        self._refuse_divergence(window, report, number)
        before, self._told_at = self._told_at, self._clock()
        update = Update(
            number=number,
            updates=self._updates,
            epoch=progress.epoch + 1,
            loss=report.loss_sum / max(report.weight_sum, 1.0),
            learning_rate=report.learning_rate,
            gradient_norm=report.gradient_norm,
            loss_scale=report.loss_scale,
            examples=window.examples,
            real_tokens=window.real_tokens,
            padded_tokens=window.padded_tokens,
            seconds=self._told_at - before,
            waiting_seconds=window.waiting_seconds,
        )
        progress.account(report, update)
        for listener in self._listeners:
            listener.updated(update)
        return report.stop

    def _refuse_divergence(self, window: Window, report: Report, number: int) -> None:
        finite = math.isfinite(report.gradient_norm)
        if math.isfinite(report.loss_sum) and (
            finite or (self._skips_overflow and report.loss_scale > 1.0)
        ):
            return
        what = "gradient" if math.isfinite(report.loss_sum) else "loss"
        names = self._names(window.rows[:_NAMED_ROWS])
        more = len(window.rows) - len(names)
        raise TrainingDiverged(
            f"The training {what} was not finite at update {number} of {self._updates} "
            f"(epoch {self._progress.epoch + 1}), whose examples are "
            f"{', '.join(names)}{f' and {more} more' if more > 0 else ''}. The weights "
            f"were left as they were. Lower `train.learning_rate`, which was "
            f"{report.learning_rate:.2g} there, or train in float32: "
            "--set train.precision=float32."
        )

    def _save(self, started: float, *, wait: bool = False) -> None:
        progress = self._progress
        progress.seconds = self._clock() - started
        for listener in self._listeners:
            listener.saving()
        self._keeper.save(progress.facts(), update=progress.update, wait=wait)

    def _close_epoch(self, validation: Validation, started: float) -> None:
        progress = self._progress
        value = validation.metrics[self._metric]
        epoch = Epoch(
            number=progress.epoch + 1,
            epochs=self._epochs,
            updates=progress.update,
            loss=progress.loss_sum / max(progress.weight_sum, 1.0),
            metrics=validation.metrics,
            best=progress.best.offer(value, epoch=progress.epoch + 1),
            seconds=self._clock() - started,
            samples=validation.samples,
        )
        progress.close(epoch)
        if epoch.best:
            self._keeper.save_best(progress.facts(), update=progress.update)
        for listener in self._listeners:
            listener.validated(epoch)
