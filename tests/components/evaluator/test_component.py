"""The Evaluator as TFX runs it: models that are asked, files, and the blessing."""

import json
import os

import pytest

from components.evaluator.settings import GateSettings

pytestmark = pytest.mark.slow

LABELS = ["card", "fee"]
ROWS = 80


def classifier(wrong="", labels=LABELS, rows=None):
    """Says the label that the text begins with; another one if it has `wrong`."""
    import tensorflow as tf

    names = tf.constant(labels)

    def serve(text):
        first = tf.strings.split(text, " ").to_tensor("")[:, 0]
        misled = tf.strings.regex_full_match(text, f".*{wrong}.*") if wrong else False
        hits = (first[:, None] == names[None]) != tf.reshape(misled, [-1, 1])
        scores = tf.where(hits, 0.9, 0.1)[:rows]
        return {
            "label": tf.gather(names, tf.argmax(scores, axis=1)),
            "labels": tf.tile(names[None], [tf.shape(scores)[0], 1]),
            "scores": scores,
        }

    return serve


def save(folder, serve, signature="serving_default"):
    """A Model artifact with a SavedModel of a function of text."""
    import tensorflow as tf
    from tfx.types import standard_artifacts

    module = tf.Module()
    spec = tf.TensorSpec([None], tf.string, name="text")
    module.serve = tf.function(serve, input_signature=[spec])
    path = folder / "Format-Serving"
    tf.saved_model.save(module, str(path), signatures={signature: module.serve})
    model = standard_artifacts.Model()
    model.uri = str(folder)
    return model


def save_examples(folder):
    import tensorflow as tf
    from tfx.types import artifact_utils, standard_artifacts

    from components.example_gen.examples import Example
    from components.example_gen.serialization import Serializer

    examples = standard_artifacts.Examples()
    examples.uri = str(folder)
    examples.split_names = artifact_utils.encode_split_names(["train", "eval"])
    rows = [
        Example(
            f"{LABELS[n % 2]} {'zh' if n % 4 == 3 else 'en'} {'x' * n}",
            LABELS[n % 2],
            f"r{n}",
            {"product": ["old", "new"][n % 5 == 0], "language": "en"},
        )
        for n in range(ROWS)
    ]
    for split, chosen in (("eval", rows), ("train", rows[1:5])):
        path = folder / f"Split-{split}"
        path.mkdir(parents=True)
        with tf.io.TFRecordWriter(str(path / "data_tfrecord-0-of-1.gz"), "GZIP") as f:
            for row in chosen:
                values = row.features()
                f.write(Serializer(tuple(values))(values))
    return examples


@pytest.fixture
def evaluate(tmp_path):
    """Runs the executor; gives evaluation.json and both artifacts."""

    def run(
        gate=None, *, name="out", candidate=None, baseline=None, untuned=None, beam=()
    ):
        from tfx.types import standard_artifacts

        from components.evaluator.component import Executor

        candidate = candidate or classifier("zh")
        folder = tmp_path / name
        model_run = standard_artifacts.ModelRun()
        model_run.uri = str(folder / "model_run")
        os.makedirs(model_run.uri)
        if untuned is not None:
            path = folder / "model_run" / "untuned.json"
            path.write_text(json.dumps(untuned))
        inputs = {
            "examples": [save_examples(folder / "examples")],
            "model": [save(folder / "model", candidate)],
            "model_run": [model_run],
            "baseline_model": [],
        }
        if baseline is not None:
            inputs["baseline_model"] = [save(folder / "baseline", baseline)]
        evaluation = standard_artifacts.ModelEvaluation()
        blessing = standard_artifacts.ModelBlessing()
        for artifact in (evaluation, blessing):
            artifact.uri = str(folder / artifact.type_name)
            os.makedirs(artifact.uri)
        bounds = {"floors": {"accuracy": 0.5}, "draws": 200, **(gate or {})}
        settings = GateSettings(**bounds)
        context = Executor.Context(
            beam_pipeline_args=list(beam), tmp_dir=str(folder), unique_id="1"
        )
        Executor(context).Do(
            inputs,
            {"evaluation": [evaluation], "blessing": [blessing]},
            {"gate": settings.model_dump_json(), "task": "classification"},
        )
        with open(os.path.join(evaluation.uri, "evaluation.json")) as file:
            return json.load(file), evaluation, blessing

    return run


