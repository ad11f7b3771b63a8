"""DataGate behind the real StatisticsGen, SchemaGen and ExampleValidator."""

import csv
import json

import pytest
import tensorflow as tf
from tfx import v1 as tfx
from tfx.orchestration import metadata

from components.data_gate.component import DataGate
from components.data_gate.drift import profile
from components.example_gen.component import ExampleGen
from components.example_gen.examples import Example
from components.example_gen.serialization import Serializer
from components.example_gen.settings import DataSettings
from components.example_gen.written import read_split
from pipeline import checkpoints, statistics_options
from pipeline.config import load
from tests.pipeline.conftest import ROOT
from trainer_module.progress import EVENTS_VARIABLE, DataRefused
from trainer_module.settings import ModelSettings

pytestmark = pytest.mark.slow

TRAIN = [(f"Hello number {i}", "abc"[i % 3], "web" if i % 2 else "") for i in range(40)]
EVAL = [(f"Number {i + 60}, hello", "abc"[i % 3], "web") for i in range(10)]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs the nodes up to DataGate; returns the events and findings."""
    events = tmp_path / "events.jsonl"
    monkeypatch.setenv(EVENTS_VARIABLE, str(events))

    def write(name, rows):
        with open(tmp_path / name, "w", newline="") as file:
            csv.writer(file).writerows([("text", "label", "sales channel"), *rows])
        return str(tmp_path / name)

    def run(train, held, *, schema=None, max_source_tokens=128, **changes):
        settings = DataSettings(
            train=write("train.csv", train),
            eval=write("eval.csv", held),
            text="text",
            target="label",
            slices=("sales channel", "text_length"),
            gate={"max_interval_half_width": 0.3},
            **changes,
        )
        nodes = nodes_of(
            settings.model_dump_json(),
            str(tmp_path / "serving"),
            schema,
            max_source_tokens,
        )
        pipeline = tfx.dsl.Pipeline(
            pipeline_name="gate",
            pipeline_root=str(tmp_path),
            components=nodes,
            metadata_connection_config=metadata.sqlite_metadata_connection_config(
                str(tmp_path / "metadata.db")
            ),
        )
        tfx.orchestration.LocalDagRunner().run(pipeline)
        (path,) = (tmp_path / "DataGate" / "verdict").rglob("findings.json")
        told = [json.loads(line) for line in events.read_text().splitlines()]
        return json.loads(path.read_text())["findings"], told

    return run


def nodes_of(data, serving_dir, schema_file, max_source_tokens):
    checkpoint_dir = checkpoints.locate(load(str(ROOT / "configs" / "intent.yaml")))
    model = ModelSettings(
        checkpoint=checkpoint_dir, max_source_tokens=max_source_tokens
    )
    example_gen = ExampleGen(data=data, task="classification", data_hash="", code="")
    examples = example_gen.outputs["examples"]
    statistics = tfx.components.StatisticsGen(
        examples=examples, stats_options=statistics_options.build("classification")
    )
    if schema_file:
        schema = tfx.components.ImportSchemaGen(schema_file=schema_file)
    else:
        schema = tfx.components.SchemaGen(
            statistics=statistics.outputs["statistics"], exclude_splits=["eval"]
        )
    validator = tfx.components.ExampleValidator(
        statistics=statistics.outputs["statistics"], schema=schema.outputs["schema"]
    )
    gate = DataGate(
        examples=examples,
        schema=schema.outputs["schema"],
        anomalies=validator.outputs["anomalies"],
        account=example_gen.outputs["account"],
        data=data,
        task="classification",
        serving_dir=serving_dir,
        served_hash="",
        code="",
        checkpoint_dir=checkpoint_dir,
        checkpoint_hash="",
        model=model.model_dump_json(),
    )
    return [example_gen, statistics, schema, validator, gate]


def test_fresh_texts_pass_and_a_new_band_is_noted(run):
    findings, events = run(TRAIN, [*EVAL, ("word " * 30, "a", "")])
    assert [(f["rule"], f["severity"]) for f in findings] == [
        ("schema", "note"),
        ("thin_label", "note"),
    ]
    assert "'21 to 60 words'" in findings[0]["examples"][0]
    assert [event["kind"] for event in events] == [
        *("data", "text_statistics", "data_gate")
    ]
    assert events[2]["notes"] == findings


def test_every_finding_that_stops_is_raised_at_once(run):
    held = [
        *EVAL,
        ("hello  NUMBER 3", "a", "web"),
        ("A typo", "abd", "web"),
        ("By fax", "a", "fax"),
    ]
    with pytest.raises(DataRefused) as error:
        run(TRAIN, held)
    unseen, schema, leaked = error.value.findings
    assert "1 of 13 (7.69%)" in leaked and "'hello NUMBER 3'" in leaked
    assert "'abd' (1 row:" in unseen
    assert "The eval split does not fit the schema" in schema
    assert "column 'sales channel'" in schema and "Rows: 'fax' (" in schema


def test_unseen_label_among_fresh_texts_is_the_one_finding(run):
    """B2: TFDV also calls each fresh text an anomaly, on so few rows."""
    with pytest.raises(DataRefused) as error:
        run(TRAIN, [*EVAL, ("One more text", "abd", "web")])
    (unseen,) = error.value.findings
    assert "eval split" in unseen and "'abd' (1 row:" in unseen


def test_values_of_another_type_stop_with_split_column_and_rows(run):
    """Labels and a slice that are names in train and numbers in eval."""
    held = [(f"A fresh text {i}", str(i % 3), "7") for i in range(10)]
    with pytest.raises(DataRefused) as error:
        run(TRAIN, held)
    unseen, schema = error.value.findings
    assert "'0' (4 rows:" in unseen and "'2' (3 rows:" in unseen
    assert "The eval split does not fit the schema: column 'sales channel'" in schema
    assert "Rows: '7' (" in schema


def test_rows_are_read_as_they_were_written(tmp_path):
    rows = [
        Example(
            f"text {n} é 退", "a" if n % 2 else "b", f"r{n}", {"channel": "x y"[n % 3]}
        )
        for n in range(1000)
    ]
    examples = tfx.types.standard_artifacts.Examples()
    examples.uri = str(tmp_path)
    examples.split_names = '["train"]'
    (tmp_path / "Split-train").mkdir()
    path = str(tmp_path / "Split-train" / "data_tfrecord-00000-of-00001.gz")
    serialize = Serializer(tuple(rows[0].features()))
    with tf.io.TFRecordWriter(path, "GZIP") as writer:
        for row in rows:
            writer.write(serialize(row.features()))
    assert list(read_split(examples, "train")) == rows


def serve(folder, found):
    (folder / "1" / "assets.extra").mkdir(parents=True)
    (folder / "1" / "saved_model.pb").write_text("")
    (folder / "1" / "assets.extra" / "data_profile.json").write_text(found)


def test_profile_of_the_train_split_is_written_and_compared(run, tmp_path):
    run(TRAIN, EVAL)
    (path,) = (tmp_path / "DataGate" / "verdict").rglob("profile.json")
    written = profile.parse(path.read_bytes())
    assert (written.rows, written.labels) == (40, {"a": 14, "b": 13, "c": 13})
    assert written.words["hello"] == 40
    assert written.slices["sales channel"] == {"web": 20}
    serve(tmp_path / "serving", path.read_text())
    with pytest.raises(DataRefused) as error:
        run(
            [*TRAIN, *[(f"Hello number {i}", "aa", "web") for i in range(50, 56)]], EVAL
        )
    (new,) = error.value.findings
    assert "the serving model (version 1) was not trained on: 1: 'aa' (6 rows" in new
    assert """`--set 'data.gate.allow_new_labels=["aa"]'`""" in new


def test_damaged_profile_is_told_and_stops_nothing(run, tmp_path):
    serve(tmp_path / "serving", '{"format": "texttune data pro')
    findings, _ = run(TRAIN, EVAL)
    (told,) = [f for f in findings if f["rule"] == "not_compared"]
    assert told["severity"] == "note" and "it is damaged (EOF" in told["message"]


def test_texts_are_told_of_beside_the_findings(run, tmp_path):
    findings, events = run(TRAIN, EVAL, max_source_tokens=4)
    (path,) = (tmp_path / "DataGate" / "verdict").rglob("text_statistics.json")
    written = json.loads(path.read_text())
    assert written == events[1]["statistics"]
    assert {split: found["rows"] for split, found in written.items()} == {
        **{"train": 40, "eval": 10}
    }
    # "Hello number 7" is three words, and two tokens more are the model's own.
    assert written["train"]["text"]["tokens"]["max"] == 5
    assert written["train"]["text"]["truncated"]["rows"] == 40
    (note,) = (f for f in findings if f["rule"] == "truncated_text")
    assert "`--set model.max_source_tokens=6`" in note["message"]


REVIEWED = """
feature { name: "text" type: BYTES
  natural_language_domain {
    sequence_length_constraints { max_sequence_length: 6 }
  }
}
feature { name: "target" type: BYTES }
feature { name: "example_id" type: BYTES }
feature { name: "sales channel" type: BYTES }
feature { name: "text_length" type: BYTES }
"""


def test_text_that_is_longer_than_the_reviewed_schema_allows_stops(run, tmp_path):
    schema = tmp_path / "reviewed.pbtxt"
    schema.write_text(REVIEWED)
    held = [*EVAL, ("one two three four five", "a", "web")]
    with pytest.raises(DataRefused) as error:
        run(TRAIN, held, schema=str(schema), reviewed_schema=str(schema))
    (finding,) = error.value.findings
    assert "longer than the 6 tokens" in finding and "1 row: 'one two" in finding


def test_band_of_lengths_that_train_lacks_is_a_note(run):
    findings, _ = run(TRAIN, [*EVAL, ("word " * 25, "a", "web")])
    notes = [f["message"] for f in findings if f["rule"] == "schema"]
    assert len(notes) == 1 and "text_length" in notes[0]
