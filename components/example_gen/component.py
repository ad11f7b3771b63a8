"""ExampleGen: the data files -> examples, and the account of every row."""

# No `from __future__ import annotations`: TFX reads the annotations themselves.
import dataclasses
import json
import os
from collections.abc import Iterable, Sequence

import tensorflow as tf
from tfx import v1 as tfx
from tfx.components.util import examples_utils
from tfx.dsl.io import fileio
from tfx.proto import example_gen_pb2
from tfx.types import artifact_utils

from components import artifacts
from components.example_gen import core
from components.example_gen.account import RejectedRow
from components.example_gen.settings import DataSettings
from trainer_module import progress

ACCOUNT_FILE = "account.json"
REJECTED_FILE = "rejected.jsonl"
_RECORDS_FILE = "data_tfrecord-00000-of-00001.gz"


@tfx.dsl.components.component
def ExampleGen(
    examples: tfx.dsl.components.OutputArtifact[tfx.types.standard_artifacts.Examples],
    account: tfx.dsl.components.OutputArtifact[artifacts.DataAccount],
    data: tfx.dsl.components.Parameter[str],
    task: tfx.dsl.components.Parameter[str],
    data_hash: tfx.dsl.components.Parameter[str],
    code: tfx.dsl.components.Parameter[str],
) -> None:
    """Reads the files of the `data` section strictly; equal input gives equal bytes.

    Args:
      examples: splits train and eval; all features are bytes, one value each.
      account: account.json, and rejected.jsonl with every row that cannot be used.
      data: JSON of `DataSettings`.
      task: "classification" or "summarization".
      data_hash: of the files' content; a part of the cache key, not read.
      code: fingerprint of this project's code; likewise.
    """
    del data_hash, code
    fileio.makedirs(account.uri)

    def keep_rejected(rows: Sequence[RejectedRow]) -> None:
        lines = "".join(json.dumps(dataclasses.asdict(row)) + "\n" for row in rows)
        _write(account, REJECTED_FILE, lines)
        # TFX removes what a node that fails has written; the run keeps this.
        progress.keep(REJECTED_FILE, lines)

    ingested = core.ingest(
        DataSettings.model_validate_json(data), task, keep_rejected=keep_rejected
    )
    # First, for TFX tells a split's folder only if it knows its name.
    examples.split_names = artifact_utils.encode_split_names(list(core.SPLITS))
    for split, rows in ingested.splits.items():
        _write_split(examples, split, rows)
    examples_utils.set_payload_format(
        examples, example_gen_pb2.PayloadFormat.FORMAT_TF_EXAMPLE
    )
    _write(account, ACCOUNT_FILE, json.dumps(ingested.account.as_json(), indent=2))
    progress.report("data", account=ingested.account.as_json())


def _write_split(examples, split: str, rows: Iterable[core.Example]) -> None:
    folder = artifact_utils.get_split_uri([examples], split)
    fileio.makedirs(folder)
    with tf.io.TFRecordWriter(os.path.join(folder, _RECORDS_FILE), "GZIP") as writer:
        for row in rows:
            writer.write(serialize(row))


def serialize(row: core.Example) -> bytes:
    """The tf.Example of a row; equal rows give equal bytes."""
    feature = {
        name: tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))
        for name, value in row.features().items()
    }
    example = tf.train.Example(features=tf.train.Features(feature=feature))
    return example.SerializeToString(deterministic=True)


def _write(account, name: str, text: str) -> None:
    with fileio.open(os.path.join(account.uri, name), "w") as file:
        file.write(text)  # Even if empty: without a write there is no file.
