"""The search: trial after trial, until there are enough. Knows no run and no Optuna."""

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from pipeline.tuning.space import Space, Values
from pipeline.tuning.trials import Result, Trial

FOUND, ALL_FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130
_ALIKE_FAILURES = 3

RunTrial = Callable[[int, Values], Result]  # (number, settings) -> how it ended


class Study(Protocol):
    """Where the trials are kept; see `study.Study`."""

    def trials(self) -> list[Trial]: ...

    def begin(self, space: Space) -> tuple[int, Values]: ...

    def finish(self, number: int, result: Result) -> None: ...

    def interrupt(self, number: int, result: Result) -> None: ...


class Search:
    """One command's share of a study.

    Args:
      study: its trials so far, and what comes next.
      space: what is searched.
      run: runs one trial.
      tell: takes each trial that has ended.
      trials: how many the study has at the end, those of earlier commands included.
      deadline: `clock` at which no further trial begins; None for never.
      clock: seconds, monotonic.
    """

    def __init__(
        self,
        study: Study,
        space: Space,
        *,
        run: RunTrial,
        tell: Callable[[Trial], None],
        trials: int,
        deadline: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._study, self._space = study, space
        self._run, self._tell = run, tell
        self._trials, self._deadline, self._clock = trials, deadline, clock
        self.ended_because = ""
        self._failures: list[Result] = []  # In a row, up to now.

    def go_on(self) -> int:
        """Runs what is missing, and returns the exit code."""
        while not self._is_over():
            code = self._one()
            if code is not None:
                return code
        found = any(trial.value is not None for trial in self._study.trials())
        return FOUND if found else ALL_FAILED

    def _is_over(self) -> bool:
        counted = [trial for trial in self._study.trials() if trial.counts]
        if len(counted) >= self._trials:
            return True
        if len(_unlike(counted)) >= self._space.size:
            self.ended_because = "The whole space has been tried."
        elif self._deadline is not None and self._clock() >= self._deadline:
            self.ended_because = "The time is up."
        return bool(self.ended_because)

    def _one(self) -> int | None:
        """One trial; an exit code where the search ends with it."""
        number: int | None = None
        try:
            number, settings = self._study.begin(self._space)
            result = self._same_as_before(settings) or self._run(number, settings)
        except KeyboardInterrupt:
            if number is not None:
                self._study.interrupt(number, Result(exit_code=INTERRUPTED))
            return INTERRUPTED
        except Exception:  # No verdict on the settings: they are to come again.
            if number is not None:
                self._study.interrupt(number, Result(exit_code=ALL_FAILED))
            raise
        if result.exit_code == INTERRUPTED:
            self._study.interrupt(number, result)
            return INTERRUPTED
        self._study.finish(number, result)
        self._tell(self._study.trials()[number])
        return self._code_of_failures(result)

    def _same_as_before(self, settings: Values) -> Result | None:
        """The result of an earlier trial with these settings: it would be the same."""
        for trial in self._study.trials():
            if trial.value is not None and trial.settings == settings:
                return Result(
                    exit_code=0,
                    value=trial.value,
                    epoch=trial.epoch,
                    run_id=trial.run_id,
                )
        return None

    def _code_of_failures(self, result: Result) -> int | None:
        """Ends a search whose trials fail alike: other settings do not help."""
        self._failures = [] if result.reason is None else [*self._failures, result]
        last = self._failures[-_ALIKE_FAILURES:]
        if len(last) < _ALIKE_FAILURES or len({r.reason for r in last}) > 1:
            return None
        self.ended_because = (
            f"The last {_ALIKE_FAILURES} trials failed for the same reason, so the "
            "settings are not the cause."
        )
        return result.exit_code


def _unlike(trials: Sequence[Trial]) -> list[Values]:
    found: list[Values] = []
    for trial in trials:
        if trial.settings not in found:
            found.append(trial.settings)
    return found
