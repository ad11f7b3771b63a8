"""What a new file would change against a reviewed schema. Pure."""

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from components.data_gate.findings import LABELS_SHOWN, ROWS_SHOWN, count, listed
from components.data_gate.reviewed_schema import Column
from components.example_gen.examples import Example
from components.example_gen.normalisation import excerpt
from trainer_module import features

Splits = Mapping[str, Sequence[Example]]


@dataclasses.dataclass(frozen=True)
class Difference:
    """One group of things that are not as the schema says.

    Attributes:
      heading: what they have in common.
      lines: each of them, with rows where there are some.
      stops: whether a run on this file would be stopped for it.
    """

    heading: str
    lines: tuple[str, ...]
    stops: bool = True


def compare(
    splits: Splits,
    columns: Mapping[str, Column],
    *,
    read: Collection[str],
    missing: Collection[str],
    lengths: Mapping[str, Mapping[str, np.ndarray]] | None,
    derived: Collection[str] = (),
) -> list[Difference]:
    """Every difference; those that stop a run come first.

    Args:
      splits: the examples of each split of the new file.
      columns: of the reviewed schema.
      read: the slices that were read.
      missing: the slices that the job names and the file lacks.
      lengths: {split: {feature: [rows] tokens}}; None if they were not counted.
      derived: the slices that ExampleGen has made from the text; the gate notes a new
        value of these, and no run is stopped for it.
    """
    there = [*features.RAW, *read]
    found = [
        *_missing_columns(columns, there, missing),
        *_new_columns(columns, there, derived),
        *_values_not_listed(splits, columns, there, derived),
        *_longer(splits, columns, lengths or {}),
        *_fewer_rows(splits, columns, there),
        *_values_gone(splits, columns, there, derived),
    ]
    return sorted(found, key=lambda difference: not difference.stops)


def _missing_columns(
    columns: Mapping[str, Column], there: Collection[str], missing: Collection[str]
) -> Iterator[Difference]:
    lines = [f"{name!r}: `data.slices` names it" for name in missing]
    lines += [
        f"{c.name!r}: the schema requires it, and `data.slices` does not name it"
        for c in columns.values()
        if c.required and c.name not in there and c.name not in missing
    ]
    if lines:
        yield Difference("Columns that are missing", tuple(lines))


def _new_columns(
    columns: Mapping[str, Column], there: Collection[str], derived: Collection[str]
) -> Iterator[Difference]:
    lines = [
        f"{name!r}" for name in there if name not in columns and name not in derived
    ]
    if lines:
        yield Difference("Columns that the schema does not have", tuple(lines))


def _values_not_listed(
    splits: Splits,
    columns: Mapping[str, Column],
    there: Collection[str],
    derived: Collection[str],
) -> Iterator[Difference]:
    for column in _closed(columns, there):
        if column.name in derived:
            continue
        rows: dict[str, list[Example]] = {}
        for row in _all(splits):
            if (value := value_of(row, column.name)) not in (column.values or ()):
                rows.setdefault(value, []).append(row)
        if rows:
            lines = [
                f"{excerpt(value)!r}: {count(len(found), 'row')}: {_told(found)}"
                for value, found in sorted(rows.items())
            ]
            yield Difference(
                f"{_named(column.name)} that the schema does not list", _cut(lines)
            )


def _values_gone(
    splits: Splits,
    columns: Mapping[str, Column],
    there: Collection[str],
    derived: Collection[str],
) -> Iterator[Difference]:
    for column in _closed(columns, there):
        seen = {value_of(row, column.name) for row in _all(splits)}
        gone = [f"{v!r}" for v in column.values or () if v not in seen]
        if gone and column.name not in derived:
            heading = f"{_named(column.name)} that no row has any more"
            yield Difference(heading, _cut(gone), stops=False)


def _longer(
    splits: Splits,
    columns: Mapping[str, Column],
    lengths: Mapping[str, Mapping[str, np.ndarray]],
) -> Iterator[Difference]:
    for name in (features.TEXT, features.TARGET):
        limit = columns[name].max_tokens if name in columns else None
        if limit is None:
            continue
        over = [
            f"{excerpt(value_of(row, name))!r} ({row.example_id}): {tokens:,} tokens"
            for split, rows in splits.items()
            for row, tokens in _with_lengths(rows, lengths, split, name)
            if tokens > limit
        ]
        if over:
            heading = f"A {name} of more than the {limit:,} tokens that are allowed"
            shown = over[:ROWS_SHOWN]
            more = len(over) - len(shown)
            yield Difference(heading, (*shown, *([f"and {more} more"] if more else [])))


def _with_lengths(
    rows: Sequence[Example],
    lengths: Mapping[str, Mapping[str, np.ndarray]],
    split: str,
    name: str,
) -> Iterator[tuple[Example, int]]:
    counted = lengths.get(split, {}).get(name)
    return iter(()) if counted is None else zip(rows, counted.tolist(), strict=True)


def _fewer_rows(
    splits: Splits, columns: Mapping[str, Column], there: Collection[str]
) -> Iterator[Difference]:
    minimum = max((c.min_rows for c in columns.values() if c.name in there), default=0)
    lines = [
        f"{split}: {count(len(rows), 'row')}, and min_count is {minimum:,}"
        for split, rows in splits.items()
        if len(rows) < minimum
    ]
    if lines:
        yield Difference("Fewer rows than the schema asks for", tuple(lines))


def value_of(row: Example, name: str) -> str:
    if name in features.RAW:
        return str(getattr(row, name))
    return row.slices.get(name, "")


def _closed(columns: Mapping[str, Column], there: Collection[str]) -> Iterator[Column]:
    for column in columns.values():
        if column.values is not None and column.name in there:
            yield column


def _all(splits: Splits) -> Iterator[Example]:
    for rows in splits.values():
        yield from rows


def _named(column: str) -> str:
    return "Labels" if column == features.TARGET else f"Values of {column!r}"


def _told(rows: Sequence[Example]) -> str:
    shown = [f"{excerpt(r.text)!r} ({r.example_id})" for r in rows[:ROWS_SHOWN]]
    return listed(shown, len(rows))


def _cut(lines: Sequence[str]) -> tuple[str, ...]:
    more = len(lines) - LABELS_SHOWN
    return (*lines[:LABELS_SHOWN], *([f"and {more} more"] if more > 0 else []))
