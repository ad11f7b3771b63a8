"""ExampleGen as TFX runs it: what it writes is what the next nodes read."""

import json

import pytest
import tensorflow as tf
from tfx.components.util import examples_utils
from tfx.proto import example_gen_pb2
from tfx.types import artifact_utils, standard_artifacts

from components import artifacts
from components.example_gen.component import ExampleGen
from trainer_module.progress import EVENTS_VARIABLE, DataRefused

pytestmark = pytest.mark.slow

CONTENT = "text,label,channel\n" + "".join(f"row {i},0{i % 3},web\n" for i in range(99))


@pytest.fixture
def run(tmp_path, write, settings):
    """Runs the component on a CSV file and returns its artifacts."""

    def run(content, name="out", **changes):
        examples, account = standard_artifacts.Examples(), artifacts.DataAccount()
        examples.uri = str(tmp_path / name / "examples")
        account.uri = str(tmp_path / name / "account")
        ExampleGen.test_call(
            examples=examples,
            account=account,
            data=settings(write(content), **changes).model_dump_json(),
            task="classification",
            data_hash="",
            code="",
        )
        return examples, account

    return run


def records_of(examples, split):
    path = f"{artifact_utils.get_split_uri([examples], split)}/*-00000-of-00001.gz"
    (path,) = tf.io.gfile.glob(path)
    return list(tf.data.TFRecordDataset(path, "GZIP").as_numpy_iterator())


def test_examples_are_read_back_as_one_text_for_each_feature(run):
    examples, account = run(CONTENT, slices=("channel", "text_length"))
    names = ("text", "target", "example_id", "channel", "text_length")
    spec = {name: tf.io.FixedLenFeature([], tf.string) for name in names}
    rows = {}
    for split in ("train", "eval"):
        for row in tf.io.parse_example(records_of(examples, split), spec)["text"]:
            rows[row.numpy()] = split
    assert set(rows) == {b"row %d" % i for i in range(99)}
    first = tf.io.parse_single_example(records_of(examples, "train")[0], spec)
    values = {name: value.numpy() for name, value in first.items()}
    number = int(values["text"].split()[1])
    assert values["target"] == b"0%d" % (number % 3)
    assert values["channel"] == b"web"
    assert values["text_length"] == b"up to 20 words"


def test_next_nodes_are_told_splits_and_format(run):
    examples, _ = run(CONTENT)
    assert artifact_utils.decode_split_names(examples.split_names) == ["train", "eval"]
    assert (
        examples_utils.get_payload_format(examples)
        == example_gen_pb2.PayloadFormat.FORMAT_TF_EXAMPLE
    )


def test_equal_input_gives_equal_bytes(run, tmp_path):
    for name in ("one", "two"):
        run(CONTENT, name, slices=("channel",))
    files = [
        {p.relative_to(tmp_path / name): p.read_bytes() for p in paths if p.is_file()}
        for name in ("one", "two")
        for paths in [sorted((tmp_path / name).rglob("*"))]
    ]
    assert files[0] == files[1] and len(files[0]) == 4


def test_account_and_every_rejected_row_are_written(run, tmp_path, monkeypatch):
    monkeypatch.setenv(EVENTS_VARIABLE, str(tmp_path / "events.jsonl"))
    _, account = run(CONTENT + "a,b\n", gate={"max_rejected_share": 0.5})
    with open(f"{account.uri}/account.json") as file:
        told = json.load(file)
    assert told["files"][0]["rejected"] == {"wrong number of cells": 1}
    with open(f"{account.uri}/rejected.jsonl") as file:
        (row,) = [json.loads(line) for line in file]
    assert row == {
        "file": str(tmp_path / "data.csv"),
        "line": 101,
        "reason": "wrong number of cells",
        "excerpt": "a,b",
    }
    kept = (tmp_path / "rejected.jsonl").read_text()
    assert [json.loads(line) for line in kept.splitlines()] == [row]
    event = json.loads((tmp_path / "events.jsonl").read_text())
    assert (event["kind"], event["account"]) == ("data", told)


def test_refused_data_leaves_no_examples(run, tmp_path):
    with pytest.raises(DataRefused, match="0 rows"):
        run("text,label\n")
    assert not (tmp_path / "out" / "examples").exists()
