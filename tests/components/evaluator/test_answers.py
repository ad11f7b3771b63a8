"""Answers of a SavedModel, and what is not taken for one."""

import numpy as np
import pytest

pytestmark = pytest.mark.slow

NAMES = ["fee", "lost"]


@pytest.fixture
def served(tmp_path):
    """Saves a function of text as a model, and loads it as one to be asked."""
    import tensorflow as tf

    from components.evaluator.answers import ServedModel

    def load(outputs_of, task="classification", signature="serving_default"):
        module = tf.Module()
        module.serve = tf.function(
            outputs_of, input_signature=[tf.TensorSpec([None], tf.string, name="text")]
        )
        path = str(tmp_path / "model")
        tf.saved_model.save(module, path, signatures={signature: module.serve})
        return ServedModel(path, name="the candidate", task=task)

    return load


def classify(text, *, scores=(0.75, 0.25), names=NAMES, rows=None):
    import tensorflow as tf

    rows = tf.shape(text)[0] if rows is None else rows
    return {
        "label": tf.fill([rows], names[0]),
        "labels": tf.tile([names], [rows, 1]),
        "scores": tf.tile([list(scores)], [rows, 1]),
    }


def test_labels_and_their_probabilities_come_back(served):
    found = served(classify).answer(["a", "b", "c"])
    assert found.predictions == ["fee"] * 3
    assert found.names == NAMES
    np.testing.assert_array_equal(found.scores, [[0.75, 0.25]] * 3)


def test_written_text_comes_back_also_where_it_is_no_utf8(served):
    import tensorflow as tf

    def write(text):
        return {"text": tf.strings.join([text, tf.constant(b"\xff")])}

    model = served(write, "summarization")
    assert model.answer(["卡", ""]).predictions == ["卡\ufffd", "\ufffd"]


def test_model_that_answers_fewer_texts_is_refused(served):
    from components.evaluator.answers import NoAnswer

    model = served(lambda text: classify(text, rows=2))
    with pytest.raises(NoAnswer, match=r"the candidate gave 2 answers .* to 3 texts"):
        model.answer(["a", "b", "c"])


@pytest.mark.parametrize("score", [float("nan"), -0.1, 1.5, float("inf")])
def test_score_that_is_no_probability_is_refused_with_the_text(served, score):
    from components.evaluator.answers import NoAnswer

    model = served(lambda text: classify(text, scores=(score, 0.5)))
    with pytest.raises(NoAnswer, match=r"no probability to 2 of 2 texts, such as 'my"):
        model.answer(["my card", "b"])


def test_model_of_the_other_task_is_refused_with_what_it_has(served):
    from components.evaluator.answers import NoAnswer

    with pytest.raises(NoAnswer, match=r"no output \['text'\].*summarization.*'label'"):
        served(classify, "summarization")


def test_model_without_the_signature_is_refused(served):
    from components.evaluator.answers import NoAnswer

    with pytest.raises(NoAnswer, match="no output .*serving_default"):
        served(classify, signature="other")


def test_folder_without_a_model_is_refused(tmp_path):
    from components.evaluator.answers import NoAnswer, ServedModel

    with pytest.raises(NoAnswer, match="the baseline in .* cannot be loaded"):
        ServedModel(str(tmp_path), name="the baseline", task="classification")


def test_parts_are_joined_in_the_order_of_the_rows():
    from components.evaluator.answers import join
    from components.evaluator.scores.classification import Answers

    parts = [
        Answers(["c", "a"], NAMES, np.array([[0.3, 0.7], [0.1, 0.9]])),
        Answers(["b"], NAMES, np.array([[0.2, 0.8]])),
    ]
    whole = join(parts, [[2, 0], [1]])
    assert whole.predictions == ["a", "b", "c"]
    np.testing.assert_array_equal(whole.scores[:, 0], [0.1, 0.2, 0.3])
