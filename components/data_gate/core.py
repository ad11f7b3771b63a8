"""What is wrong with the data, before anything is trained on it. Pure."""

from collections.abc import Collection, Mapping, Sequence

from components.data_gate.findings import Finding, Splits
from components.data_gate.rules import (
    columns,
    labels,
    leakage,
    repeats,
    schema_rules,
    sizes,
    text_keys,
)
from components.data_gate.rules.schema_rules import Anomaly
from components.example_gen.settings import DataSettings


def check(
    splits: Splits,
    anomalies: Sequence[Anomaly],
    *,
    domains: Mapping[str, Collection[str]],
    settings: DataSettings,
    task: str,
    derived: Collection[str] = (),
) -> list[Finding]:
    """Runs every rule; those that stop come first, the gravest of them at the top.

    Args:
      splits: the examples of "train" and "eval".
      anomalies: TFDV's, of both splits.
      domains: feature -> the values that the schema allows, where it lists them.
      settings: the `data` section.
      task: "classification" or "summarization".
      derived: the slices that ExampleGen has made from the text.
    """
    train, keys = splits["train"], text_keys.keys_of(splits)
    classifies = task == "classification"
    unseen = labels.unseen_labels(splits) if classifies else []
    relevant = [
        anomaly
        for anomaly in anomalies
        if not (unseen and schema_rules.tells_unseen(anomaly))
    ]
    findings = sizes.too_few_examples(splits, settings)
    findings += labels.single_label(train) if classifies else []
    findings += unseen
    findings += schema_rules.schema_anomalies(
        relevant, splits, domains, settings, derived
    )
    findings += repeats.leaked_texts(splits, keys, settings)
    findings += leakage.near_duplicates(splits, keys, settings)
    if classifies:
        # Several summaries of one text are several references.
        findings += repeats.contradicting_labels(splits, keys, settings)
        findings += labels.similar_labels(train, settings)
        findings += labels.rare_labels(train, settings)
    findings += sizes.wide_interval(splits, settings)
    findings += columns.missing_values(splits, settings)
    findings += sizes.thin_labels(splits) if classifies else []
    findings += repeats.repeated_rows(train, keys)
    findings += columns.doubtful_ids(splits, settings)
    return sorted(findings, key=lambda f: f.severity != "stop")
