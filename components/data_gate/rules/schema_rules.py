"""What TensorFlow Data Validation says, with the rows that it counts only. Pure."""

import dataclasses
from collections.abc import Collection, Mapping, Sequence

from components.data_gate.findings import (
    ROWS_SHOWN,
    Finding,
    Severity,
    Splits,
    listed,
    override,
    row_in_words,
)
from components.example_gen.examples import Example
from components.example_gen.normalisation import excerpt
from components.example_gen.settings import DataSettings
from trainer_module import features

ANOMALIES_SHOWN = 10
# A description of TFDV quotes values of the data, which can be of any length.
_DESCRIPTION_CHARACTERS = 300

# TFDV's names of these kinds.
OUTSIDE_DOMAIN = "ENUM_TYPE_UNEXPECTED_STRING_VALUES"
NEW_COLUMN = "SCHEMA_NEW_COLUMN"


@dataclasses.dataclass(frozen=True)
class Anomaly:
    """What TFDV says of a feature, or of the whole split if `feature` is empty."""

    split: str
    feature: str
    kind: str
    description: str


def schema_anomalies(
    anomalies: Sequence[Anomaly],
    splits: Splits,
    domains: Mapping[str, Collection[str]],
    settings: DataSettings,
    derived: Collection[str] = (),
) -> list[Finding]:
    """One finding for each of the first anomalies, and one for all others.

    Each has the rows whose value the schema lacks. Those that stop come first; those
    of `derived`, the slices that ExampleGen has made, never do.
    """
    ordered = sorted(anomalies, key=lambda anomaly: _is_ours(anomaly, derived))
    findings = [
        _finding(anomaly, splits, domains, settings, derived)
        for anomaly in ordered[:ANOMALIES_SHOWN]
    ]
    rest = ordered[ANOMALIES_SHOWN:]
    if rest:
        names = tuple(
            f"{a.split}: {_where(a.feature, settings)}: {_described(a)}" for a in rest
        )
        stops = not all(_is_ours(a, derived) for a in rest)
        message = (
            f"The data does not fit the schema in {len(rest)} more ways: "
            f"{listed(names[:ROWS_SHOWN], len(names))}. findings.json has them all."
        )
        findings.append(
            Finding(
                "schema",
                "stop" if stops else "note",
                message,
                names,
                "data.reviewed_schema",
            )
        )
    return findings


def _finding(
    anomaly: Anomaly,
    splits: Splits,
    domains: Mapping[str, Collection[str]],
    settings: DataSettings,
    derived: Collection[str],
) -> Finding:
    rows = _rows_outside(anomaly, splits, domains)
    shown = tuple(
        f"{excerpt(_value(row, anomaly.feature))!r} ({row_in_words(row)})"
        for row in rows[:ROWS_SHOWN]
    )
    message = (
        f"The {anomaly.split} split does not fit the schema: "
        f"{_where(anomaly.feature, settings)}: {_described(anomaly)}."
    )
    if rows:
        message += f" Rows: {listed(shown, len(rows))}."
    severity: Severity = "note"
    if not _is_ours(anomaly, derived):
        severity = "stop"
        message += f" Correct the file, or {_way_to_allow(settings)}."
    return Finding("schema", severity, message, shown, "data.reviewed_schema")


def tells_unseen(anomaly: Anomaly) -> bool:
    """What `unseen_labels` says with the rows' names need not be said twice."""
    return (anomaly.split, anomaly.feature, anomaly.kind) == (
        "eval",
        features.TARGET,
        OUTSIDE_DOMAIN,
    )


def _rows_outside(
    anomaly: Anomaly, splits: Splits, domains: Mapping[str, Collection[str]]
) -> list[Example]:
    """The rows that TFDV counts and does not name."""
    if anomaly.kind != OUTSIDE_DOMAIN or anomaly.feature not in domains:
        return []
    allowed = frozenset(domains[anomaly.feature])
    rows = splits[anomaly.split]
    return [row for row in rows if _value(row, anomaly.feature) not in allowed]


def _is_ours(anomaly: Anomaly, derived: Collection[str]) -> bool:
    """A value that ExampleGen has made: one that is new is no fault of the data."""
    return anomaly.feature in derived and anomaly.kind in (
        OUTSIDE_DOMAIN,
        NEW_COLUMN,
    )


def _described(anomaly: Anomaly) -> str:
    return excerpt(anomaly.description.rstrip(". "), _DESCRIPTION_CHARACTERS)


def _way_to_allow(settings: DataSettings) -> str:
    if settings.reviewed_schema is not None:
        return (
            f"allow them in the reviewed schema ({settings.reviewed_schema}), or go on "
            f"without it: `{override('data.reviewed_schema', None)}`"
        )
    return "name a schema that allows them as `data.reviewed_schema`"


def _value(example: Example, feature: str) -> str:
    if feature in features.RAW:
        return str(getattr(example, feature))
    return example.slices.get(feature, "")


def _where(feature: str, settings: DataSettings) -> str:
    columns = {features.TEXT: settings.text, features.TARGET: settings.target}
    if not feature:
        return "all of it"
    if feature in columns:
        return f"{feature} (column {columns[feature]!r})"
    return f"column {feature!r}"
