"""T5: what the decoder reads, what is learned, and what is answered."""

import types

import numpy as np
import pytest
import tensorflow as tf
import transformers

from trainer_module import losses
from trainer_module.tasks import base

pytestmark = pytest.mark.slow

IDS = tf.constant([[5, 6, 1, 0], [7, 1, 0, 0]])
LABELS = tf.constant([[8, 9, 1], [10, 1, losses.IGNORED]])


@pytest.fixture(scope="module")
def task(settings_for, lively_t5_dir):
    return base.build(settings_for("summarization", lively_t5_dir), None)


def test_decoder_reads_the_target_one_step_late_and_padding_is_masked(
    task, monkeypatch
):
    seen = {}

    def model(inputs, **options):
        seen.update(inputs, **options)
        return types.SimpleNamespace(logits=tf.zeros([2, 3, 4]))

    monkeypatch.setattr(task, "model", model)
    batch = {"input_ids": IDS, "labels": tf.minimum(LABELS, 3)}
    task.loss_sums(batch, training=True)
    assert seen["decoder_input_ids"].numpy().tolist() == [[0, 3, 3], [0, 3, 1]]
    assert seen["attention_mask"].numpy().tolist() == [[1, 1, 1, 0], [1, 1, 0, 0]]
    assert seen["training"] is True


def test_loss_is_hugging_faces_own_times_the_number_of_tokens(task):
    loss_sum, weight_sum = task.loss_sums(
        {"input_ids": IDS, "labels": LABELS}, training=False
    )
    mask = tf.cast(IDS != 0, tf.int32)
    theirs = task.model(input_ids=IDS, attention_mask=mask, labels=LABELS).loss
    assert float(weight_sum) == 5.0
    assert float(loss_sum) == pytest.approx(5.0 * float(np.mean(theirs)), rel=1e-5)


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
