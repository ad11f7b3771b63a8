"""DataGate: stops the run on data that no model should be trained on."""

# No `from __future__ import annotations`: TFX reads the annotations themselves.
import dataclasses
import itertools
import json
import os
from collections.abc import Iterator
from typing import Any

import tensorflow as tf
from google.protobuf import text_format
from tensorflow_metadata.proto.v0 import anomalies_pb2, schema_pb2
from tfx import v1 as tfx
from tfx.dsl.io import fileio
from tfx.types import artifact_utils, standard_artifacts

from components import artifacts
from components.data_gate import core, drift, profile, served
from components.data_gate.findings import Finding, Splits
from components.data_gate.schema_rules import Anomaly
from components.example_gen.component import ACCOUNT_FILE
from components.example_gen.core import SPLITS
from components.example_gen.examples import Example
from components.example_gen.settings import DataSettings
from trainer_module import features, progress
from trainer_module.progress import DataRefused

FINDINGS_FILE = "findings.json"
_RECORDS_AT_ONCE = 256
_Input = tfx.dsl.components.InputArtifact


@tfx.dsl.components.component
def DataGate(
    examples: _Input[standard_artifacts.Examples],
    schema: _Input[standard_artifacts.Schema],
    anomalies: _Input[standard_artifacts.ExampleAnomalies],
    account: _Input[artifacts.DataAccount],
    verdict: tfx.dsl.components.OutputArtifact[artifacts.DataVerdict],
    data: tfx.dsl.components.Parameter[str],
    task: tfx.dsl.components.Parameter[str],
    serving_dir: tfx.dsl.components.Parameter[str],
    served_hash: tfx.dsl.components.Parameter[str],
    code: tfx.dsl.components.Parameter[str],
) -> None:
    """Writes findings.json, and raises DataRefused if one of them stops the run.

    Args:
      examples: ExampleGen's.
      schema: inferred or reviewed.
      anomalies: ExampleValidator's, which by themselves stop nothing.
      account: ExampleGen's.
      verdict: findings.json, and profile.json of the train split.
      data: JSON of `DataSettings`.
      task: "classification" or "summarization".
      serving_dir: the folder of the served versions, or "" for no comparison.
      served_hash: of the served version's profile; a part of the cache key, not read.
      code: fingerprint of this project's code; likewise.
    """
    del served_hash, code
    settings = DataSettings.model_validate_json(data)
    splits = {split: list(read_split(examples, split)) for split in SPLITS}
    told = _read_account(account)
    _check_against_account(splits, told)
    domains = read_domains(schema)
    findings = core.check(
        splits,
        [a for split in SPLITS for a in read_anomalies(anomalies, split)],
        domains=domains,
        settings=settings,
        task=task,
    )
    counts = {split: profile.count(rows, task) for split, rows in splits.items()}
    columns = profile.columns_of(told, settings.train)
    findings += drift.check(
        splits,
        counts,
        served.newest(serving_dir),
        columns=columns,
        domains=domains,
        settings=settings,
        task=task,
    )
    findings.sort(key=lambda f: f.severity != "stop")
    _write_profile(verdict, profile.of(counts["train"], task=task, columns=columns))
    _write_findings(verdict, findings)
    notes = [dataclasses.asdict(f) for f in findings if f.severity == "note"]
    progress.report("data_gate", notes=notes)
    stops = [f.message for f in findings if f.severity == "stop"]
    if stops:
        raise DataRefused(*stops)


def read_split(examples, split: str) -> Iterator[Example]:
    """Yields the raw examples of a split, in the file's order."""
    folder = artifact_utils.get_split_uri([examples], split)
    paths = sorted(fileio.glob(os.path.join(folder, "*")))
    # Handing over a record costs a millisecond, however many come at once.
    batches = tf.data.TFRecordDataset(paths, "GZIP").batch(_RECORDS_AT_ONCE)
    for record in itertools.chain.from_iterable(batches.as_numpy_iterator()):
        parsed = tf.train.Example.FromString(record).features.feature
        values = {
            name: feature.bytes_list.value[0].decode("utf-8")
            for name, feature in parsed.items()
        }
        raw = {name: values.pop(name) for name in features.RAW}
        yield Example(**raw, slices=values)


def read_anomalies(anomalies, split: str) -> Iterator[Anomaly]:
    """Yields each reason of each anomaly that ExampleValidator found in a split."""
    folder = artifact_utils.get_split_uri([anomalies], split)
    with fileio.open(os.path.join(folder, "SchemaDiff.pb"), "rb") as file:
        found = anomalies_pb2.Anomalies.FromString(file.read())
    named = dict(found.anomaly_info)
    if found.HasField("dataset_anomaly_info"):
        named[""] = found.dataset_anomaly_info
    for name, info in sorted(named.items()):
        feature = ".".join(info.path.step) or name
        # Without a reason, all that there is to tell is the description.
        for reason in info.reason or [info]:
            kind = anomalies_pb2.AnomalyInfo.Type.Name(getattr(reason, "type", 0))
            yield Anomaly(split, feature, kind, reason.description.strip())


def read_domains(schema) -> dict[str, list[str]]:
    """Returns, for each feature with a closed list of values, that list."""
    (path,) = fileio.glob(os.path.join(schema.uri, "*.pbtxt"))
    with fileio.open(path) as file:
        parsed = text_format.Parse(file.read(), schema_pb2.Schema())
    shared = {domain.name: list(domain.value) for domain in parsed.string_domain}
    domains = {}
    for feature in parsed.feature:
        if feature.HasField("string_domain"):
            domains[feature.name] = list(feature.string_domain.value)
        elif feature.domain in shared:
            domains[feature.name] = shared[feature.domain]
    return domains


def _read_account(account) -> dict[str, Any]:
    with fileio.open(os.path.join(account.uri, ACCOUNT_FILE)) as file:
        return json.loads(file.read())


def _check_against_account(splits: Splits, account: dict[str, Any]) -> None:
    read = {split: len(rows) for split, rows in splits.items()}
    if read != account["splits"]:
        raise RuntimeError(
            f"The examples and the row account disagree: {read} were read, and "
            f"{ACCOUNT_FILE} tells of {account['splits']}. Run again from ExampleGen."
        )


def _write_profile(verdict, found: profile.Profile) -> None:
    fileio.makedirs(verdict.uri)
    with fileio.open(os.path.join(verdict.uri, profile.PROFILE_FILE), "w") as file:
        file.write(found.to_json())


def _write_findings(verdict, findings: list[Finding]) -> None:
    fileio.makedirs(verdict.uri)
    written = {"findings": [dataclasses.asdict(f) for f in findings]}
    text = json.dumps(written, indent=2, ensure_ascii=False)
    with fileio.open(os.path.join(verdict.uri, FINDINGS_FILE), "w") as file:
        file.write(text)
    # TFX removes what a node that fails has written; the run keeps this.
    progress.keep(FINDINGS_FILE, text)
