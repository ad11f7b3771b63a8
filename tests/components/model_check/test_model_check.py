"""The component on small real SavedModels: each is loaded by a fresh process."""

import json
import os

import pytest

pytestmark = pytest.mark.slow

TEXTS = ["pay my bill", "card", "caf\N{LATIN SMALL LETTER E WITH ACUTE}", "hi", "a b c"]
GENEROUS = {
    "max_load_seconds": 60.0,
    "max_latency_seconds": 10.0,
    "max_memory_mb": 8000.0,
    "max_model_mb": 100.0,
    "timeout_seconds": 120.0,
}


def save_model(folder, *, examples_label="short", rows_dropped=0):
    """A model that calls a text of more than five bytes long, and others short.

    Args:
      folder: of the SavedModel.
      examples_label: what serving_examples calls a short text.
      rows_dropped: answers that are missing from a batch of more than one text.
    """
    import tensorflow as tf

    def answer(text, short):
        score = tf.sigmoid(tf.cast(tf.strings.length(text), tf.float32) - 5.0)
        names = tf.constant(["long", short])
        scores = tf.stack([score, 1.0 - score], axis=1)
        best = tf.argmax(scores, axis=1)
        kept = tf.shape(text)[0]
        kept -= tf.where(kept > 1, rows_dropped, 0)
        outputs = {
            "label": tf.gather(names, best),
            "score": tf.reduce_max(scores, axis=1),
            "labels": tf.repeat(names[tf.newaxis], tf.shape(text)[0], axis=0),
            "scores": scores,
        }
        return {name: value[:kept] for name, value in outputs.items()}

    def by_example(examples):
        spec = {"text": tf.io.FixedLenFeature([], tf.string)}
        return answer(tf.io.parse_example(examples, spec)["text"], examples_label)

    def signature(function, name):
        return tf.function(
            function, input_signature=[tf.TensorSpec([None], tf.string, name=name)]
        )

    tf.saved_model.save(
        tf.Module(),
        str(folder),
        signatures={
            "serving_default": signature(lambda text: answer(text, "short"), "text"),
            "serving_examples": signature(by_example, "examples"),
        },
    )


@pytest.fixture
def check(tmp_path):
    """Runs the component on what is in tmp_path/model; gives (blessing, check.json)."""
    import tensorflow as tf
    from tfx.types import standard_artifacts

    from components.model_check import component

    examples = standard_artifacts.Examples()
    examples.uri = str(tmp_path / "examples")
    examples.split_names = '["train", "eval"]'
    write_split(tf, tmp_path / "examples" / "Split-train", ["never asked"])
    write_split(tf, tmp_path / "examples" / "Split-eval", TEXTS)
    model = standard_artifacts.Model()
    model.uri = str(tmp_path / "model")
    blessing = standard_artifacts.InfraBlessing()
    blessing.uri = str(tmp_path / "blessing")
    os.mkdir(blessing.uri)

    def run(**changes):
        component.ModelCheck.test_call(
            model=model,
            examples=examples,
            blessing=blessing,
            **{"max_requests": 32, "code": "", **GENEROUS, **changes},
        )
        return blessing, json.loads((tmp_path / "blessing/check.json").read_text())

    return run


def write_split(tf, folder, texts):
    folder.mkdir(parents=True)
    path = str(folder / "data_tfrecord-00000-of-00001.gz")
    with tf.io.TFRecordWriter(path, "GZIP") as writer:
        for text in texts:
            value = tf.train.BytesList(value=[text.encode()])
            feature = {"text": tf.train.Feature(bytes_list=value)}
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            writer.write(example.SerializeToString())


def assert_not_blessed(blessing, found):
    from tfx.components.util import model_utils

    assert not model_utils.is_infra_validated(blessing)
    assert sorted(os.listdir(blessing.uri)) == ["INFRA_NOT_BLESSED", "check.json"]
    assert found["blessed"] is False


