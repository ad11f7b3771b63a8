"""Columns and missing values against those of the serving model's data. Pure.

A slice steers the metrics and not the model, so one that goes empty is a note here;
`max_missing_share` is what stops it.
"""

from collections.abc import Mapping, Sequence

from components.data_gate.drift.profile import Counts, Profile
from components.data_gate.findings import (
    ROWS_SHOWN,
    Finding,
    listed,
    override,
    rows_in_words,
)
from components.example_gen.examples import Example
from components.example_gen.normalisation import excerpt
from components.example_gen.settings import DataSettings

_TYPES = "data.gate.allow_changed_types"
_MAX_RISE_OF_EMPTY = 0.2
_COLUMNS_SHOWN = 20


def changed_types(
    train: Sequence[Example],
    columns: Mapping[str, str],
    served: Profile,
    *,
    model: str,
    settings: DataSettings,
) -> list[Finding]:
    """Columns whose type is another one now; those that the job reads stop the run.

    Args:
      train: the split.
      columns: column -> type now, "" where the format has none.
      served: the profile of what the serving model was trained on.
      model: what that model is called in a message.
      settings: the `data` section.
    """
    changed = {
        name: f"{excerpt(name)!r} was {served.columns[name]} and is {kind}"
        for name, kind in columns.items()
        if kind and served.columns.get(name) and served.columns[name] != kind
    }
    meant = set(settings.gate.allow_changed_types)
    used = {settings.text, settings.target, *settings.slices}
    stop = sorted(set(changed) & used - meant)
    findings = []
    if stop:
        rows = tuple(
            f"{excerpt(_value(row, name, settings))!r} in {excerpt(name)!r} "
            f"({row.example_id})"
            for name in stop
            for row in train[:ROWS_SHOWN]
        )
        message = (
            f"Columns whose type has changed since {model} was trained: "
            f"{'; '.join(changed[name] for name in stop)}. The same value may be "
            f"written in another way now, like 7 and 7.0. Rows: {', '.join(rows)}. "
            "Correct the export, or, if the values are right, allow it: "
            f"`{override(_TYPES, sorted(meant | set(stop)))}`."
        )
        findings.append(Finding("changed_type", "stop", message, rows, _TYPES))
    told = [changed[name] for name in sorted(set(changed) - set(stop))]
    if told:
        message = f"Columns whose type has changed since {model} was trained: "
        message += f"{listed(told[:_COLUMNS_SHOWN], len(told))}."
        findings.append(Finding("changed_type", "note", message, tuple(told), _TYPES))
    return findings


def changed_columns(
    columns: Mapping[str, str], served: Profile, *, model: str
) -> list[Finding]:
    """Columns that came or went; the job reads none of them."""
    if not columns or not served.columns:
        return []
    findings = []
    for names, what in (
        (sorted(set(served.columns) - set(columns)), "are no longer there"),
        (sorted(set(columns) - set(served.columns)), "are new"),
    ):
        if names:
            shown = tuple(repr(excerpt(name)) for name in names)
            message = (
                f"Columns of the data files that {what} since {model} was trained: "
                f"{listed(shown[:_COLUMNS_SHOWN], len(shown))}."
            )
            findings.append(Finding("changed_columns", "note", message, shown))
    return findings


def emptier_slices(
    train: Sequence[Example], counts: Counts, served: Profile, *, model: str
) -> list[Finding]:
    """Slice columns of which many more rows than before have no value."""
    findings = []
    for name in sorted(set(counts.slices) & set(served.empty)):
        share = counts.slices[name][""] / counts.rows
        if share - served.empty[name] <= _MAX_RISE_OF_EMPTY:
            continue
        rows = [row for row in train if not row.slices.get(name)]
        shown = rows_in_words(rows)
        message = (
            f"Rows of the train split without a value in column {excerpt(name)!r}: "
            f"{share:.1%}, and {served.empty[name]:.1%} when {model} was trained. "
            f"Rows: {listed(shown, len(rows))}. Metrics by this column say less now."
        )
        findings.append(Finding("emptier_slice", "note", message, shown))
    return findings


def _value(row: Example, column: str, settings: DataSettings) -> str:
    if column == settings.text:
        return row.text
    return row.target if column == settings.target else row.slices.get(column, "")
