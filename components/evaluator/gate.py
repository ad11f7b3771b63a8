"""The gate: what is known of a score, held against each bound. Pure.

A check passes only if the interval's bound clears it, so that a model is blessed for
what is known of it and not for luck. Nothing passes by absence: a metric without a
value fails, and a slice with too few rows or a comparison without another model is told
apart as not judged.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from components.evaluator.bootstrap import Interval, Scores, rows_needed
from components.evaluator.checks import Check, Rule
from components.evaluator.scores.sheet import Metric
from components.evaluator.slices import OVERALL, columns, in_order
from components.evaluator.slices import name as name_of_slice

Key = tuple[tuple[str, str], ...]  # (column, value), for each column of a slice.

CANDIDATE, BASELINE, UNTUNED = "candidate", "baseline", "untuned"
_OTHERS: dict[Rule, str] = {"drop": BASELINE, "gain": UNTUNED}
EVERY_LABEL = "*"
NO_SUCH_LABEL = "no row and no model has this label. Mend its name in `gate.labels`."

# A bound that is met to the last digit of a float is met.
_SLACK = 1e-9


class Bounds(Protocol):
    """What a set of rows has to reach; each is {metric: bound}."""

    @property
    def floors(self) -> Mapping[str, float]: ...
    @property
    def ceilings(self) -> Mapping[str, float]: ...
    @property
    def max_drop(self) -> Mapping[str, float]: ...
    @property
    def min_gain(self) -> Mapping[str, float]: ...


class Gate(Bounds, Protocol):
    """Bounds on all rows, and on those of each value of a column."""

    @property
    def confidence(self) -> float: ...
    @property
    def draws(self) -> int: ...
    @property
    def min_slice_rows(self) -> int: ...
    @property
    def slices(self) -> Mapping[str, Bounds]: ...
    @property
    def labels(self) -> Mapping[str, Bounds]: ...


def decide(
    gate: Gate,
    scores: Mapping[str, Scores],
    metrics: Sequence[Metric],
    *,
    keys: Mapping[str, Key],
    incomparable: Mapping[str, str] | None = None,
) -> list[Check]:
    """Every bound, checked; failed ones first.

    A column's bounds are checked in each of its slices that has rows.

    Args:
      scores: by slice, `OVERALL` among them; each of the candidate and of those of the
        other models that there are.
      metrics: those that the bounds name.
      keys: what the rows of each slice have in common.
      incomparable: of models that there are and that nothing can be held against, why;
        a comparison with one fails.
    """
    judge = _Judge({m.name: m for m in metrics}, incomparable or {})
    checks = list(judge.checks(gate, OVERALL, scores[OVERALL], least_rows=0))
    for column, bounds in gate.slices.items():
        for where in in_order(s for s in scores if columns(keys[s]) == column):
            checks += judge.checks(
                bounds, where, scores[where], least_rows=gate.min_slice_rows
            )
    return failed_first(checks)


def decide_labels(
    gate: Gate,
    scores: Mapping[str, Scores],
    metrics: Sequence[Metric],
    *,
    incomparable: Mapping[str, str] | None = None,
) -> list[Check]:
    """Every bound on a label, checked; failed ones first.

    A label goes by the bounds under its own name, and others by those of `EVERY_LABEL`.

    Args:
      scores: by label, all that a row or a model has.
      metrics: those that the bounds name.
      incomparable: see `decide`.
    """
    judge = _Judge({m.name: m for m in metrics}, incomparable or {})
    checks: list[Check] = []
    for label in sorted({*scores, *gate.labels} - {EVERY_LABEL}):
        bounds = gate.labels.get(label, gate.labels.get(EVERY_LABEL))
        where = name_of_slice([("label", label)])
        if bounds is None:
            continue
        if label not in scores:
            checks += [
                dataclasses.replace(check, passed=False, why=NO_SUCH_LABEL)
                for check in _unjudged(bounds, where, rows=0)
            ]
            continue
        least = gate.min_slice_rows
        checks += judge.checks(bounds, where, scores[label], least_rows=least)
    return failed_first(checks)


def failed_first(checks: Sequence[Check]) -> list[Check]:
    return sorted(checks, key=lambda check: check.passed is not False)


def blessed(checks: Sequence[Check]) -> bool:
    """Whether no check failed, and one at least was judged and passed."""
    verdicts = {check.passed for check in checks}
    return True in verdicts and False not in verdicts


@dataclasses.dataclass(frozen=True)
class _Judge:
    metrics: Mapping[str, Metric]
    incomparable: Mapping[str, str]

    def checks(
        self, bounds: Bounds, where: str, scores: Scores, *, least_rows: int
    ) -> Iterator[Check]:
        for check in _unjudged(bounds, where, scores.rows):
            known = dataclasses.replace(check, score=scores.of(CANDIDATE, check.metric))
            yield self._judged(known, scores, judge=scores.rows >= least_rows)

    def _judged(self, check: Check, scores: Scores, *, judge: bool) -> Check:
        metric, judged = self.metrics[check.metric], check.score
        if check.rule in _OTHERS:
            model = _OTHERS[check.rule]
            if judge and model in self.incomparable:
                why = self.incomparable[model]
                return dataclasses.replace(check, passed=False, why=why)
            if model not in scores.models:
                return check
            judged = scores.difference(CANDIDATE, model, metric.name)
            other = scores.of(model, metric.name).value
            check = dataclasses.replace(check, other=other, difference=judged)
        if not judge:
            return check
        margin = _margin(metric, check.rule, check.bound, judged)
        any_gain = check.rule == "gain" and check.bound == 0
        least = _SLACK if any_gain else -_SLACK  # As good is not better.
        passed = margin.low >= least  # False for NaN.
        needed = None
        if not passed:
            spread = margin.value - margin.low
            needed = rows_needed(scores.rows, spread, margin.value)
            needed = needed and max(needed, scores.rows + 1)
        return dataclasses.replace(check, passed=passed, rows_needed=needed)


def _unjudged(bounds: Bounds, where: str, rows: int) -> Iterator[Check]:
    rules: dict[Rule, Mapping[str, float]] = {
        "floor": bounds.floors,
        "ceiling": bounds.ceilings,
        "drop": bounds.max_drop,
        "gain": bounds.min_gain,
    }
    for rule, bound_of in rules.items():
        for name, bound in bound_of.items():
            yield Check(name, where, rule, bound, rows)


def _margin(metric: Metric, rule: Rule, bound: float, judged: Interval) -> Interval:
    """By how much the bound is cleared."""
    less_is_better = rule == "ceiling" or (rule in _OTHERS and metric.best == "low")
    value, low, high = (-x for x in judged) if less_is_better else judged
    if less_is_better:
        low, high = high, low
    spare = bound if rule in ("ceiling", "drop") else -bound
    return Interval(value + spare, low + spare, high + spare)
