"""The loop's events for the terminal, with speed and time left."""

import collections
import time
from collections.abc import Callable

from trainer_module.loop.events import Epoch, Update

Tell = Callable[[str, dict], None]  # (kind of event, its fields)


class Telling:
    """Tells a "step" about every `seconds_between_steps`, and each "epoch".

    Args:
      tell: takes what is told.
      epochs: how many the training has at most.
      updates_before: done already when this process began.
      clock: seconds, monotonic.
    """

    def __init__(
        self,
        tell: Tell,
        *,
        epochs: int,
        updates_before: int = 0,
        seconds_between_steps: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._tell, self._epochs, self._clock = tell, epochs, clock
        self._between = seconds_between_steps
        self._pace = _Pace(clock(), updates_before)
        self._told = clock()
        self._epoch = 0
        self._loss_sum = self._updates = 0.0

    def updated(self, update: Update) -> None:
        if update.epoch != self._epoch:
            self._epoch, self._loss_sum, self._updates = update.epoch, 0.0, 0.0
        self._loss_sum, self._updates = self._loss_sum + update.loss, self._updates + 1
        now = self._clock()
        self._pace.update(now, update)
        # The first update says nothing about the speed: it compiles the step.
        if self._pace.here < 2 or now - self._told < self._between:
            return
        self._told = now
        self._tell(
            "step",
            {
                "step": update.number,
                "steps": update.updates,
                "epoch": update.epoch,
                "epochs": self._epochs,
                "loss": self._loss_sum / self._updates,
                "examples_per_second": self._pace.examples_per_second,
                "seconds_left": self._pace.seconds_left(update),
            },
        )

    def saving(self) -> None:
        """Nothing: it takes no time that a person would notice."""

    def validated(self, epoch: Epoch) -> None:
        self._tell(
            "epoch",
            {
                "epoch": epoch.number,
                "epochs": epoch.epochs,
                "loss": epoch.loss,
                "validation_loss": epoch.metrics["loss"],
                "metrics": dict(epoch.metrics),
                "best": epoch.best,
                "seconds": epoch.seconds,
            },
        )


class _Pace:
    """How fast updates come, and when the last one will be there.

    The first update is left out as soon as there is a second: it traces and compiles
    the step. The speed is that of the last half minute, since batches differ in
    length; the time left goes by all of this process, with its validations.
    """

    _SECONDS_OF_SPEED = 30.0

    def __init__(self, started: float, before: int):
        self._before, self.here = before, 0
        self._recent = collections.deque([(started, 0)])  # (when, examples so far)
        self._examples = 0
        self._first = self._now = started

    def update(self, now: float, update: Update) -> None:
        self.here, self._now = update.number - self._before, now
        self._examples += update.examples
        if self.here == 2:
            self._first = self._recent[-1][0]
            self._recent.popleft()
        self._recent.append((now, self._examples))
        while (
            len(self._recent) > 2 and now - self._recent[1][0] >= self._SECONDS_OF_SPEED
        ):
            self._recent.popleft()

    @property
    def examples_per_second(self) -> float:
        since, examples = self._recent[0]
        return (self._examples - examples) / max(self._now - since, 1e-9)

    def seconds_left(self, update: Update) -> float:
        per_update = (self._now - self._first) / max(self.here - 1, 1)
        return (update.updates - update.number) * per_update
