"""BERT with a classification head, from the checkpoint's own weights."""

import numpy as np
import pytest
import tensorflow as tf
from safetensors.numpy import load_file

from trainer_module import losses
from trainer_module.progress import Refusal
from trainer_module.tasks import building
from trainer_module.tasks.classification import Classification

pytestmark = pytest.mark.slow


def test_weights_are_the_checkpoints_also_the_poolers(
    settings_for, minilm_dir, label_names_path
):
    task = Classification(settings_for("classification", minilm_dir), label_names_path)
    file = load_file(f"{minilm_dir}/model.safetensors")
    bert = task.model.bert
    kernel = file["pooler.dense.weight"].T
    np.testing.assert_array_equal(bert.pooler.dense.kernel.numpy(), kernel)
    last = bert.encoder.layer[-1].bert_output
    np.testing.assert_array_equal(
        last.LayerNorm.gamma.numpy(), file["encoder.layer.5.output.LayerNorm.weight"]
    )
    words = bert.embeddings.weight.numpy()
    np.testing.assert_array_equal(words, file["embeddings.word_embeddings.weight"])
    assert all(variable.trainable for variable in task.model.variables)


def test_padding_is_masked_and_a_row_is_classified_alone(tiny_task):
    task = tiny_task("classification")
    alone = task.answer(tf.constant(["my card is late"]))
    beside = task.answer(tf.constant(["fee " * 20, "my card is late", ""]))
    np.testing.assert_allclose(alone["scores"][0], beside["scores"][1], atol=1e-6)


def test_answer_names_the_likeliest_class_and_scores_sum_to_one(tiny_task):
    task = tiny_task("classification")
    answer = task.answer(tf.constant(["my card is late", "where are you ?"]))
    scores = answer["scores"].numpy()
    names = np.array([b"fee", b"late", b"lost"])
    np.testing.assert_array_equal(answer["labels"], [names] * 2)
    np.testing.assert_array_equal(answer["label"], names[scores.argmax(axis=1)])
    np.testing.assert_array_equal(answer["score"], scores.max(axis=1))
    np.testing.assert_allclose(scores.sum(axis=1), 1.0, rtol=1e-5)


def test_absent_rows_weigh_nothing(tiny_task):
    task = tiny_task("classification")
    ids = tf.constant([[2, 5, 3], [2, 6, 3]])
    alone = task.loss_sums(
        {"input_ids": ids[:1], "labels": tf.constant([1])}, training=False
    )
    beside = task.loss_sums(
        {"input_ids": ids, "labels": tf.constant([1, -100])}, training=False
    )
    np.testing.assert_allclose(alone, beside, rtol=1e-5)


def test_targets_are_smoothed_in_training_alone(tiny_task):
    task = tiny_task("classification", train={"label_smoothing": 0.2})
    ids, labels = tf.constant([[2, 5, 3], [2, 6, 3]]), tf.constant([1, 0])
    batch = {"input_ids": ids, "labels": labels}
    logits = task._logits(ids, training=False)
    hard, smooth = (
        float(losses.cross_entropy(logits, labels, smoothing=share)[0])
        for share in (0.0, 0.2)
    )
    assert float(task.loss_sums(batch, training=False)[0]) == pytest.approx(hard)
    assert float(task.evaluate(batch)[0]) == pytest.approx(hard)
    assert float(task.loss_sums(batch, training=True)[0]) == pytest.approx(smooth)
    assert smooth != pytest.approx(hard)


def test_label_name_with_a_separator_of_lines_in_it_is_one_name(
    settings_for, tiny_bert_dir, tmp_path
):
    path = tmp_path / "label_names"
    path.write_bytes("a\u2028b\nc\x85d\x1e\n".encode())
    task = Classification(settings_for("classification", tiny_bert_dir), str(path))
    answer = task.answer(tf.constant(["my card"]))
    assert [n.decode() for n in answer["labels"].numpy()[0]] == [
        "a\u2028b",
        "c\x85d\x1e",
    ]
    assert task.model.config.id2label == {0: "a\u2028b", 1: "c\x85d\x1e"}


def test_more_tokens_than_the_checkpoint_has_positions_are_refused(
    settings_for, tiny_bert_dir, label_names_path
):
    settings = settings_for(
        "classification", tiny_bert_dir, model={"max_source_tokens": 65}
    )
    with pytest.raises(Refusal, match=r"max_source_tokens: 65 .* 64 positions.*=64`"):
        Classification(settings, label_names_path)


def test_dropout_is_the_settings(settings_for, tiny_bert_dir, label_names_path):
    settings = settings_for("classification", tiny_bert_dir, train={"dropout": 0.3})
    config = Classification(settings, label_names_path).model.config
    assert config.hidden_dropout_prob == config.attention_probs_dropout_prob == 0.3


def test_classification_without_label_names_is_refused(settings_for, tiny_bert_dir):
    with pytest.raises(ValueError, match="file of label names"):
        building.build(settings_for("classification", tiny_bert_dir), None)
