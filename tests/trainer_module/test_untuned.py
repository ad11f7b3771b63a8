"""The checkpoint's own answers: without any training, by the rows' names."""

import json

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from trainer_module import untuned
from trainer_module.input.records import Rows
from trainer_module.tasks import building

pytestmark = pytest.mark.slow

CLS, SEP, CARD, LATE, LOST, FEE = 2, 3, 6, 8, 9, 11
NAMES = ["fee", "late", "lost"]


def labelled(*labels: int) -> Rows:
    """Rows whose one telling word is that of their label; of three lengths."""
    word = [FEE, LATE, LOST]
    ids = [[CLS, *[CARD] * (n % 3), word[c], SEP] for n, c in enumerate(labels)]
    return Rows(
        input_ids=tf.ragged.constant(ids, dtype=tf.int32),
        labels=tf.constant(labels, tf.int32),
        example_ids=np.array([f"r{n}".encode() for n in range(len(labels))]),
        targets=np.array([NAMES[label].encode() for label in labels]),
    )


@pytest.fixture
def ask(settings_for, tiny_bert_dir, lively_t5_dir, label_names_path, tmp_path):
    """Writes the answers, and gives what the file holds."""

    def run(kind, train, held_out, **changes):
        of_task = kind == "classification"
        path = tiny_bert_dir if of_task else lively_t5_dir
        settings = settings_for(kind, path, **changes)
        names = label_names_path if of_task else None
        untuned.write(
            settings,
            train,
            held_out,
            label_names_path=names,
            folder=str(tmp_path),
        )
        return settings, json.loads((tmp_path / "untuned.json").read_text())

    return run


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_classifier_is_a_linear_probe_of_the_encoder(ask, pooling):
    held_out = labelled(2, 0, 1, 1, 0, 2, 2)
    _, told = ask(
        "classification",
        labelled(*[0, 1, 2] * 6),
        held_out,
        model={"pooling": pooling},
    )
    assert told["example_ids"] == [f"r{n}" for n in range(7)]
    assert told["names"] == NAMES
    assert told["predictions"] == [t.decode() for t in held_out.targets]
    scores = np.array(told["scores"])
    np.testing.assert_allclose(scores.sum(axis=1), 1, atol=1e-5)
    assert [NAMES[i] for i in scores.argmax(axis=1)] == told["predictions"]


def test_rows_of_one_class_give_the_reason_instead(ask):
    _, told = ask("classification", labelled(0, 0), labelled(0), model={})
    assert set(told) == {"refused"}
    assert "one class only" in told["refused"]


def test_t5_writes_what_the_checkpoint_would_serve(ask):
    ids = [[5 + n] * (n % 4 + 1) + [1] for n in range(9)]
    rows = Rows(
        input_ids=tf.ragged.constant(ids, dtype=tf.int32),
        labels=tf.ragged.constant([[7, 1]] * 9, dtype=tf.int32),
        example_ids=np.array([f"r{n}".encode() for n in range(9)]),
        targets=np.array([b"card"] * 9),
    )
    settings, told = ask("summarization", rows, rows)
    tf_keras.backend.clear_session()
    task = building.build(settings, None)
    alone = [
        task.read_predictions(task.write({"input_ids": tf.constant([row])}).numpy())[0]
        for row in ids
    ]
    assert told["predictions"] == alone
    assert len(set(alone)) > 1
    assert (told["names"], told["scores"]) == ([], [])