def value(found, model="candidate", where="Overall", metric="accuracy"):
    (entry,) = (
        m
        for m in found["metrics"]
        if (m["model"], m["slice"], m["metric"]) == (model, where, metric)
    )
    return entry["value"]


def words(found):
    return [check["in_words"] for check in found["checks"] if check["passed"] is False]


def test_model_above_the_floor_is_blessed_as_tfx_blesses(evaluate):
    found, evaluation, blessing = evaluate()
    assert value(found) == 0.75
    assert found["rows"]["Overall"] == ROWS
    assert blessing.get_int_custom_property("blessed") == 1
    assert os.listdir(blessing.uri) == ["BLESSED"]
    assert blessing.get_string_custom_property("current_model").endswith("/model")
    assert sorted(os.listdir(evaluation.uri)) == [
        "eval_config.json",
        "evaluation.json",
        "metrics-00000-of-00001.tfrecord",
        "predictions.jsonl",
        "validations.tfrecord",
    ]


def test_model_below_the_floor_is_not_blessed(evaluate):
    found, _, blessing = evaluate({"floors": {"accuracy": 0.9}})
    assert "is below the floor 0.9000" in words(found)[0]
    assert blessing.get_int_custom_property("blessed") == 0
    assert os.listdir(blessing.uri) == ["NOT_BLESSED"]


def test_blessing_holds_each_check_in_words(evaluate):
    gate = {
        "floors": {"accuracy": 0.5},
        "max_drop": {"accuracy": 0.1},
        "slices": {"product": {"ceilings": {"log_loss": 0.1}}},
        "min_slice_rows": 20,
    }
    found, _, blessing = evaluate(gate, baseline=classifier())
    with open(os.path.join(blessing.uri, "NOT_BLESSED")) as file:
        lines = file.read().splitlines()
    assert lines == [check["in_words"] for check in found["checks"]]
    floor, drop, few, of_slice = sorted(lines)
    assert floor.endswith(") reaches the floor 0.5000")
    against = "accuracy 0.7500 against 1.0000 of the baseline (-0.2500, -0."
    assert drop.startswith(against)
    assert few == "log_loss for product: new was not judged: 16 rows are too few"
    assert of_slice.startswith("log_loss for product: old ")


def test_each_row_is_kept_with_the_answers_of_all_models(evaluate):
    _, evaluation, _ = evaluate(baseline=classifier())
    with open(os.path.join(evaluation.uri, "predictions.jsonl")) as file:
        lines = [json.loads(line) for line in file]
    assert [line["example_id"] for line in lines] == [f"r{n}" for n in range(ROWS)]
    assert lines[3]["target"] == "fee"
    assert lines[3]["columns"] == {"product": "old", "language": "en"}
    assert lines[3]["answers"]["candidate"]["prediction"] == "card"
    assert lines[3]["answers"]["baseline"]["prediction"] == "fee"
    assert lines[3]["answers"]["baseline"]["score"] == pytest.approx(0.9)


def test_drop_against_the_baseline_is_refused(evaluate):
    found, _, blessing = evaluate(
        {"max_drop": {"accuracy": 0.1}}, baseline=classifier()
    )
    assert value(found, "baseline") == 1.0
    assert "accuracy 0.7500 against 1.0000 of the baseline" in words(found)[0]
    assert blessing.get_int_custom_property("blessed") == 0
    assert blessing.get_string_custom_property("baseline_model").endswith("/baseline")


