"""DataGate: stops the run on data that no model should be trained on."""

# No `from __future__ import annotations`: TFX reads the annotations themselves.
import dataclasses
import json
import os
from typing import Any

from tfx import v1 as tfx
from tfx.dsl.io import fileio
from tfx.types import standard_artifacts

from components import artifacts
from components.data_gate import core, inputs
from components.data_gate.drift import comparison, profile, served
from components.data_gate.findings import Finding, Splits
from components.data_gate.texts import examination
from components.example_gen.component import ACCOUNT_FILE
from components.example_gen.core import SPLITS
from components.example_gen.settings import DataSettings
from components.example_gen.written import read_split
from trainer_module import progress
from trainer_module.progress import DataRefused
from trainer_module.settings import ModelSettings

FINDINGS_FILE = "findings.json"
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
    model: tfx.dsl.components.Parameter[str],
    checkpoint_dir: tfx.dsl.components.Parameter[str],
    checkpoint_hash: tfx.dsl.components.Parameter[str],
    serving_dir: tfx.dsl.components.Parameter[str],
    served_hash: tfx.dsl.components.Parameter[str],
    code: tfx.dsl.components.Parameter[str],
) -> None:
    """Writes what it finds, and raises DataRefused if one of them stops the run.

    Args:
      examples: ExampleGen's.
      schema: inferred or reviewed.
      anomalies: ExampleValidator's, which by themselves stop nothing.
      account: ExampleGen's.
      verdict: findings.json, profile.json of the train split, text_statistics.json.
      data: JSON of `DataSettings`.
      task: "classification" or "summarization".
      model: JSON of `ModelSettings`.
      checkpoint_dir: whose tokenizer counts the tokens of the texts.
      checkpoint_hash: of its content; a part of the cache key, not read.
      serving_dir: the folder of the served versions, or "" for no comparison.
      served_hash: of the served version's profile; likewise.
      code: fingerprint of this project's code; likewise.
    """
    del checkpoint_hash, served_hash, code
    settings = DataSettings.model_validate_json(data)
    splits = {split: list(read_split(examples, split)) for split in SPLITS}
    told = _read_account(account)
    _check_against_account(splits, told)
    features = inputs.read_schema(schema).values()
    domains = {f.name: f.values for f in features if f.values is not None}
    findings = core.check(
        splits,
        [a for split in SPLITS for a in inputs.read_anomalies(anomalies, split)],
        domains=domains,
        settings=settings,
        task=task,
        derived=settings.derived_slices(_columns_of(told)),
    )
    counts = {split: profile.count(rows, task) for split, rows in splits.items()}
    columns = profile.columns_of(told, settings.train)
    findings += comparison.check(
        splits,
        counts,
        served.newest(serving_dir),
        columns=columns,
        domains=domains,
        settings=settings,
        task=task,
    )
    fileio.makedirs(verdict.uri)
    findings += examination.look_at(
        splits,
        task=task,
        settings=settings,
        checkpoint_dir=checkpoint_dir,
        model=ModelSettings.model_validate_json(model),
        limits={f.name: f.max_tokens for f in features if f.max_tokens},
        verdict=verdict,
    )
    found = profile.of(counts["train"], task=task, columns=columns)
    _write(verdict, profile.PROFILE_FILE, found.to_json())
    _conclude(verdict, findings)


def _read_account(account) -> dict[str, Any]:
    with fileio.open(os.path.join(account.uri, ACCOUNT_FILE)) as file:
        return json.loads(file.read())


def _columns_of(account: dict[str, Any]) -> set[str]:
    return {name for file in account["files"] for name in file["columns"]}


def _check_against_account(splits: Splits, account: dict[str, Any]) -> None:
    read = {split: len(rows) for split, rows in splits.items()}
    if read != account["splits"]:
        raise RuntimeError(
            f"The examples and the row account disagree: {read} were read, and "
            f"{ACCOUNT_FILE} tells of {account['splits']}. Run again from ExampleGen."
        )


def _conclude(verdict, findings: list[Finding]) -> None:
    """Writes and tells of what was found; those that stop the run are raised."""
    findings = sorted(findings, key=lambda finding: finding.severity != "stop")
    written = {"findings": [dataclasses.asdict(f) for f in findings]}
    text = json.dumps(written, indent=2, ensure_ascii=False)
    _write(verdict, FINDINGS_FILE, text)
    # TFX removes what a node that fails has written; the run keeps this.
    progress.keep(FINDINGS_FILE, text)
    notes = [dataclasses.asdict(f) for f in findings if f.severity == "note"]
    progress.report("data_gate", notes=notes)
    stops = [f.message for f in findings if f.severity == "stop"]
    if stops:
        raise DataRefused(*stops)


def _write(verdict, name: str, text: str) -> None:
    with fileio.open(os.path.join(verdict.uri, name), "w") as file:
        file.write(text)
