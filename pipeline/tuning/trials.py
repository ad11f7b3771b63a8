"""One trial: a run as far as the Trainer, and what it says about its settings. Pure."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pipeline.tuning.space import Values

State = Literal["done", "failed", "interrupted", "running"]


@dataclasses.dataclass(frozen=True)
class Result:
    """How a trial ended.

    Attributes:
      exit_code: of its run, or of the refusal to begin one.
      value: of the metric in its best epoch; None if it failed.
      epoch: the best one, from 1.
      seconds: of its run.
      run_id: of its run; None if none began.
      reason: why it failed.
      data: the fingerprint of what it read; None if no run began.
    """

    exit_code: int
    value: float | None = None
    epoch: int | None = None
    seconds: float = 0.0
    run_id: str | None = None
    reason: str | None = None
    data: str | None = None


@dataclasses.dataclass(frozen=True)
class Trial:
    """One trial of a study; `again` is the interrupted one that it repeats."""

    number: int
    state: State
    settings: Values
    value: float | None = None
    epoch: int | None = None
    seconds: float | None = None
    run_id: str | None = None
    reason: str | None = None
    again: int | None = None

    @property
    def counts(self) -> bool:
        """Whether it is one of the trials that were asked for."""
        return self.state in ("done", "failed")


def result_of(record: Mapping[str, Any], *, metric: str, direction: str) -> Result:
    """What the record of a run says about its settings.

    Args:
      record: as `run_record.make` gives it.
      metric: of the eval split, as each epoch told it.
      direction: "min" or "max": of which the best epoch's value is taken.
    """
    ran = Result(
        exit_code=record["exit_code"],
        seconds=record["seconds"],
        run_id=record["run_id"],
        data=record["fingerprints"]["data"],
    )
    if record["failure"]:
        return dataclasses.replace(ran, reason=_why(record["failure"]))
    found = _best(record["training"] or [], metric, direction)
    if found is None:
        reason = f"{metric} was not a number after any epoch."
        return dataclasses.replace(ran, exit_code=1, reason=reason)
    return dataclasses.replace(ran, value=found[0], epoch=found[1])


def _why(failure: Mapping[str, Any]) -> str:
    findings = " ".join(failure["findings"])
    return f"{failure['node']}: {findings}" if failure["node"] else findings


def _best(
    history: Sequence[Mapping[str, Any]], metric: str, direction: str
) -> tuple[float, int] | None:
    values = [(epoch["metrics"][metric], epoch["epoch"]) for epoch in history]
    finite = [(value, epoch) for value, epoch in values if math.isfinite(value)]
    if not finite:
        return None
    sign = 1 if direction == "min" else -1
    return min(finite, key=lambda pair: (sign * pair[0], pair[1]))


def best_first(trials: Sequence[Trial], *, direction: str) -> list[Trial]:
    """The trials with a value; of equal ones the earlier first."""
    sign = 1 if direction == "min" else -1
    done = [(sign * t.value, t.number, t) for t in trials if t.value is not None]
    return [trial for *_, trial in sorted(done, key=lambda item: item[:2])]
