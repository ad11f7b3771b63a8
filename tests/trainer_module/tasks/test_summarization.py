"""T5: what the decoder reads, what is learned, and what is answered."""

import shutil

import numpy as np
import pytest
import tensorflow as tf
import transformers

from trainer_module import losses
from trainer_module.tasks import building

pytestmark = pytest.mark.slow

IDS = tf.constant([[5, 6, 1, 0], [7, 1, 0, 0]])
LABELS = tf.constant([[8, 9, 1], [10, 1, losses.IGNORED]])


@pytest.fixture(scope="module")
def task(settings_for, lively_t5_dir):
    return building.build(settings_for("summarization", lively_t5_dir), None)


@pytest.fixture(scope="module")
def untied_t5_dir(tmp_path_factory, lively_t5_dir) -> str:
    """The same with a head of its own, as T5 v1.1 has."""
    path = tmp_path_factory.mktemp("untied_t5") / "checkpoint"
    shutil.copytree(lively_t5_dir, path)
    t5 = transformers.TFT5ForConditionalGeneration
    model = t5.from_pretrained(lively_t5_dir, tie_word_embeddings=False)
    model.lm_head.set_weights(
        [np.random.default_rng(1).normal(size=w.shape) for w in model.lm_head.weights]
    )
    model.save_pretrained(str(path), safe_serialization=True)
    return str(path)


def losses_and_gradients(task):
    """(ours, Hugging Face's own loss of the same rows), each with its gradients."""
    variables = task.model.trainable_variables
    with tf.GradientTape(persistent=True) as tape:
        loss_sum, weight_sum = task.loss_sums(
            {"input_ids": IDS, "labels": LABELS}, training=True
        )
        ours = loss_sum / weight_sum
        # It shifts the labels by itself, and takes the mean over the real ones.
        mask = tf.cast(IDS != 0, tf.int32)
        theirs = tf.reduce_mean(
            task.model(input_ids=IDS, attention_mask=mask, labels=LABELS).loss
        )
    assert float(weight_sum) == 5.0
    return [
        (loss, [tf.convert_to_tensor(g) for g in tape.gradient(loss, variables)])
        for loss in (ours, theirs)
    ]


@pytest.mark.parametrize("checkpoint", ["lively_t5_dir", "untied_t5_dir"])
def test_loss_and_gradients_are_hugging_faces_own(settings_for, checkpoint, request):
    path = request.getfixturevalue(checkpoint)
    task = building.build(settings_for("summarization", path), None)
    (ours, our_gradients), (theirs, their_gradients) = losses_and_gradients(task)
    assert float(ours) == pytest.approx(float(theirs), rel=1e-5)
    for our, their in zip(our_gradients, their_gradients, strict=True):
        np.testing.assert_allclose(our, their, rtol=1e-4, atol=1e-5)


def test_targets_are_smoothed_in_training_alone(settings_for, lively_t5_dir):
    batch = {"input_ids": IDS, "labels": LABELS}
    plain, smooth = (
        building.build(settings_for("summarization", lively_t5_dir, train=train), None)
        for train in ({}, {"label_smoothing": 0.2})
    )
    hard = float(plain.loss_sums(batch, training=True)[0])
    assert float(smooth.loss_sums(batch, training=False)[0]) == pytest.approx(hard)
    assert float(smooth.evaluate(batch)[0]) == pytest.approx(hard)
    assert float(smooth.loss_sums(batch, training=True)[0]) != pytest.approx(hard)


def test_ignored_tokens_weigh_nothing(task):
    short = {"input_ids": IDS[:1], "labels": tf.constant([[8, 9]])}
    padded = {"input_ids": IDS, "labels": tf.constant([[8, 9, -100], [-100] * 3])}
    np.testing.assert_allclose(
        task.loss_sums(short, training=False),
        task.loss_sums(padded, training=False),
        rtol=1e-5,
    )


def test_answer_is_what_generate_and_the_hugging_face_tokenizer_give(
    task, lively_t5_dir
):
    tokenizer = transformers.T5TokenizerFast.from_pretrained(lively_t5_dir)
    texts = ["My card was lost.", "the exchange rate", "on Monday " * 30]
    batch = tokenizer(
        [f"summarize: {text}" for text in texts],
        padding=True,
        truncation=True,
        max_length=32,
        return_tensors="tf",
    )
    ids = task.model.generate(**batch, max_new_tokens=8, num_beams=1, do_sample=False)
    want = tokenizer.batch_decode(ids, skip_special_tokens=True)
    got = [text.decode() for text in task.answer(tf.constant(texts))["text"].numpy()]
    assert got == want
    assert all(got) and len(set(got)) == 3
