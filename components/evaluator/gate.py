"""The gate: what is known of a score, held against each bound. Pure.

A check passes only if the interval's bound clears it, so that a model is blessed for
what is known of it and not for luck. Nothing passes by absence: a metric without a
value fails, and a slice with too few rows or a comparison without another model is told
apart as not judged.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from components.evaluator.bootstrap import Interval, Scores, rows_needed
from components.evaluator.checks import Check, Rule
from components.evaluator.scores.sheet import Metric
from components.evaluator.slices import OVERALL, in_order

CANDIDATE, BASELINE, UNTUNED = "candidate", "baseline", "untuned"
_OTHERS: dict[Rule, str] = {"drop": BASELINE, "gain": UNTUNED}

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


def decide(
    gate: Gate, scores: Mapping[str, Scores], metrics: Sequence[Metric]
) -> list[Check]:
    """Every bound, checked; failed ones first.

    A column's bounds are checked in each of its slices that has rows.

    Args:
      scores: by slice, `OVERALL` among them; each of the candidate and of those of the
        other models that there are.
      metrics: those that the bounds name.
    """
    known = {metric.name: metric for metric in metrics}
    checks = list(_checks(gate, OVERALL, scores[OVERALL], known, least_rows=0))
    for column, bounds in gate.slices.items():
        for where in in_order(s for s in scores if s.startswith(f"{column}: ")):
            checks += _checks(
                bounds, where, scores[where], known, least_rows=gate.min_slice_rows
            )
    return sorted(checks, key=lambda check: check.passed is not False)


def blessed(checks: Sequence[Check]) -> bool:
    """Whether no check failed, and one at least was judged and passed."""
    verdicts = {check.passed for check in checks}
    return True in verdicts and False not in verdicts


def _checks(
    bounds: Bounds,
    where: str,
    scores: Scores,
    metrics: Mapping[str, Metric],
    *,
    least_rows: int,
) -> Iterator[Check]:
    rules: dict[Rule, Mapping[str, float]] = {
        "floor": bounds.floors,
        "ceiling": bounds.ceilings,
        "drop": bounds.max_drop,
        "gain": bounds.min_gain,
    }
    for rule, bound_of in rules.items():
        for name, bound in bound_of.items():
            judge = scores.rows >= least_rows
            yield _check(metrics[name], where, rule, bound, scores, judge=judge)


def _check(
    metric: Metric, where: str, rule: Rule, bound: float, scores: Scores, *, judge: bool
) -> Check:
    score = scores.of(CANDIDATE, metric.name)
    other, difference, judged = None, None, score
    if rule in _OTHERS:
        if _OTHERS[rule] not in scores.models:
            return Check(metric.name, where, rule, bound, scores.rows, score)
        other = scores.of(_OTHERS[rule], metric.name).value
        difference = scores.difference(CANDIDATE, _OTHERS[rule], metric.name)
        judged = difference
    margin = _margin(metric, rule, bound, judged)
    passed = margin.low >= -_SLACK  # False for NaN.
    needed = None
    if not passed:
        needed = rows_needed(scores.rows, margin.value - margin.low, margin.value)
    return Check(
        metric.name,
        where,
        rule,
        bound,
        scores.rows,
        score,
        other,
        difference,
        passed if judge else None,
        needed if judge else None,
    )


def _margin(metric: Metric, rule: Rule, bound: float, judged: Interval) -> Interval:
    """By how much the bound is cleared."""
    less_is_better = rule == "ceiling" or (rule in _OTHERS and metric.best == "low")
    value, low, high = (-x for x in judged) if less_is_better else judged
    if less_is_better:
        low, high = high, low
    spare = bound if rule in ("ceiling", "drop") else -bound
    return Interval(value + spare, low + spare, high + spare)
