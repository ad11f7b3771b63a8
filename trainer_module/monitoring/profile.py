"""A profile of a few updates, taken once they are compiled."""

import tensorflow as tf

from trainer_module.loop.events import Epoch, Listener, Update
from trainer_module.monitoring.notes import note, only_noted

UPDATES_BEFORE = 5  # Of this process: they trace, compile and fill caches.


class Profile(Listener):
    """Profiles `updates` updates after the first `UPDATES_BEFORE` of this process.

    Args:
      folder: the board's.
      updates: how many; 0 profiles nothing.
    """

    def __init__(self, folder: str, *, updates: int):
        self._folder, self._wanted = folder, updates
        self._seen = 0
        self._running = False
        self._step: tf.profiler.experimental.Trace | None = None

    def updated(self, update: Update) -> None:
        if not self._wanted:
            return
        self._seen += 1
        with only_noted("The profile for TensorBoard was given up"):
            self._end_step()
            if self._seen == UPDATES_BEFORE and update.number < update.updates:
                self._start()
            if self._running and self._seen >= UPDATES_BEFORE + self._wanted:
                self._stop()
            if self._running:
                self._begin_step(update.number + 1)

    def saving(self) -> None:
        """Nothing: a checkpoint within the profile is seen in it."""

    def validated(self, epoch: Epoch) -> None:
        """Nothing: a validation within the profile is seen in it."""

    def close(self) -> None:
        """Ends a profile that runs; notes if there was none."""
        with only_noted("The profile for TensorBoard was given up"):
            self._end_step()
            if self._running:
                done = self._seen - UPDATES_BEFORE
                self._stop()
                note(
                    f"TensorBoard's profile is of {done} updates, not of "
                    f"{self._wanted}: then the training was over."
                )
        if self._wanted and self._seen <= UPDATES_BEFORE:
            note(
                "There is no profile for TensorBoard: it begins after "
                f"{UPDATES_BEFORE} updates, and this training did {self._seen}."
            )

    def _start(self) -> None:
        tf.profiler.experimental.start(self._folder)
        self._running = True

    def _stop(self) -> None:
        self._running = False
        tf.profiler.experimental.stop()

    def _begin_step(self, number: int) -> None:
        # The profiler's pages are by step: a step is what happens between two calls.
        self._step = tf.profiler.experimental.Trace("train", step_num=number, _r=1)
        self._step.__enter__()

    def _end_step(self) -> None:
        if self._step is not None:
            step, self._step = self._step, None
            step.__exit__(None, None, None)
