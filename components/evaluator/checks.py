"""One check of the gate, and how it reads. Pure."""

import dataclasses
import math
from typing import Literal

from components.evaluator.bootstrap import Interval
from components.evaluator.slices import OVERALL

Rule = Literal["floor", "ceiling", "drop", "gain"]

NO_VALUE = Interval(math.nan, math.nan, math.nan)
_COMPARED_WITH = {"drop": "baseline", "gain": "untuned checkpoint"}


@dataclasses.dataclass(frozen=True)
class Check:
    """One bound on one metric in one slice.

    Attributes:
      rule: "floor": at least the bound; "ceiling": at most; "drop": worse than the
        baseline by no more than it; "gain": better than the untuned checkpoint by it.
      rows: of the slice.
      score: the candidate's.
      other: the value that a "drop" or a "gain" compares with; None without one.
      difference: how much more the candidate has than that.
      passed: None if it could not be judged.
      why: it cannot be judged, in a sentence; then it has failed.
      rows_needed: about how many rows would tell, if the value is on the right side
        and its interval is not.
    """

    metric: str
    slice: str
    rule: Rule
    bound: float
    rows: int
    score: Interval = NO_VALUE
    other: float | None = None
    difference: Interval | None = None
    passed: bool | None = None
    rows_needed: int | None = None
    why: str | None = None

    def in_words(self) -> str:
        where = "" if self.slice == OVERALL else f" for {self.slice}"
        subject = f"{self.metric}{where}"
        if self.passed is None:
            return f"{subject} was not judged: {self._why_not_judged()}"
        if self.why:
            return f"{subject} cannot pass: {self.why}"
        if not all(map(math.isfinite, self.difference or self.score)):
            missing = "interval" if math.isfinite(self.score.value) else "value"
            return f"{subject} has no {missing}, so it cannot pass"
        words = (
            self._against_a_bound() if self.other is None else self._against(self.other)
        )
        return f"{subject} {words}{self._way_out()}"

    def _why_not_judged(self) -> str:
        if self.rule in _COMPARED_WITH and self.other is None:
            return f"there is no {_COMPARED_WITH[self.rule]} to compare with"
        return f"{self.rows:,} rows are too few"

    def _against_a_bound(self) -> str:
        value, low, high = self.score
        shown = f"{value:.4f} ({low:.4f} to {high:.4f})"
        limit = f"the {self.rule} {self.bound:.4f}"
        if self.passed:
            relation = "reaches" if self.rule == "floor" else "stays within"
            return f"{shown} {relation} {limit}"
        side = "below" if self.rule == "floor" else "above"
        return f"{shown} {self._is()} {side} {limit}"

    def _against(self, other: float) -> str:
        value, low, high = self.difference or NO_VALUE
        shown = (
            f"{self.score.value:.4f} against {other:.4f} of the "
            f"{_COMPARED_WITH[self.rule]} ({value:+.4f}, {low:+.4f} to {high:+.4f})"
        )
        if self.rule == "drop":
            verb = "is not" if self.passed else self._is()
            return f"{shown} {verb} worse by more than {self.bound:.4f}"
        verb = "is" if self.passed else f"{self._is()} not"
        by = f" by {self.bound:.4f}" if self.bound else ""
        return f"{shown} {verb} better{by}"

    def _is(self) -> str:
        """Whether the value is on the wrong side, or only a part of its interval."""
        return "is" if self.rows_needed is None else "may be"

    def _way_out(self) -> str:
        if self.rows_needed is None:
            return ""
        return f"; about {self.rows_needed:,} rows would tell, there are {self.rows:,}"
