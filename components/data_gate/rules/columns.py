"""Slice columns without values, and names of rows that are none. Pure."""

import re
from collections.abc import Iterator, Mapping

from components.data_gate.findings import (
    ROWS_SHOWN,
    Finding,
    Severity,
    Splits,
    count,
    ids,
    listed,
    override,
    rounded_up,
    row_in_words,
)
from components.example_gen.examples import Example, stable_id
from components.example_gen.settings import DataSettings

COLUMNS_SHOWN = 10
_COPY = re.compile(r"(.+)#\d+", re.DOTALL)
_MADE_ID = re.compile(r"[0-9a-f]{16}(#\d+)?")


def missing_values(splits: Splits, settings: DataSettings) -> list[Finding]:
    """Columns of `data.slices` empty in too many rows, or all through one split."""
    key, allowed = "data.gate.max_missing_share", settings.gate.max_missing_share
    empty = _empty_rows(splits)
    shares = {
        column: {
            split: len(rows[split]) / len(splits[split]) if splits[split] else 0.0
            for split in splits
        }
        for column, rows in empty.items()
    }
    worst = {column: max(shares[column].values()) for column in shares}
    stopping = [column for column in worst if worst[column] > allowed]
    lopsided = [
        column
        for column in worst
        if worst[column] == 1 and min(shares[column].values()) < 1
    ]
    told = [column for column in worst if column in {*stopping, *lopsided}]
    if not told:
        return []
    names = tuple(_told(column, empty[column], splits) for column in told)
    message = (
        f"Columns of `data.slices` without a value: {count(len(told), 'column')}: "
        f"{listed(names[:COLUMNS_SHOWN], len(names))}. "
    )
    severity: Severity = "note"
    if stopping:
        severity = "stop"
        share = rounded_up(max(worst[column] for column in stopping))
        message += (
            f"`{key}` allows {allowed:.2%} of a split's rows. Take "
            f"{listed(stopping[:COLUMNS_SHOWN], len(stopping))} out of `data.slices`, "
            f"or allow it: `{override(key, share)}`."
        )
    else:
        message += "The metrics of a slice need its values in both splits."
    return [Finding("missing_value", severity, message, names, key)]


def _empty_rows(splits: Splits) -> dict[str, dict[str, list[Example]]]:
    """Returns {column: {split: rows without a value}}."""
    columns = dict.fromkeys(
        name for rows in splits.values() for row in rows[:1] for name in row.slices
    )
    return {
        column: {
            split: [row for row in rows if not row.slices.get(column)]
            for split, rows in splits.items()
        }
        for column in columns
    }


def _told(column: str, empty: Mapping[str, list[Example]], splits: Splits) -> str:
    parts = [
        f"{len(rows)} of {count(len(splits[split]), f'{split} row')}"
        + (f" ({ids(rows)})" if rows else "")
        for split, rows in empty.items()
    ]
    return f"{column!r}: {', '.join(parts)}"


def doubtful_ids(splits: Splits, settings: DataSettings) -> list[Finding]:
    """Rows whose `data.id` is empty, or that of another row.

    ExampleGen calls the second row with the id "7" "7#2", and gives a row without one
    a name made from its text.
    """
    if settings.id is None:
        return []
    findings = []
    copies = list(_copies(splits))
    if copies:
        message = (
            f"Rows with an id of the column {settings.id!r} that an earlier row has: "
            f"{len(copies)}: {ids(copies)}. They are told apart by `#2`, `#3` ...; if "
            "the rows are copies, keep one."
        )
        shown = tuple(map(row_in_words, copies[:ROWS_SHOWN]))
        findings.append(Finding("repeated_id", "note", message, shown))
    unnamed = [row for row in _all(splits) if _is_made(row)]
    if unnamed:
        message = (
            f"Rows without an id in the column {settings.id!r}: {len(unnamed)}: "
            f"{ids(unnamed)}. They are named by a hash of their text and target."
        )
        shown = tuple(map(row_in_words, unnamed[:ROWS_SHOWN]))
        findings.append(Finding("empty_id", "note", message, shown))
    return findings


def _copies(splits: Splits) -> Iterator[Example]:
    names = {row.example_id for row in _all(splits)}
    for row in _all(splits):
        match = _COPY.fullmatch(row.example_id)
        if match and match[1] in names and not _is_made(row):
            yield row


def _is_made(row: Example) -> bool:
    if not _MADE_ID.fullmatch(row.example_id):
        return False
    return row.example_id.partition("#")[0] == stable_id(row.text, row.target)


def _all(splits: Splits) -> Iterator[Example]:
    for rows in splits.values():
        yield from rows