def test_a_sound_model_is_blessed(check, tmp_path, monkeypatch):
    from tfx.components.util import model_utils

    monkeypatch.setenv("TEXTTUNE_EVENTS", str(tmp_path / "events"))
    save_model(tmp_path / "model" / "Format-Serving")
    blessing, found = check(max_requests=4)

    assert found["problems"] == []
    assert model_utils.is_infra_validated(blessing)  # What Pusher asks.
    assert sorted(os.listdir(blessing.uri)) == ["INFRA_BLESSED", "check.json"]
    assert found["figures"]["requests"] == 4
    assert found["figures"]["batch_rows"] == 7
    assert 0 < found["figures"]["load_seconds"] < 60
    assert 0 < found["figures"]["p95_latency_seconds"] < 10
    assert 100 < found["figures"]["peak_memory_mb"] < 8000
    files = (tmp_path / "model" / "Format-Serving").rglob("*")
    size = sum(file.stat().st_size for file in files if file.is_file())
    assert found["figures"]["model_mb"] == size / 2**20
    assert found["limits"]["max_memory_mb"] == 8000.0
    event = json.loads((tmp_path / "events").read_text())
    assert (event["kind"], event["problems"]) == ("model_check", [])


def test_other_answers_in_serving_examples_are_found(check, tmp_path):
    save_model(tmp_path / "model" / "Format-Serving", examples_label="tiny")
    blessing, found = check()
    assert_not_blessed(blessing, found)
    (problem,) = found["problems"]
    assert problem.startswith(
        "serving_examples on the same texts answers otherwise than singly to "
        "'pay my bill': labels = ['long', 'tiny'] instead of ['long', 'short']; "
        "'card': label = 'tiny' instead of 'short'; "
    )


def test_missing_answers_in_a_batch_are_found(check, tmp_path):
    save_model(tmp_path / "model" / "Format-Serving", rows_dropped=1)
    blessing, found = check()
    assert_not_blessed(blessing, found)
    assert found["problems"] == [
        "serving_default on all texts together: label holds 7 answers to 8 texts.",
        "serving_examples on the same texts: label holds 7 answers to 8 texts.",
    ]


def test_limits_are_applied_to_what_was_measured(check, tmp_path):
    save_model(tmp_path / "model" / "Format-Serving")
    blessing, found = check(
        max_load_seconds=1e-9,
        max_latency_seconds=1e-9,
        max_memory_mb=1.0,
        max_model_mb=1e-9,
    )
    assert_not_blessed(blessing, found)
    loading, latency, memory, size = found["problems"]
    assert loading.startswith("Loading takes ")
    assert loading.endswith("at most 1e-09 s (`serving.max_load_seconds`).")
    assert latency.startswith("One text in twenty, or more, takes ")
    assert memory.startswith("Serving takes ")
    assert memory.endswith("at most 1 MB (`serving.max_memory_mb`).")
    assert size.startswith("The SavedModel takes ") and size.endswith(
        "at most 1e-09 MB (`serving.max_model_mb`)."
    )


@pytest.mark.parametrize(
    "content, words",
    [(None, "does not exist"), (b"\x00 no graph", "0 MetaGraphs in the SavedModel")],
    ids=["none", "broken"],
)
def test_a_model_that_cannot_be_loaded_is_not_blessed(check, tmp_path, content, words):
    folder = tmp_path / "model" / "Format-Serving"
    folder.mkdir(parents=True)
    if content:
        (folder / "saved_model.pb").write_bytes(content)
    blessing, found = check()
    assert_not_blessed(blessing, found)
    (problem,) = found["problems"]
    assert problem.startswith(
        f"The process that loads and asks the model {str(folder)!r} failed with exit "
        "code 1. Its last words: "
    )
    assert words in problem
    assert found["figures"] == {}


def test_an_empty_eval_split_is_a_problem(check, tmp_path):
    for file in (tmp_path / "examples" / "Split-eval").iterdir():
        file.unlink()
    save_model(tmp_path / "model" / "Format-Serving")
    blessing, found = check()
    assert_not_blessed(blessing, found)
    assert found["problems"] == [
        "There was no text of the eval split to ask the model about."
    ]
