"""The head on the mean of the tokens: its numbers, its training and its files."""

import numpy as np
import pytest
import tensorflow as tf
import transformers
from safetensors.numpy import load_file

from trainer_module import export
from trainer_module.tasks.classifiers import CLASSIFIER_FILE

pytestmark = pytest.mark.slow

IDS = tf.constant([[2, 5, 6, 7, 3], [2, 8, 3, 0, 0]])
MASK = tf.cast(IDS != 0, tf.int32)


@pytest.fixture(scope="module")
def task(tiny_task):
    return tiny_task("classification", model={"pooling": "mean"})


def test_logits_are_of_the_mean_over_real_tokens(task, tiny_bert_dir):
    encoder = transformers.TFBertModel.from_pretrained(tiny_bert_dir)
    states = encoder(input_ids=IDS, attention_mask=MASK).last_hidden_state.numpy()
    means = np.stack([states[0].mean(axis=0), states[1, :3].mean(axis=0)])
    kernel, bias = (weight.numpy() for weight in task.model.classifier.weights)
    logits = task.model({"input_ids": IDS, "attention_mask": MASK}).logits
    np.testing.assert_allclose(logits, means @ kernel + bias, atol=1e-5)


def test_row_without_a_token_is_finite(task):
    ids = tf.zeros([1, 3], tf.int32)
    logits = task.model({"input_ids": ids, "attention_mask": ids}).logits
    assert np.isfinite(logits).all()


def test_every_weight_has_a_gradient(task):
    batch = {"input_ids": IDS, "labels": tf.constant([2, 0])}
    with tf.GradientTape() as tape:
        loss, _ = task.loss_sums(batch, training=True)
    gradients = tape.gradient(loss, task.model.trainable_variables)
    assert all(gradient is not None for gradient in gradients)
    assert len(task.model.trainable_variables) == len(task.model.variables)


def test_export_answers_as_the_model_does(task, tmp_path):
    export.save(task, str(tmp_path / "export"))
    served = tf.saved_model.load(str(tmp_path / "export"))
    texts = tf.constant(["my card is late", "", "fee " * 40])
    answer = served.signatures["serving_default"](text=texts)
    np.testing.assert_allclose(
        answer["scores"], task.answer(texts)["scores"], atol=1e-6
    )


def test_files_hold_the_encoder_in_hugging_faces_format_and_the_head(
    task, tiny_bert_dir, tmp_path
):
    export.save_hugging_face(task, tiny_bert_dir, str(tmp_path))
    encoder = transformers.TFAutoModel.from_pretrained(
        str(tmp_path), add_pooling_layer=False
    )
    head = load_file(str(tmp_path / CLASSIFIER_FILE))
    states = encoder(input_ids=IDS[:1], attention_mask=MASK[:1]).last_hidden_state
    logits = states.numpy()[0].mean(axis=0) @ head["weight"].T + head["bias"]
    want = task.model({"input_ids": IDS[:1], "attention_mask": MASK[:1]}).logits[0]
    np.testing.assert_allclose(logits, want, atol=1e-5)
    assert encoder.config.id2label == {0: "fee", 1: "late", 2: "lost"}
    assert transformers.AutoTokenizer.from_pretrained(str(tmp_path)).vocab_size == 22
