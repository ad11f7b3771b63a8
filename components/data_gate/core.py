"""What is wrong with the data, before anything is trained on it. Pure."""

import dataclasses
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from components.data_gate.findings import (
    LABELS_SHOWN,
    ROWS_SHOWN,
    Finding,
    Severity,
    count,
    ids,
    listed,
    rounded_up,
)
from components.example_gen.examples import Example
from components.example_gen.normalisation import excerpt, text_key
from components.example_gen.settings import TEXT_LENGTH_SLICE, DataSettings
from trainer_module import features

Splits = Mapping[str, Sequence[Example]]

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


def check(
    splits: Splits,
    anomalies: Sequence[Anomaly],
    *,
    domains: Mapping[str, Collection[str]],
    settings: DataSettings,
    task: str,
) -> list[Finding]:
    """Runs every rule; those that stop come first.

    Args:
      splits: the examples of "train" and "eval".
      anomalies: TFDV's, of both splits.
      domains: feature -> the values that the schema allows, where it lists them.
      settings: the `data` section.
      task: "classification" or "summarization".
    """
    findings = [*too_few_examples(splits, settings), *leaked_texts(splits, settings)]
    unseen: list[Finding] = []
    if task == "classification":
        unseen = unseen_labels(splits)
        findings += unseen
        findings += single_label(splits["train"])
        findings += rare_labels(splits["train"], settings)
        findings += contradicting_labels(splits["train"])
    relevant = [
        anomaly
        for anomaly in anomalies
        if not _is_free_text(anomaly, task) and not (unseen and _tells_unseen(anomaly))
    ]
    findings += schema_anomalies(relevant, splits, domains, settings)
    return sorted(findings, key=lambda f: f.severity != "stop")


def too_few_examples(splits: Splits, settings: DataSettings) -> list[Finding]:
    findings = []
    for split, key in (("train", "min_train_examples"), ("eval", "min_eval_examples")):
        minimum, rows = getattr(settings.gate, key), len(splits[split])
        if rows >= minimum:
            continue
        message = (
            f"The {split} split has {count(rows, 'example')}, and at least {minimum} "
            "are asked for. Add rows"
        )
        message += f", or allow it: `--set data.gate.{key}={rows}`." if rows else "."
        findings.append(
            Finding("too_few_examples", "stop", message, allow=f"data.gate.{key}")
        )
    return findings


def single_label(train: Sequence[Example]) -> list[Finding]:
    """With one label every answer is right, and every gate is passed."""
    labels = {example.target for example in train}
    if len(labels) != 1:
        return []
    message = (
        f"All {len(train)} train rows have the label {excerpt(labels.pop())!r}: there "
        "is nothing to tell apart. Name the right column as `data.target`, or add "
        "rows with other labels; no key allows this."
    )
    return [Finding("single_label", "stop", message)]


def rare_labels(train: Sequence[Example], settings: DataSettings) -> list[Finding]:
    minimum = settings.gate.min_examples_per_label
    counts = Counter(example.target for example in train)
    rare = sorted((n, label) for label, n in counts.items() if n < minimum)
    if not rare:
        return []
    names = tuple(f"{excerpt(label)!r} ({n})" for n, label in rare)
    shown = listed(names[:LABELS_SHOWN], len(names))
    message = (
        f"Labels with fewer than {minimum} train examples: {len(rare)} of "
        f"{len(counts)}: {shown}. Add rows, merge or correct the labels, or allow it: "
        f"`--set data.gate.min_examples_per_label={rare[0][0]}`."
    )
    return [
        Finding(
            "rare_label", "stop", message, names, "data.gate.min_examples_per_label"
        )
    ]


def unseen_labels(splits: Splits) -> list[Finding]:
    known = {example.target for example in splits["train"]}
    rows: dict[str, list[Example]] = {}
    for example in splits["eval"]:
        if example.target not in known:
            rows.setdefault(example.target, []).append(example)
    if not rows:
        return []
    names = tuple(
        f"{excerpt(label)!r} ({count(len(found), 'row')}: {ids(found)})"
        for label, found in sorted(rows.items())
    )
    shown = listed(names[:LABELS_SHOWN], len(names))
    message = (
        "Labels of the eval split that the train split never has, so that no model can "
        f"give them: {len(rows)}: {shown}. Correct the labels, add train rows that "
        "have them, or take these out of the eval file; no key allows this."
    )
    return [Finding("unseen_label", "stop", message, names)]


