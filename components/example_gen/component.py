"""ExampleGen: the data files -> examples, and the account of every row.

The files are shared out among Beam workers. A worker that meets bad data says so in
what it hands back: an error inside of Beam would come out as a report of Beam's.
"""

import dataclasses
import json
import os
import shutil
import time
from collections.abc import Iterator
from typing import Any

import apache_beam as beam
import tensorflow as tf
from tfx import types
from tfx.components.util import examples_utils
from tfx.dsl.components.base import (
    base_beam_component,
    base_beam_executor,
    executor_spec,
)
from tfx.dsl.io import fileio
from tfx.proto import example_gen_pb2
from tfx.types import artifact_utils, component_spec, standard_artifacts

from components import artifacts
from components.example_gen import core, portions
from components.example_gen.account import (
    Account,
    FileAccount,
    RejectedRow,
    content_hash,
)
from components.example_gen.examples import Example
from components.example_gen.portions import Portion
from components.example_gen.serialization import Serializer
from components.example_gen.settings import DataSettings
from trainer_module import progress
from trainer_module.progress import DataRefused

ACCOUNT_FILE = "account.json"
REJECTED_FILE = "rejected.jsonl"
_SECONDS_BETWEEN_REPORTS = 1.0


class Executor(base_beam_executor.BaseBeamExecutor):
    """Reads the files of the `data` section strictly; equal input gives equal bytes."""

    def Do(
        self,
        input_dict: dict[str, list[types.Artifact]],
        output_dict: dict[str, list[types.Artifact]],
        exec_properties: dict[str, Any],
    ) -> None:
        """Writes the examples, account.json and rejected.jsonl.

        Args:
          input_dict: empty.
          output_dict: `examples` (Examples; splits train and eval, all features are
            bytes with one value each) and `account` (DataAccount).
          exec_properties: `data` (JSON of `DataSettings`), `task`, and `data_hash`,
            which the files must have. `code` only takes part in the cache key.

        Raises:
          DataRefused: the account is then in the run's folder, as far as it goes.
        """
        self._log_startup(input_dict, output_dict, exec_properties)
        examples = artifact_utils.get_single_instance(output_dict["examples"])
        account = artifact_utils.get_single_instance(output_dict["account"])
        settings = DataSettings.model_validate_json(exec_properties["data"])
        core.check_files(settings)
        fileio.makedirs(account.uri)
        _prepare(examples)
        planned = portions.plan(settings)
        with self._make_beam_pipeline() as pipeline:
            _ = (
                pipeline
                | beam.Create(list(enumerate(planned)))
                | beam.Reshuffle()  # Or one worker would read them all.
                | beam.ParDo(
                    _ReadPortion(
                        exec_properties["data"],
                        exec_properties["task"],
                        folders={s: _folder(examples, s) for s in core.SPLITS},
                        account_folder=account.uri,
                    )
                )
            )
        _conclude(account, settings, len(planned), exec_properties.get("data_hash"))


class _ExampleGenSpec(component_spec.ComponentSpec):
    INPUTS: dict[str, Any] = {}
    OUTPUTS = {
        "examples": component_spec.ChannelParameter(type=standard_artifacts.Examples),
        "account": component_spec.ChannelParameter(type=artifacts.DataAccount),
    }
    PARAMETERS = {
        name: component_spec.ExecutionParameter(type=str)
        for name in ("data", "task", "data_hash", "code")
    }


class ExampleGen(base_beam_component.BaseBeamComponent):
    """Reads the data files.

    Args:
      data: JSON of `DataSettings`.
      task: "classification" or "summarization".
      data_hash: `account.content_hash` of the files when the run was planned, "" if
        that is not known.
      code: fingerprint of this project's code; a part of the cache key, not read.
    """

    SPEC_CLASS = _ExampleGenSpec
    EXECUTOR_SPEC = executor_spec.BeamExecutorSpec(Executor)

    def __init__(self, data: str, task: str, data_hash: str, code: str):
        spec = _ExampleGenSpec(
            data=data,
            task=task,
            data_hash=data_hash,
            code=code,
            examples=types.Channel(type=standard_artifacts.Examples),
            account=types.Channel(type=artifacts.DataAccount),
        )
        super().__init__(spec=spec)


