"""The gate as TFMA applies it: floors and drops, by slice too, failing closed."""

import pytest

from components.evaluator import core, results
from pipeline.config import load
from trainer_module.scoring import rouge

pytestmark = pytest.mark.slow

# text, target, language
ROWS = [
    ("the card was lost", "card lost", "en"),
    ("the refund is late", "refund late", "en"),
    ("信用卡 丢了", "信用卡丢了", "zh"),
    ("退款 没到", "退款没到", "zh"),
]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """SavedModels by name: each maps the texts of ROWS to fixed answers."""
    import tensorflow as tf

    targets = [target for _, target, _ in ROWS]
    answers = {
        "right": targets,
        "wrong in zh": [*targets[:2], "x", "y"],
        "wrong": ["a", "b", "c", "d"],
    }

    class Fixed(tf.Module):
        def __init__(self, answers):
            super().__init__()
            keys = tf.constant([text for text, _, _ in ROWS])
            self.table = tf.lookup.StaticHashTable(
                tf.lookup.KeyValueTensorInitializer(keys, tf.constant(answers)), ""
            )

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="text")])
        def serve(self, text):
            return {"text": self.table.lookup(text)}

    folder = tmp_path_factory.mktemp("models")
    for name, texts in answers.items():
        module = Fixed(texts)
        tf.saved_model.save(
            module, str(folder / name), signatures={"serving_default": module.serve}
        )
    return folder


@pytest.fixture
def evaluate(models, job, write, tmp_path):
    """Runs TFMA with the gate on a candidate, and reads what it decided."""
    import apache_beam as beam
    import tensorflow as tf
    import tensorflow_model_analysis as tfma
    from tfx_bsl.tfxio.tf_example_record import TFExampleBeamRecord

    from pipeline import eval_config

    as_batches = TFExampleBeamRecord(
        physical_format="inmem", raw_record_column_name=tfma.ARROW_INPUT_COLUMN
    )

    def feature(text):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[text.encode()]))

    examples = [
        tf.train.Example(
            features=tf.train.Features(
                feature={
                    "text": feature(text),
                    "target": feature(target),
                    "language": feature(language),
                }
            )
        ).SerializeToString()
        for text, target, language in ROWS
    ]

    def run(gate: dict, candidate: str, baseline: str | None = None) -> dict:
        job["task"] = "summarization"
        job["data"]["slices"] = ["language"]
        job["gate"] = gate
        # As TFX's Evaluator does it: without a baseline its comparisons are dropped.
        config = tfma.utils.update_eval_config_with_defaults(
            eval_config.build(load(write(job)), code=""),
            has_baseline=baseline is not None,
            rubber_stamp=True,
        )
        named = {"candidate": candidate, "baseline": baseline}
        shared = [
            tfma.default_eval_shared_model(
                eval_saved_model_path=str(models / named[spec.name or "candidate"]),
                model_name=spec.name,
                eval_config=config,
            )
            for spec in config.model_specs
        ]
        output = str(tmp_path / "evaluation")
        with beam.Pipeline() as pipeline:
            _ = (
                pipeline
                | beam.Create(examples)
                | as_batches.BeamSource()
                | tfma.ExtractEvaluateAndWriteResults(
                    eval_shared_model=shared if len(shared) > 1 else shared[0],
                    eval_config=config,
                    output_path=output,
                )
            )
        return results.read(output)

    return run


def value(found: dict, where: str, metric: str, model: str = "candidate"):
    (only,) = [
        m["value"]
        for m in found["metrics"]
        if (m["slice"], m["metric"], m["model"]) == (where, metric, model)
    ]
    return only


def test_right_answers_score_1_in_every_slice_and_pass_without_a_baseline(evaluate):
    found = evaluate(
        {"floors": {"rouge_l": 1.0}, "max_drop": {"rouge_l": 0.0}}, "right"
    )
    assert found["validation_ok"]
    for where in ("Overall", "language: en", "language: zh"):
        for metric in ("rouge1", "rouge2", "rouge_l", "rouge_lsum"):
            assert value(found, where, metric) == 1.0
    assert found["examples"] == {"Overall": 4, "language: en": 2, "language: zh": 2}


def test_floor_refuses_below_it(evaluate):
    found = evaluate({"floors": {"rouge_l": 0.51}}, "wrong in zh")
    assert value(found, "Overall", "rouge_l") == 0.5
    assert not found["validation_ok"]


def test_floor_of_the_whole_does_not_act_on_a_slice(evaluate):
    assert evaluate({"floors": {"rouge_l": 0.5}}, "wrong in zh")["validation_ok"]


def test_floor_of_a_slice_acts_on_each_of_its_values(evaluate):
    gate = {
        "floors": {"rouge_l": 0.5},
        "slices": {"language": {"floors": {"rouge_l": 0.1}}},
    }
    found = evaluate(gate, "wrong in zh")
    assert not found["validation_ok"]
    assert [f["slice"] for f in found["failures"]] == ["language: zh"]
    (failed,) = [c for c in core.explain(gate, found["metrics"]) if c.passed is False]
    assert failed.slice == "language: zh"


@pytest.mark.parametrize(
    "candidate, ok", [("right", True), ("wrong in zh", False)], ids=str
)
def test_drop_against_the_baseline_decides(evaluate, candidate, ok):
    gate = {"floors": {"rouge_l": 0.1}, "max_drop": {"rouge_l": 0.2}}
    found = evaluate(gate, candidate, baseline="right")
    assert found["validation_ok"] is ok
    assert value(found, "Overall", "rouge_l", "baseline") == 1.0


def test_drop_in_one_slice_refuses_though_the_whole_is_better(evaluate):
    gate = {
        "floors": {"rouge_l": 0.1},
        "slices": {"language": {"max_drop": {"rouge_l": 0.0}}},
    }
    assert evaluate(gate, "wrong in zh", baseline="wrong")["validation_ok"]
    assert not evaluate(gate, "wrong in zh", baseline="right")["validation_ok"]


def test_value_that_is_not_a_number_is_refused(evaluate, monkeypatch):
    nan = rouge.Score(float("nan"), float("nan"), float("nan"))
    scores = dict.fromkeys(rouge.TYPES, nan)
    monkeypatch.setattr("components.evaluator.metrics._rouge", lambda *_: scores)
    found = evaluate({"floors": {"rouge_l": 0.001}}, "right")
    assert value(found, "Overall", "rouge_l") is None
    assert not found["validation_ok"]
