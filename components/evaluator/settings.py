"""The `gate` section of a configuration: what a model must reach. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field, field_validator

from components.evaluator.scores.facts import OF_LABEL, OF_TASK, Facts
from components.evaluator.slices import CROSS, seen_column
from trainer_module.settings import Section, Task

_NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_FLOOR, _CEILING = "floors", "ceilings"
_RULES = (_FLOOR, _CEILING, "max_drop", "min_gain")


class Bounds(Section):
    """Bounds by metric; the interval of the score has to clear each.

    Attributes:
      floors: at least this.
      ceilings: at most this, for what is better the less of it there is.
      max_drop: worse than the baseline by no more than this.
      min_gain: better than the untuned checkpoint by this; 0: by anything above it.
    """

    floors: dict[str, _NotNegative] = {}
    ceilings: dict[str, _NotNegative] = {}
    max_drop: dict[str, _NotNegative] = {}
    min_gain: dict[str, _NotNegative] = {}


class GateSettings(Bounds):
    """Bounds on all rows, and on those of each value of a column.

    Attributes:
      slices: by column, or by two of `crosses` with " x " between them.
      labels: by the name of a classifier's label, or "*" for those that have no entry
        of their own.
      crosses: pairs of columns, whose values are crossed.
      seen: columns; for each X there is a column X_seen, that tells the rows whose
        value train has from the others.
      min_slice_rows: a slice or label with fewer is shown and not judged.
      confidence: of the intervals, two-sided.
      draws: of the bootstrap.
      baseline: "reset" once, if the model blessed last can't be compared any more.
    """

    slices: dict[str, Bounds] = {}
    labels: dict[str, Bounds] = {}
    crosses: tuple[tuple[str, str], ...] = ()
    seen: tuple[str, ...] = ()
    min_slice_rows: int = Field(30, ge=1)
    confidence: float = Field(0.95, ge=0.5, lt=1)
    draws: int = Field(2000, ge=100, le=100_000)
    baseline: Literal["compare", "reset"] = "compare"

    @field_validator("slices", "labels", mode="before")
    @classmethod
    def _null_is_none(cls, bounds: object) -> object:
        return {} if bounds is None else bounds


def check_gate(gate: GateSettings, task: Task, columns: Sequence[str]) -> None:
    """Holds the bounds against what the metrics of the task can be.

    Args:
      columns: that rows can be sliced by.

    Raises:
      ValueError: a bound that is on no metric of the task, or that every model would
        pass, or that none could; a gate without a bound that closes it; slices of
        columns that there are not.
    """
    of_task = OF_TASK[task]
    if not (gate.floors or gate.min_gain):
        raise ValueError(
            "`gate.floors` is empty: a gate without a floor would bless any model. "
            f"Allowed metrics: {_allowed(_FLOOR, of_task)}"
        )
    _check_slices(gate, columns)
    _check_bounds("gate", gate, of_task, of=task)
    for key, bounds in gate.slices.items():
        _check_bounds(f"gate.slices.{key}", bounds, of_task, of=task)
    if gate.labels and task != "classification":
        raise ValueError(
            "`gate.labels` holds bounds on a classifier's labels, and the task is "
            f"{task}"
        )
    for key, bounds in gate.labels.items():
        _check_bounds(f"gate.labels.{key}", bounds, OF_LABEL, of="a label")


def _check_slices(gate: GateSettings, columns: Sequence[str]) -> None:
    there = "`data.slices` does not"
    _refuse_missing("gate.seen", gate.seen, columns, there)
    every = [*columns, *map(seen_column, gate.seen)]
    for pair in gate.crosses:
        _refuse_missing("gate.crosses", pair, every, there)
        if pair[0] == pair[1]:
            raise ValueError(f"`gate.crosses` crosses {pair[0]!r} with itself")
    every += [CROSS.join(pair) for pair in gate.crosses]
    _refuse_missing("gate.slices", gate.slices, every, there)


def _refuse_missing(
    key: str, names: Iterable[str], allowed: Sequence[str], there: str
) -> None:
    missing = sorted(set(names) - set(allowed))
    if missing:
        raise ValueError(
            f"`{key}` names columns that {there}: {missing}. Allowed: {list(allowed)}. "
            "Two columns are crossed by `gate.crosses`. Without slices set both to null"
        )


def _check_bounds(
    where: str, bounds: Bounds, metrics: Mapping[str, Facts], *, of: str
) -> None:
    for rule in _RULES:
        for metric, bound in getattr(bounds, rule).items():
            key = f"{where}.{rule}"
            if metric not in metrics:
                raise ValueError(
                    f"`{key}` names a metric that {of} does not have: {metric!r}. "
                    f"Allowed: {_allowed(rule, metrics)}"
                )
            if not _suits(rule, metrics[metric]):
                raise ValueError(
                    f"`{key}.{metric}`: {_WHY_NOT[rule]}, and of {metric} "
                    f"{_BEST_IN_WORDS[metrics[metric].best]}. Allowed here: "
                    f"{_allowed(rule, metrics)}"
                )
            _check_bound(key, rule, metric, bound, metrics[metric])


def _check_bound(key: str, rule: str, metric: str, bound: float, facts: Facts) -> None:
    if rule == _FLOOR and not 0 < bound <= facts.most:
        raise ValueError(
            f"`{key}.{metric}` must be above 0 and at most {facts.most:g}, or it would "
            f"pass every model or none. Received: {bound:g}"
        )
    if rule != _FLOOR and bound >= facts.most:
        raise ValueError(
            f"`{key}.{metric}` must be below {facts.most:g}, the most that {metric} "
            f"can be, or {_IN_VAIN[rule]}. Received: {bound:g}"
        )


_WHY_NOT = {
    _FLOOR: "a floor is for what should be high",
    _CEILING: "a ceiling is for what should be low",
    "max_drop": "a drop needs a direction",
    "min_gain": "a gain needs a direction",
}
_BEST_IN_WORDS = {
    "high": "more is better",
    "low": "less is better",
    "neither": "neither more nor less is better",
}
_IN_VAIN = {
    _CEILING: "every model would pass",
    "max_drop": "every model would pass",
    "min_gain": "none could pass",
}


def _allowed(rule: str, metrics: Mapping[str, Facts]) -> list[str]:
    return [name for name, facts in metrics.items() if _suits(rule, facts)]


def _suits(rule: str, facts: Facts) -> bool:
    if rule == _FLOOR:
        return facts.best != "low"
    if rule == _CEILING:
        return facts.best != "high"
    return facts.best != "neither"