def leaked_texts(splits: Splits, settings: DataSettings) -> list[Finding]:
    """Eval rows whose text, but for case and white space, is in the train split."""
    in_train: dict[bytes, Example] = {}
    for example in splits["train"]:
        in_train.setdefault(text_key(example.text), example)
    pairs = [
        (example, in_train[key])
        for example in splits["eval"]
        if (key := text_key(example.text)) in in_train
    ]
    if not pairs:
        return []
    share, allowed = len(pairs) / len(splits["eval"]), settings.gate.max_leaked_share
    shown = tuple(
        f"{excerpt(ours.text)!r} (eval {ours.example_id}, train {theirs.example_id})"
        for ours, theirs in pairs[:ROWS_SHOWN]
    )
    message = (
        f"Eval rows with a text that the train split has too: {len(pairs)} of "
        f"{len(splits['eval'])} ({share:.2%}): {listed(shown, len(pairs))}. "
    )
    if share <= allowed:
        message += f"`data.gate.max_leaked_share` ({allowed:.2%}) allows it."
        severity: Severity = "note"
    else:
        severity = "stop"
        message += (
            "Scores on them flatter the model. Remove them from one file, or allow it: "
            f"`--set data.gate.max_leaked_share={rounded_up(share)}`."
        )
    return [
        Finding("leaked_text", severity, message, shown, "data.gate.max_leaked_share")
    ]


def contradicting_labels(train: Sequence[Example]) -> list[Finding]:
    by_key: dict[bytes, dict[str, Example]] = {}
    for example in train:
        labels = by_key.setdefault(text_key(example.text), {})
        labels.setdefault(example.target, example)
    torn = [labels for labels in by_key.values() if len(labels) > 1]
    if not torn:
        return []
    shown = tuple(_contradiction(labels) for labels in torn[:ROWS_SHOWN])
    message = (
        f"Texts of the train split with more than one label: {len(torn)}: "
        f"{listed(shown, len(torn))}. The model cannot learn both; keep the right one."
    )
    return [Finding("contradicting_labels", "note", message, shown)]


def schema_anomalies(
    anomalies: Iterable[Anomaly],
    splits: Splits,
    domains: Mapping[str, Collection[str]],
    settings: DataSettings,
) -> list[Finding]:
    """One finding for each anomaly, with the rows whose value the schema lacks."""
    findings = []
    for anomaly in anomalies:
        rows = _rows_outside(anomaly, splits, domains)
        shown = tuple(
            f"{_value(row, anomaly.feature)!r} ({row.example_id})"
            for row in rows[:ROWS_SHOWN]
        )
        message = (
            f"The {anomaly.split} split does not fit the schema: "
            f"{_where(anomaly.feature, settings)}: "
            f"{anomaly.description.rstrip('. ')}."
        )
        if rows:
            message += f" Rows: {listed(shown, len(rows))}."
        severity: Severity = "note"
        if not _is_ours(anomaly):
            severity = "stop"
            message += f" Correct the file, or {_way_to_allow(settings)}."
        findings.append(
            Finding("schema", severity, message, shown, "data.reviewed_schema")
        )
    return findings


def _rows_outside(
    anomaly: Anomaly, splits: Splits, domains: Mapping[str, Collection[str]]
) -> list[Example]:
    """The rows that TFDV counts and does not name."""
    if anomaly.kind != OUTSIDE_DOMAIN or anomaly.feature not in domains:
        return []
    allowed = frozenset(domains[anomaly.feature])
    rows = splits[anomaly.split]
    return [row for row in rows if _value(row, anomaly.feature) not in allowed]


def _is_ours(anomaly: Anomaly) -> bool:
    """A band of lengths is ExampleGen's: one that is new is no fault of the data."""
    return anomaly.feature == TEXT_LENGTH_SLICE and anomaly.kind in (
        OUTSIDE_DOMAIN,
        NEW_COLUMN,
    )


def _way_to_allow(settings: DataSettings) -> str:
    if settings.reviewed_schema is not None:
        return (
            f"allow them in the reviewed schema ({settings.reviewed_schema}), or go on "
            "without it: `--set data.reviewed_schema=null`"
        )
    return "name a schema that allows them as `data.reviewed_schema`"


def _is_free_text(anomaly: Anomaly, task: str) -> bool:
    """On small data TFDV takes free text for one of a closed list of values."""
    free = {features.TEXT, features.EXAMPLE_ID}
    if task == "summarization":
        free.add(features.TARGET)
    return anomaly.kind == OUTSIDE_DOMAIN and anomaly.feature in free


def _tells_unseen(anomaly: Anomaly) -> bool:
    """What `unseen_labels` says with the rows' names need not be said twice."""
    return (anomaly.split, anomaly.feature, anomaly.kind) == (
        "eval",
        features.TARGET,
        OUTSIDE_DOMAIN,
    )


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


def _contradiction(labels: Mapping[str, Example]) -> str:
    text = excerpt(next(iter(labels.values())).text)
    names = ", ".join(
        f"{excerpt(name)} in {row.example_id}" for name, row in labels.items()
    )
    return f"{text!r} ({names})"
