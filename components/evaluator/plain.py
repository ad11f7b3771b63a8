"""Values of an evaluation as JSON has them: it knows no NaN. Pure."""

import math
from typing import Any

from components.evaluator.bootstrap import Interval
from components.evaluator.checks import Check


def numbers(interval: Interval) -> dict[str, float | None]:
    return {
        name: value if math.isfinite(value) else None
        for name, value in interval._asdict().items()
    }


def check(given: Check) -> dict[str, Any]:
    found = {**vars(given), "in_words": given.in_words()}
    for name in ("score", "difference"):
        if found[name] is not None:
            found[name] = numbers(found[name])
    if found["other"] is not None and not math.isfinite(found["other"]):
        found["other"] = None
    return found
