"""The outer loop: plain Python, no graph code, no model knowledge."""

import collections
import math
import time
from collections.abc import Callable, Iterable

Sums = tuple[float, float]  # (loss_sum, weight_sum) of one update
Listener = Callable[[str, dict], None]  # (kind of event, its fields)


class TrainingDiverged(Exception):
    """The loss is no longer finite; running the same training again cannot help."""


class Controller:
    """Runs the epochs and tells what happens.

    Args:
      train_epoch: epoch number from 0 -> the sums of each update, as they happen.
      evaluate: () -> mean validation loss in nats.
      updates_per_epoch: how many sums an epoch gives.
      examples_per_update: for the speed that is told.
      listen: called with "step" events about every `seconds_between_steps`, and one
        "epoch" event an epoch.
      clock: seconds, monotonic.
    """

    def __init__(
        self,
        *,
        train_epoch: Callable[[int], Iterable[Sums]],
        evaluate: Callable[[], float],
        updates_per_epoch: int,
        examples_per_update: int,
        listen: Listener,
        seconds_between_steps: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._train_epoch, self._evaluate = train_epoch, evaluate
        self._updates_per_epoch = updates_per_epoch
        self._examples_per_update = examples_per_update
        self._listen, self._clock = listen, clock
        self._seconds_between_steps = seconds_between_steps

    def run(self, *, epochs: int) -> list[dict[str, float]]:
        """Trains `epochs` epochs.

        Returns:
          For each epoch {"epoch", "loss", "validation_loss", "seconds"}.

        Raises:
          TrainingDiverged: as soon as an update's loss is not finite.
        """
        pace = _Pace(self._clock(), self._updates_per_epoch * epochs)
        history = []
        for epoch in range(epochs):
            started = self._clock()
            loss = self._run_epoch(epoch, epochs, pace)
            record = {
                "epoch": epoch + 1,
                "loss": loss,
                "validation_loss": self._evaluate(),
                "seconds": self._clock() - started,
            }
            self._listen("epoch", {**record, "epochs": epochs})
            history.append(record)
        return history

    def _run_epoch(self, epoch: int, epochs: int, pace: "_Pace") -> float:
        loss_sum = weight_sum = 0.0
        told = self._clock()
        for step, (loss, weight) in enumerate(self._train_epoch(epoch), start=1):
            if not math.isfinite(loss):
                raise TrainingDiverged(
                    f"The training loss became {loss} at update {step} of epoch "
                    f"{epoch + 1}. Lower `train.learning_rate`, or train in float32."
                )
            loss_sum, weight_sum = loss_sum + loss, weight_sum + weight
            now = self._clock()
            pace.update(now)
            # The first update says nothing about the speed: it compiles the step.
            if pace.done > 1 and now - told >= self._seconds_between_steps:
                speed = pace.updates_per_second * self._examples_per_update
                self._listen(
                    "step",
                    {
                        "step": pace.done,
                        "steps": pace.updates,
                        "epoch": epoch + 1,
                        "epochs": epochs,
                        "loss": loss_sum / max(weight_sum, 1.0),
                        "examples_per_second": speed,
                        "seconds_left": pace.seconds_left,
                    },
                )
                told = now
        return loss_sum / max(weight_sum, 1.0)


class _Pace:
    """How fast updates come, and when the last one will be there.

    The first update is left out as soon as there is a second: it traces and compiles
    the step. The speed is that of the last half minute, since batches differ in
    length; the time left goes by all of the training, with its validations.
    """

    _SECONDS_OF_SPEED = 30.0

    def __init__(self, started: float, updates: int):
        self.updates, self.done = updates, 0
        self._times = collections.deque([started])  # Of the last updates.
        self._first = self._now = started

    def update(self, now: float) -> None:
        self.done, self._now = self.done + 1, now
        if self.done == 2:
            self._first = self._times[-1]
            self._times.popleft()
        self._times.append(now)
        while len(self._times) > 2 and now - self._times[1] >= self._SECONDS_OF_SPEED:
            self._times.popleft()

    @property
    def updates_per_second(self) -> float:
        return (len(self._times) - 1) / max(self._now - self._times[0], 1e-9)

    @property
    def seconds_left(self) -> float:
        counted = max(self.done - 1, 1)
        return (self.updates - self.done) * (self._now - self._first) / counted
