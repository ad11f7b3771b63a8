"""The head that is fitted before the fine-tuning."""

import numpy as np
import pytest
import tensorflow as tf
import tf_keras
from sklearn.linear_model import LogisticRegression

from trainer_module import embedding, linear_probe
from trainer_module.checkpoints.store import Store
from trainer_module.input.records import Rows
from trainer_module.loop.training import Data, Training
from trainer_module.progress import Refusal

pytestmark = pytest.mark.slow

CLS, SEP, CARD, LATE, LOST, FEE = 2, 3, 6, 8, 9, 11
OF_LABEL = {0: FEE, 1: LATE, 2: LOST}


def rows_of(*labels: int) -> Rows:
    """Rows whose one telling word is that of their label."""
    ids = [[CLS, *[CARD] * (n % 3), OF_LABEL[c], SEP] for n, c in enumerate(labels)]
    return Rows(
        input_ids=tf.ragged.constant(ids, dtype=tf.int32),
        labels=tf.constant(labels, tf.int32),
        example_ids=np.array([b"x"] * len(labels)),
        targets=np.array([b"fee"] * len(labels)),
    )


@pytest.fixture
def task(tiny_task):
    return tiny_task("classification", model={"pooling": "mean"})


def scores_of(task, rows, head) -> np.ndarray:
    """Probabilities [rows, classes] of a head on the encoder as it is."""
    numbers, points = embedding.vectors(task, rows, most=len(rows))
    kernel, bias = head
    found = tf.nn.softmax(points @ kernel + bias).numpy()
    return found[np.argsort(numbers)]


def test_head_tells_every_row_and_is_no_part_of_the_model_yet(task):
    before = [v.numpy() for v in task.model.variables]
    rows = rows_of(*[0, 1, 2] * 6)
    head = linear_probe.fit(task, rows, classes=3)
    assert [part.shape for part in head] == [(16, 3), (3,)]
    assert {part.dtype for part in head} == {np.dtype("float32")}
    scores = scores_of(task, rows, head)
    np.testing.assert_array_equal(scores.argmax(axis=1), rows.labels.numpy())
    for old, variable in zip(before, task.model.variables, strict=True):
        np.testing.assert_array_equal(old, variable.numpy())


def test_two_classes_have_the_probabilities_of_one_score(task):
    rows = rows_of(*[0, 1] * 6)
    scores = scores_of(task, rows, linear_probe.fit(task, rows, classes=2))
    numbers, points = embedding.vectors(task, rows, most=len(rows))
    fitted = LogisticRegression().fit(points, rows.labels.numpy()[numbers])
    want = fitted.predict_proba(points)[np.argsort(numbers)]
    np.testing.assert_allclose(scores, want, atol=1e-5)


def test_class_without_a_row_is_never_the_answer(task):
    rows = rows_of(*[0, 2] * 6)
    kernel, bias = linear_probe.fit(task, rows, classes=3)
    assert not kernel[:, 1].any() and bias[1] == bias.min()
    assert 1 not in scores_of(task, rows, (kernel, bias)).argmax(axis=1)


def test_rows_of_one_class_are_refused(task):
    with pytest.raises(Refusal, match="one class only.*train.head_start=random"):
        linear_probe.fit(task, rows_of(1, 1, 1), classes=3)


def test_no_more_rows_are_fitted_than_allowed(task, monkeypatch):
    monkeypatch.setattr(linear_probe, "MAX_ROWS", 4)
    rows = rows_of(*[0, 1] * 3, *[2] * 2)
    numbers, _ = embedding.vectors(task, rows, most=4)
    seen = set(rows.labels.numpy()[numbers].tolist())
    kernel, _ = linear_probe.fit(task, rows, classes=3)
    assert {c for c in range(3) if kernel[:, c].any()} == seen


@pytest.fixture
def training(settings_for, tiny_bert_dir, label_names_path, tmp_path):
    def make(*, head_start="probe", warm_start_dir=None, **train) -> Training:
        settings = settings_for(
            "classification",
            tiny_bert_dir,
            model={"pooling": "mean"},
            train={"head_start": head_start, "epochs": 1, **train},
        )
        rows = rows_of(*[0, 1, 2] * 4)
        return Training(
            settings,
            Data(rows, rows, label_names_path, warm_start_dir),
            strategy=tf.distribute.get_strategy(),
            store=Store(str(tmp_path / "kept"), tell=print),
        )

    return make


def head_of(training: Training) -> list[np.ndarray]:
    return [part.numpy() for part in training.task.model.classifier.weights]


def test_new_training_starts_from_the_probe_also_with_adapters(training, task):
    want = linear_probe.fit(task, rows_of(*[0, 1, 2] * 4), classes=3)
    for started in (training(), training(lora={"rank": 2})):
        assert started.resume() is False
        for part, values in zip(head_of(started), want, strict=True):
            np.testing.assert_allclose(part, values, rtol=1e-5, atol=1e-6)


def test_random_head_stays_as_it_was(training):
    started = training(head_start="random")
    before = head_of(started)
    started.resume()
    for old, new in zip(before, head_of(started), strict=True):
        np.testing.assert_array_equal(old, new)


def test_workers_at_unlike_places_are_refused_before_one_fits_a_head(
    training, monkeypatch
):
    """The others would not take part in agreeing on it, and all would wait."""
    started = training()

    def refuse():
        raise Refusal("unlike places")

    monkeypatch.setattr(started, "_meet", refuse)
    monkeypatch.setattr(linear_probe, "fit", None)  # A call would fail otherwise.
    with pytest.raises(Refusal, match="unlike places"):
        started.resume()


def test_warm_start_keeps_the_head_it_brings(training, task, tmp_path):
    from trainer_module import export

    folder = str(tmp_path / "Format-HF")
    export.save_hugging_face(task, training().settings.checkpoint_dir, folder)
    started = training(warm_start_dir=folder)
    started.resume()
    for part, old in zip(head_of(started), task.model.classifier.weights, strict=True):
        np.testing.assert_array_equal(part, old.numpy())


def test_training_that_goes_on_takes_the_head_of_its_checkpoint(training, monkeypatch):
    tf_keras.backend.clear_session()  # It numbers the models that a process builds.
    first = training()
    first.resume()
    first.run()
    learned = head_of(first)
    monkeypatch.setattr(linear_probe, "fit", None)  # A call would fail.
    tf_keras.backend.clear_session()
    again = training()
    assert again.resume() is True
    again.run()
    for part, old in zip(head_of(again), learned, strict=True):
        np.testing.assert_array_equal(part, old)
