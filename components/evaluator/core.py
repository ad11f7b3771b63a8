"""The gate in words: each bound with its value, and whether it held. Pure.

TFMA's blessing decides; this explains it. Both read the same bounds, and a refusal
that no check here explains is shown in TFMA's own words, never swallowed.
"""

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from components.evaluator.slices import OVERALL, in_order


@dataclasses.dataclass(frozen=True)
class Check:
    """One bound on one metric in one slice.

    Attributes:
      rule: "floor" (value >= bound) or "drop" (value >= baseline - bound).
      value: the candidate's, None if it is missing or not a number.
      baseline: the baseline's, None without one.
      passed: None if it could not apply, since there is no baseline.
    """

    metric: str
    slice: str
    rule: str
    bound: float
    value: float | None
    baseline: float | None
    passed: bool | None

    def in_words(self) -> str:
        where = "" if self.slice == OVERALL else f" for {self.slice}"
        if self.value is None:
            return f"{self.metric}{where} was not reported, so it cannot pass"
        if self.rule == "floor":
            relation = "reaches" if self.passed else "is below"
            return (
                f"{self.metric}{where} {self.value:.4f} {relation} "
                f"the floor {self.bound:.4f}"
            )
        if self.passed is None:
            return f"{self.metric}{where}: no baseline yet to compare with"
        if self.passed:
            relation = f"stays within {self.bound:.4f} of"
        else:
            relation = f"is more than {self.bound:.4f} below"
        return (
            f"{self.metric}{where} {self.value:.4f} {relation} "
            f"the baseline's {self.baseline:.4f}"
        )


def explain(
    gate: Mapping[str, Any], metrics: Sequence[Mapping[str, Any]]
) -> list[Check]:
    """Every configured bound, checked; failed ones first.

    Args:
      gate: `GateSettings` as a dict: floors, max_drop, and slices of the same.
      metrics: as `results.read` gives them.
    """
    values = {(m["slice"], m["model"], m["metric"]): m["value"] for m in metrics}
    checks = list(_checks(gate, [OVERALL], values))
    for column, bounds in gate.get("slices", {}).items():
        found = in_order(s for s, _, _ in values if s.startswith(f"{column}: "))
        checks += _checks(bounds, found, values)
    return sorted(checks, key=lambda check: check.passed is not False)


def _checks(
    bounds: Mapping[str, Any],
    slices: Sequence[str],
    values: Mapping[tuple[str, str, str], Any],
) -> Iterator[Check]:
    for where in slices:
        for metric, floor in bounds.get("floors", {}).items():
            value = _number(values.get((where, "candidate", metric)))
            passed = value is not None and value >= floor
            yield Check(metric, where, "floor", floor, value, None, passed)
        for metric, drop in bounds.get("max_drop", {}).items():
            value = _number(values.get((where, "candidate", metric)))
            baseline = _number(values.get((where, "baseline", metric)))
            if baseline is None:
                passed = None
            else:
                passed = value is not None and value >= baseline - drop
            yield Check(metric, where, "drop", drop, value, baseline, passed)


def _number(value: Any) -> float | None:
    return value if value is not None and math.isfinite(value) else None