class _ReadPortion(beam.DoFn):
    """Reads one portion into files of its own, and leaves its part of the account."""

    def __init__(
        self,
        data: str,
        task: str,
        *,
        folders: dict[str, str],
        account_folder: str,
    ):
        self._data, self._task = data, task
        self._folders, self._account_folder = folders, account_folder

    def process(self, element: tuple[int, Portion]) -> Iterator[int]:
        number, portion = element
        settings = DataSettings.model_validate_json(self._data)
        files = {
            split: os.path.join(folder, _records_file(portion))
            for split, folder in self._folders.items()
            if portion.split in (None, split)
        }
        rejected = os.path.join(self._account_folder, _rejected_part(number))
        findings: list[str] = []
        with _Writer(number, files, rejected) as writer:
            reader = core.Reader(settings, self._task, writer)
            try:
                reader.read(portion)
            except DataRefused as refusal:
                findings = list(refusal.findings)
        part = {
            "files": [file.as_json() for file in reader.files],
            "splits": writer.examples,
            "findings": findings,
        }
        path = os.path.join(self._account_folder, _account_part(number))
        with fileio.open(path, "w") as file:
            file.write(json.dumps(part))
        yield number


class _Writer:
    """A sink into files: examples of each split, and rejected rows as JSON lines."""

    def __init__(self, portion: int, files: dict[str, str], rejected: str):
        self._portion = portion
        self._writers = {
            split: tf.io.TFRecordWriter(path, "GZIP") for split, path in files.items()
        }
        self._rejected = fileio.open(rejected, "w")
        self._rejected.write("")  # Without a write there is no file.
        self._serializers: dict[tuple[str, ...], Serializer] = {}
        self.examples = dict.fromkeys(files, 0)
        self._rows, self._reported = 0, time.monotonic()

    def __enter__(self) -> "_Writer":
        return self

    def __exit__(self, *error: object) -> None:
        for writer in self._writers.values():
            writer.close()
        self._rejected.close()

    def example(self, split: str, example: Example) -> None:
        values = example.features()
        names = tuple(values)
        if names not in self._serializers:
            self._serializers[names] = Serializer(names)
        self._writers[split].write(self._serializers[names](values))
        self.examples[split] += 1
        self._tell()

    def rejected(self, row: RejectedRow) -> None:
        self._rejected.write(json.dumps(dataclasses.asdict(row)) + "\n")
        self._tell()

    def _tell(self) -> None:
        self._rows += 1
        if self._rows % 1000:
            return
        now = time.monotonic()
        if now - self._reported > _SECONDS_BETWEEN_REPORTS:
            self._reported = now
            progress.report("reading", portion=self._portion, rows=self._rows)


def _prepare(examples: types.Artifact) -> None:
    # First, for TFX tells a split's folder only if it knows its name.
    examples.split_names = artifact_utils.encode_split_names(list(core.SPLITS))
    examples_utils.set_payload_format(
        examples, example_gen_pb2.PayloadFormat.FORMAT_TF_EXAMPLE
    )
    for split in core.SPLITS:
        fileio.makedirs(_folder(examples, split))


def _conclude(
    account: types.Artifact,
    settings: DataSettings,
    portions: int,
    data_hash: str | None,
) -> None:
    """Joins the parts of the account, and raises DataRefused if they will not do."""
    findings: list[str] = []
    whole = Account([], dict.fromkeys(core.SPLITS, 0))
    with fileio.open(os.path.join(account.uri, REJECTED_FILE), "wb") as joined:
        joined.write(b"")
        for number in range(portions):
            part = _take(account, number, joined)
            findings += part["findings"]
            whole.files += [FileAccount.from_json(file) for file in part["files"]]
            for split, rows in part["splits"].items():
                whole.splits[split] += rows
    told = whole.as_json()
    with fileio.open(os.path.join(account.uri, ACCOUNT_FILE), "w") as file:
        file.write(json.dumps(told, indent=2))
    # TFX removes what a node that fails has written; the run keeps this.
    progress.keep_file(os.path.join(account.uri, REJECTED_FILE))
    progress.report("data", account=told)
    if findings:
        raise DataRefused(*findings)
    if data_hash and content_hash(file.sha256 for file in whole.files) != data_hash:
        raise DataRefused(
            "The data files have changed since the run was planned, so that its record "
            "would name other files than it read. Run again once they are written."
        )
    core.check_account(whole, settings)


def _take(account: types.Artifact, number: int, joined: Any) -> dict[str, Any]:
    """Reads a worker's part of the account, and removes it."""
    rejected = os.path.join(account.uri, _rejected_part(number))
    with fileio.open(rejected, "rb") as rows:
        shutil.copyfileobj(rows, joined)
    fileio.remove(rejected)
    path = os.path.join(account.uri, _account_part(number))
    with fileio.open(path) as file:
        part = json.loads(file.read())
    fileio.remove(path)
    return part


def _folder(examples: types.Artifact, split: str) -> str:
    return artifact_utils.get_split_uri([examples], split)


def _records_file(portion: Portion) -> str:
    return f"data_tfrecord-{portion.number:05d}-of-{portion.count:05d}.gz"


def _account_part(number: int) -> str:
    return f"account-{number:05d}.json"


def _rejected_part(number: int) -> str:
    return f"rejected-{number:05d}.jsonl"
