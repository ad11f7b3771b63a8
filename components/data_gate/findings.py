"""A finding of the DataGate, and how rows are told of in one. Pure."""

import dataclasses
import itertools
import math
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import yaml

from components.example_gen.examples import Example
from components.example_gen.normalisation import excerpt

Splits = Mapping[str, Sequence[Example]]
Severity = Literal["stop", "note"]
ROWS_SHOWN, LABELS_SHOWN = 3, 20
_CHARACTERS_OF_A_TEXT = 40


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


def override(key: str, value: object) -> str:
    """`--set key=value` as a shell and then YAML read it, whatever a label holds."""
    written = yaml.safe_dump(
        value,
        default_flow_style=True,
        default_style='"' if isinstance(value, list | tuple) else None,
        allow_unicode=True,
        width=math.inf,
    )
    written = written.removesuffix("\n").removesuffix("\n...")
    return f"--set {shlex.quote(f'{key}={written}')}"


def by_share(
    rule: str,
    message: str,
    examples: tuple[str, ...],
    *,
    key: str,
    share: float,
    allowed: float,
    why: str,
) -> Finding:
    """A finding that stops the run where `share` is above what the key allows.

    Args:
      rule: its name.
      message: what was found, as whole sentences.
      examples: some of the rows.
      key: of the configuration; offered with a value that is enough.
      share: of the rows, from 0 to 1.
      allowed: what the key is set to.
      why: what is wrong with it and what to do instead, up to ", or allow it".
    """
    if share <= allowed:
        message += f" `{key}` ({allowed:.2%}) allows it."
        return Finding(rule, "note", message, examples, key)
    message += f" {why}, or allow it: `{override(key, rounded_up(share))}`."
    return Finding(rule, "stop", message, examples, key)


def ids(rows: Sequence[Example], total: int | None = None) -> str:
    """The first rows, of `total` if not all of them are in `rows`."""
    shown = [row_in_words(row) for row in rows[:ROWS_SHOWN]]
    return listed(shown, len(rows) if total is None else total)


def row_in_words(row: Example) -> str:
    """The id of a row and how its text begins, for the id may be made from it."""
    text = excerpt(row.text, _CHARACTERS_OF_A_TEXT)
    return f"{excerpt(row.example_id, _CHARACTERS_OF_A_TEXT)} {text!r}"


def listed(shown: Sequence[str], total: int) -> str:
    more = total - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def rows_in_words(rows: Iterable[Example]) -> tuple[str, ...]:
    return tuple(row_in_words(row) for row in itertools.islice(rows, ROWS_SHOWN))


def count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def rounded_up(share: float) -> float:
    """To three places, so that the value that is offered does allow the share."""
    return -(-share * 1000 // 1) / 1000