def test_two_workers_find_what_one_process_finds(evaluate):
    one = evaluate(name="one", baseline=classifier())[0]
    two = evaluate(
        name="two",
        baseline=classifier(),
        beam=["--direct_running_mode=multi_processing", "--direct_num_workers=2"],
    )[0]
    assert one == two


def test_rows_of_values_that_train_lacks_are_a_slice_and_can_be_crossed(evaluate):
    found, _, _ = evaluate(
        {
            "seen": ["product"],
            "crosses": [["language", "product_seen"]],
            "slices": {"language x product_seen": {"floors": {"accuracy": 0.99}}},
            "min_slice_rows": 10,
        }
    )
    assert found["rows"]["product_seen: unseen"] == ROWS // 5
    assert found["rows"]["language: en, product_seen: seen"] == ROWS - ROWS // 5
    assert len(words(found)) == 2
    assert "accuracy for language: en, product_seen: seen" in words(found)[0]


@pytest.mark.parametrize(
    "baseline, said",
    [
        (["card", "fee", "old"], "has the label 'old', which the new one lacks."),
        (["card"], "The model blessed last lacks the label 'fee'."),
        (None, "has no output"),
    ],
    ids=["more labels", "fewer labels", "another signature"],
)
def test_baseline_that_cannot_be_compared_refuses_and_tells_how_to_reset(
    evaluate, baseline, said
):
    served = classifier(labels=baseline) if baseline else lambda text: {"text": text}
    drop = {"max_drop": {"accuracy": 0.1}}
    found, _, blessing = evaluate(drop, baseline=served)
    assert said in words(found)[0]
    assert "`--set gate.baseline=reset`" in words(found)[0]
    assert blessing.get_int_custom_property("blessed") == 0
    reset = {**drop, "baseline": "reset"}
    found, _, blessing = evaluate(reset, name="reset", baseline=served)
    assert blessing.get_int_custom_property("blessed") == 1
    assert found["notes"] == [
        "The model blessed last was not asked: `gate.baseline` is `reset`."
    ]


def test_candidate_that_answers_fewer_rows_is_refused_and_never_shifted(evaluate):
    found, _, blessing = evaluate(candidate=classifier(rows=3))
    assert "The candidate gave 3 answers (label) to 32 texts" in found["refused"]
    with open(os.path.join(blessing.uri, "NOT_BLESSED")) as file:
        assert file.read() == found["refused"] + "\n"
    assert (found["blessed"], found["metrics"]) == (False, [])
    assert blessing.get_int_custom_property("blessed") == 0


def told(predictions, ids=range(ROWS)):
    scores = [[float(name == p) for name in LABELS] for p in predictions]
    return {
        "example_ids": [f"r{n}" for n in ids],
        "names": LABELS,
        "predictions": predictions,
        "scores": scores,
    }


def test_untuned_answers_go_by_their_example_id(evaluate):
    backwards = [LABELS[n % 2] for n in reversed(range(ROWS))]
    found, _, blessing = evaluate(
        {"min_gain": {"accuracy": 0.1}},
        untuned=told(backwards, reversed(range(ROWS))),
    )
    assert value(found, "untuned") == 1.0
    assert "of the untuned checkpoint" in words(found)[0]
    assert blessing.get_int_custom_property("blessed") == 0


@pytest.mark.parametrize(
    "untuned, said",
    [
        (None, "the Trainer did not ask the untuned checkpoint"),
        ({"refused": "the rows are of one class."}, "the rows are of one class."),
        (told(["card"], [0]), "was not asked about 79 rows, such as 'r1'."),
    ],
    ids=["not asked", "refused", "rows missing"],
)
def test_gain_over_an_untuned_checkpoint_that_is_not_known_is_refused(
    evaluate, untuned, said
):
    found, _, blessing = evaluate({"min_gain": {"accuracy": 0.0}}, untuned=untuned)
    assert said in words(found)[0]
    assert blessing.get_int_custom_property("blessed") == 0
