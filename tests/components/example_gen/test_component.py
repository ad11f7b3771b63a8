"""ExampleGen as TFX runs it: what it writes is what the next nodes read."""

import hashlib
import json
from pathlib import Path

import pytest
import tensorflow as tf
from tfx.components.util import examples_utils
from tfx.proto import example_gen_pb2
from tfx.types import artifact_utils, standard_artifacts

from components import artifacts
from components.example_gen import core, portions
from components.example_gen.account import content_hash
from components.example_gen.component import Executor
from components.example_gen.serialization import Serializer
from trainer_module.progress import EVENTS_VARIABLE, DataRefused

pytestmark = pytest.mark.slow

CONTENT = "text,label,channel\n" + "".join(f"row {i},0{i % 3},web\n" for i in range(99))


@pytest.fixture
def run(tmp_path, write, settings):
    """Runs the component on CSV files and returns its artifacts."""

    def run(*contents, name="out", beam_args=(), data_hash="", **changes):
        examples, account = standard_artifacts.Examples(), artifacts.DataAccount()
        examples.uri = str(tmp_path / name / "examples")
        account.uri = str(tmp_path / name / "account")
        paths = [write(c, f"data-{n}.csv") for n, c in enumerate(contents)]
        context = Executor.Context(
            beam_pipeline_args=list(beam_args), tmp_dir=str(tmp_path), unique_id="1"
        )
        Executor(context).Do(
            {},
            {"examples": [examples], "account": [account]},
            {
                "data": settings(paths, **changes).model_dump_json(),
                "task": "classification",
                "data_hash": data_hash,
            },
        )
        return examples, account

    return run


def records_of(examples, split):
    folder = artifact_utils.get_split_uri([examples], split)
    paths = sorted(tf.io.gfile.glob(f"{folder}/data_tfrecord-*.gz"))
    return list(tf.data.TFRecordDataset(paths, "GZIP").as_numpy_iterator())


def content_of(folder):
    found = (p for p in sorted(Path(folder).rglob("*")) if p.is_file())
    return {p.relative_to(folder): p.read_bytes() for p in found}


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
        run(CONTENT, name=name, slices=("channel",))
    one, two = content_of(tmp_path / "one"), content_of(tmp_path / "two")
    assert one == two and len(one) == 4


def test_account_and_every_rejected_row_are_written(run, tmp_path, monkeypatch):
    monkeypatch.setenv(EVENTS_VARIABLE, str(tmp_path / "events.jsonl"))
    _, account = run(CONTENT + "a,b\n", gate={"max_rejected_share": 0.5})
    with open(f"{account.uri}/account.json") as file:
        told = json.load(file)
    assert told["files"][0]["rejected"] == {"wrong number of cells": 1}
    with open(f"{account.uri}/rejected.jsonl") as file:
        (row,) = [json.loads(line) for line in file]
    assert row == {
        "file": str(tmp_path / "data-0.csv"),
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


SEVERAL = [
    "text,label,channel\n"
    + "".join(f"row {k} {i},0{i % 3},web\n" for i in range(99))
    + "a,b\n"
    for k in range(3)
]
ALLOWED = {"max_rejected_share": 0.5}


def test_portions_hold_what_one_reader_finds_in_the_same_order(
    run, settings, tmp_path, monkeypatch
):
    monkeypatch.setattr(portions, "MAX_BYTES", 1)
    examples, account = run(*SEVERAL, gate=ALLOWED, slices=("channel",))
    paths = [str(tmp_path / f"data-{n}.csv") for n in range(3)]
    whole = core.ingest(
        settings(paths, gate=ALLOWED, slices=("channel",)), "classification"
    )
    for split, rows in whole.splits.items():
        folder = Path(artifact_utils.get_split_uri([examples], split))
        assert sorted(p.name for p in folder.iterdir()) == [
            f"data_tfrecord-0000{n}-of-00003.gz" for n in range(3)
        ]
        serialize = Serializer(tuple(rows[0].features()))
        written = records_of(examples, split)
        assert written == [serialize(row.features()) for row in rows]
    with open(f"{account.uri}/account.json") as file:
        assert json.load(file) == whole.account.as_json()
    with open(f"{account.uri}/rejected.jsonl") as file:
        assert [json.loads(line)["file"] for line in file] == paths
    assert sorted(p.name for p in Path(account.uri).iterdir()) == [
        "account.json",
        "rejected.jsonl",
    ]


def test_worker_processes_write_the_same_bytes(run, tmp_path, monkeypatch):
    monkeypatch.setattr(portions, "MAX_BYTES", 1)
    args = ["--direct_running_mode=multi_processing", "--direct_num_workers=2"]
    run(*SEVERAL, gate=ALLOWED, name="one")
    run(*SEVERAL, gate=ALLOWED, name="two", beam_args=args)
    assert content_of(tmp_path / "one") == content_of(tmp_path / "two")


def test_files_that_break_off_are_all_told_of_and_the_account_is_kept(
    run, tmp_path, monkeypatch
):
    monkeypatch.setattr(portions, "MAX_BYTES", 1)
    monkeypatch.setenv(EVENTS_VARIABLE, str(tmp_path / "events.jsonl"))
    broken = SEVERAL[0] + '"never closed,a,b\n'
    with pytest.raises(DataRefused) as refused:
        run(broken, SEVERAL[1], broken, gate=ALLOWED)
    assert [f.split(":")[0] for f in refused.value.findings] == [
        f"{tmp_path}/data-{n}.csv, line 102" for n in (0, 2)
    ]
    events = (tmp_path / "events.jsonl").read_text().splitlines()
    told = json.loads(events[-1])["account"]["files"]
    assert [f["complete"] for f in told] == [False, True, False]
    assert [(f["rows_read"], f["kept"]) for f in told] == [(100, 99)] * 3
    assert len((tmp_path / "rejected.jsonl").read_text().splitlines()) == 3


def test_files_that_changed_since_the_run_was_planned_are_refused(run, tmp_path):
    planned = content_hash([hashlib.sha256(CONTENT.encode()).hexdigest()])
    run(CONTENT, data_hash=planned)
    with pytest.raises(DataRefused, match="have changed since the run was planned"):
        run(CONTENT + "one more,01,web\n", name="later", data_hash=planned)
