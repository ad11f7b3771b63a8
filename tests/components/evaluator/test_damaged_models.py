"""Copies of exported models, asked as the Evaluator asks them."""

import numpy as np
import pytest

pytestmark = pytest.mark.slow

TEXTS = ["a", "b", "c", "d"]


def save(path, variables, answer):
    """A SavedModel of (variables, string [rows]) -> outputs."""
    import tensorflow as tf

    module = tf.Module()
    module.variables_served = [tf.Variable(v, name=n) for n, v in variables.items()]
    module.serve = tf.function(
        lambda text: answer(module.variables_served, text),
        input_signature=[tf.TensorSpec([None], tf.string, name="text")],
    )
    tf.saved_model.save(module, str(path), signatures={"serving_default": module.serve})
    return str(path)


def classify(variables, text):
    """The label of a letter of TEXTS, by a kernel that knows the letters."""
    import tensorflow as tf

    kernel, bias, names = variables[0], variables[1], ["A", "B", "C", "D"]
    letters = tf.cast(tf.constant(TEXTS)[None] == text[:, None], tf.float32)
    scores = tf.nn.softmax(letters @ kernel + bias)
    return {
        "label": tf.gather(names, tf.argmax(scores, axis=1)),
        "labels": tf.tile([names], [tf.shape(text)[0], 1]),
        "scores": scores,
    }


def write(variables, text):
    """The unit with the largest weight, by an output layer [units, 1] or [1, units]."""
    import tensorflow as tf

    unit = tf.argmax(tf.reshape(variables[-1], [-1]))
    return {"text": tf.fill([tf.shape(text)[0]], tf.strings.as_string(unit))}


def answers(source, to, task, *, shuffled):
    from components.evaluator import damaged_models
    from components.evaluator.answers import ServedModel

    damaged_models.copy(source, str(to), task=task, shuffled=shuffled)
    return ServedModel(str(to), name="The copy", task=task).answer(TEXTS)


@pytest.fixture
def classifier(tmp_path):
    variables = {
        "m/classifier/kernel": np.eye(4, dtype=np.float32) * 5,
        "m/classifier/bias": np.array([0.1, 0, 0, 0], np.float32),
    }
    return save(tmp_path / "model", variables, classify)


def test_identical_copy_answers_as_the_model(classifier, tmp_path):
    from components.evaluator.answers import ServedModel

    found = answers(classifier, tmp_path / "to", "classification", shuffled=False)
    model = ServedModel(classifier, name="The model", task="classification")
    assert found.predictions == ["A", "B", "C", "D"]
    np.testing.assert_array_equal(found.scores, model.answer(TEXTS).scores)


def test_shuffled_copy_of_a_classifier_gives_each_label_to_another(
    classifier, tmp_path
):
    from components.evaluator.answers import ServedModel

    found = answers(classifier, tmp_path / "to", "classification", shuffled=True)
    model = ServedModel(classifier, name="The model", task="classification")
    assert found.predictions == ["C", "D", "A", "B"]
    moved = np.roll(model.answer(TEXTS).scores, 2, axis=1)
    np.testing.assert_array_equal(found.scores, moved)  # The bias has moved too.


def test_model_itself_stays_as_it_was(classifier, tmp_path):
    from components.evaluator.answers import ServedModel

    answers(classifier, tmp_path / "to", "classification", shuffled=True)
    model = ServedModel(classifier, name="The model", task="classification")
    assert model.answer(TEXTS).predictions == ["A", "B", "C", "D"]


@pytest.mark.parametrize(
    "variables",
    [
        {"shared/shared/embeddings": np.array([[9.0], [1], [2], [3]])},
        # Its own output layer: the embedding stays.
        {
            "shared/shared/embeddings": np.array([[9.0], [1], [2], [3]]),
            "t5/lm_head/kernel": np.array([[9.0, 1, 2, 3]]),
        },
    ],
    ids=["tied", "untied"],
)
def test_shuffled_copy_of_a_t5_writes_another_piece(variables, tmp_path):
    source = save(tmp_path / "model", variables, write)
    same = answers(source, tmp_path / "same", "summarization", shuffled=False)
    other = answers(source, tmp_path / "other", "summarization", shuffled=True)
    assert same.predictions == ["0"] * 4
    assert other.predictions == ["2"] * 4


def test_model_without_a_known_output_layer_is_told_so(tmp_path):
    from components.evaluator import damaged_models

    source = save(tmp_path / "model", {"m/other": np.eye(4)}, write)
    with pytest.raises(damaged_models.Unusable, match=r"no weights \*/classifier/kern"):
        damaged_models.copy(
            source, str(tmp_path / "to"), task="classification", shuffled=True
        )


def test_model_whose_weights_are_gone_is_told_so(classifier, tmp_path):
    import shutil

    from components.evaluator import damaged_models

    shutil.rmtree(tmp_path / "model" / "variables")
    with pytest.raises(damaged_models.Unusable, match="variables"):
        damaged_models.copy(
            classifier, str(tmp_path / "to"), task="classification", shuffled=False
        )
