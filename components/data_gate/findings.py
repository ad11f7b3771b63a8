"""A finding of the DataGate, and how rows are told of in one. Pure."""

import dataclasses
from collections.abc import Sequence
from typing import Literal

from components.example_gen.examples import Example

Severity = Literal["stop", "note"]
ROWS_SHOWN, LABELS_SHOWN = 3, 20


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing that is wrong, or worth knowing.

    Attributes:
      rule: a stable name of what was looked for.
      severity: "stop" ends the run, "note" is only told.
      message: what, where, how many, examples and the way out, in full.
      examples: some of the rows or values, each with where to find it.
      allow: the configuration key that allows it, None if there is none.
    """

    rule: str
    severity: Severity
    message: str
    examples: tuple[str, ...] = ()
    allow: str | None = None


def ids(rows: Sequence[Example]) -> str:
    return listed([row.example_id for row in rows[:ROWS_SHOWN]], len(rows))


def listed(shown: Sequence[str], total: int) -> str:
    more = total - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def rounded_up(share: float) -> float:
    """To three places, so that the value that is offered does allow the share."""
    return -(-share * 1000 // 1) / 1000
