"""The self-test of a gate on a model that writes, of more rows than it writes anew."""

import json

import numpy as np
import pytest

from components.evaluator.settings import GateSettings
from pipeline.config import ConfigError

pytestmark = pytest.mark.slow

ROWS = 250


def save_model(path):
    """Writes in capitals what it reads, if its output layer is as it was trained."""
    import tensorflow as tf

    module = tf.Module()
    units = tf.Variable(np.array([[1.0], [0], [0]]), name="shared/shared/embeddings")
    module.variables_served = [units]

    def serve(text):
        unknown = tf.fill(tf.shape(text), "?")
        return {"text": tf.where(units[0, 0] > 0, tf.strings.upper(text), unknown)}

    spec = tf.TensorSpec([None], tf.string, name="text")
    module.serve = tf.function(serve, input_signature=[spec])
    signatures = {"serving_default": module.serve}
    tf.saved_model.save(module, str(path / "Format-Serving"), signatures=signatures)


def save_examples(path):
    import tensorflow as tf

    from components.example_gen.examples import Example
    from components.example_gen.serialization import Serializer

    for split in ("train", "eval"):
        folder = path / f"Split-{split}"
        folder.mkdir(parents=True)
        with tf.io.TFRecordWriter(str(folder / "data.gz"), "GZIP") as f:
            for n in range(ROWS):
                text = f"word{n} word{n + 1}"
                values = Example(text, text.upper(), f"r{n}", {}).features()
                f.write(Serializer(tuple(values))(values))


@pytest.fixture
def run(tmp_path):
    """A run; the Evaluator got wrong answers to every fourth row."""
    from pipeline.evaluated_runs import EvaluatedRun

    save_model(tmp_path / "model")
    save_examples(tmp_path / "examples")
    for name in ("runs/1", "evaluation", "model_run"):
        (tmp_path / name).mkdir(parents=True)
    with open(tmp_path / "evaluation" / "predictions.jsonl", "w") as f:
        for n in range(ROWS):
            text = "wrong" if n % 4 == 0 else f"WORD{n} WORD{n + 1}"
            answers = {"candidate": {"prediction": text, "score": None}}
            f.write(json.dumps({"example_id": f"r{n}", "answers": answers}) + "\n")
    artifacts = ("examples", "model", "model_run", "evaluation")
    return EvaluatedRun(
        run_id="1",
        folder=str(tmp_path / "runs" / "1"),
        task="summarization",
        record={"evaluation": {"blessed": True}},
        **{name: str(tmp_path / name) for name in artifacts},
    )


def prove(run, floor=0.5):
    from pipeline import gate_selftest

    gate = GateSettings(floors={"exact_match": floor}, draws=200)
    return gate_selftest.prove(run, gate, of="the run")


def test_copies_write_to_some_rows_and_that_is_told(run, tmp_path):
    found = prove(run)
    assert found["proven"]
    assert found["notes"] == [
        "The copies wrote to 200 of the 250 rows; the other answers are those that the "
        "Evaluator got."
    ]
    rows = {trial["name"]: trial["rows"] for trial in found["trials"]}
    assert rows["shuffled output layer"] == 200
    assert {n for name, n in rows.items() if name != "shuffled output layer"} == {250}
    (written,) = (tmp_path / "runs" / "1").iterdir()
    assert written.name == "gate-selftest.json"
    assert json.loads(written.read_text()) == found


def test_answers_that_are_written_anew_count_and_not_those_of_before(run):
    # Of 250 answers 63 were wrong; of the 50 that are not written anew 13 at most are.
    assert prove(run, floor=0.9)["trials"][0]["blessed"]


def test_answers_of_other_rows_are_told_with_the_folder(run, tmp_path):
    path = tmp_path / "evaluation" / "predictions.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:100]))
    with pytest.raises(ConfigError, match="has no answer to .* rows of the eval split"):
        prove(run)


def test_answers_that_are_gone_are_told_with_the_way_out(run, tmp_path):
    (tmp_path / "evaluation" / "predictions.jsonl").unlink()
    with pytest.raises(ConfigError, match="predictions.jsonl cannot be read: .*cache"):
        prove(run)


def test_model_that_is_damaged_already_is_told(run, tmp_path):
    (tmp_path / "model" / "Format-Serving" / "saved_model.pb").write_bytes(b"")
    with pytest.raises(ConfigError, match="its model cannot be asked, so there is"):
        prove(run)


def test_outcome_that_cannot_be_written_is_told(run, tmp_path):
    (tmp_path / "runs" / "1" / "gate-selftest.json" / "x").mkdir(parents=True)
    with pytest.raises(ConfigError, match="gate-selftest.json: cannot be written"):
        prove(run)
