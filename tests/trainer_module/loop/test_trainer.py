"""Updates: the gradient of the mean over real labels, on any number of replicas."""

import pathlib

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from trainer_module.loop import optimizers
from trainer_module.loop.trainer import Trainer
from trainer_module.losses import IGNORED
from trainer_module.settings import TrainSettings

pytestmark = pytest.mark.slow

ROOT = pathlib.Path(__file__).parents[3]
TASKS = ["classification", "summarization"]
SPEC = {
    "classification": {
        "input_ids": tf.TensorSpec([None, None], tf.int32),
        "labels": tf.TensorSpec([None], tf.int32),
    },
    "summarization": {
        "input_ids": tf.TensorSpec([None, None], tf.int32),
        "labels": tf.TensorSpec([None, None], tf.int32),
    },
}


def batch_of(task: str, *, padding_only: bool = False) -> dict[str, tf.Tensor]:
    end = 3 if task == "classification" else 1
    ids = tf.constant([[2, 5, 6, end], [2, 7, end, 0]])
    labels = tf.constant([[5, 6, 1], [7, 1, IGNORED]])
    if task == "classification":
        labels = tf.constant([2, 0])
    if padding_only:
        labels = tf.fill(labels.shape, IGNORED)
    return {"input_ids": ids, "labels": labels}


def train(task, kind, batches, *, optimizer=None, clip_norm=1e9, xla=False):
    trainer = Trainer(
        task=task,
        optimizer=optimizer or tf_keras.optimizers.SGD(1.0),
        strategy=tf.distribute.get_strategy(),
        clip_norm=clip_norm,
        xla=xla,
    )
    sums = [
        tuple(float(part) for part in pair)
        for pair in trainer.train(batches, SPEC[kind])
    ]
    return trainer, sums


def weights_of(task) -> list[np.ndarray]:
    return [variable.numpy() for variable in task.model.trainable_variables]


@pytest.fixture(scope="module")
def replicas(run_alone, tiny_bert_dir, tiny_t5_dir, label_names_path, tmp_path_factory):
    code = (ROOT / "tests/trainer_module/loop/replicas.py").read_text("utf-8")
    export = str(tmp_path_factory.mktemp("mirrored") / "export")
    return run_alone(
        code,
        *(tiny_bert_dir, tiny_t5_dir, label_names_path, export),
        import_path=str(ROOT),
    )


@pytest.mark.parametrize("kind", TASKS)
def test_two_replicas_train_as_one_does(replicas, kind):
    """With uneven targets, and a batch in which one replica has absent rows only.

    T5 by gradient descent; BERT under XLA, clipped, by AdamW.
    """
    found = replicas[kind]
    assert found["weights"] <= 1e-6
    np.testing.assert_allclose(*found["sums"], rtol=1e-5)
    np.testing.assert_allclose(*found["validation"], rtol=1e-5)
    weights = [weight for _, weight in found["sums"][0]]
    assert weights == ([14.0, 2.0] if kind == "summarization" else [4.0, 1.0])


def test_model_trained_on_two_replicas_is_exported_as_it_is(replicas):
    assert replicas["export"] is True


@pytest.mark.parametrize("kind", TASKS)
def test_update_moves_every_weight_by_the_gradient_of_the_mean_over_real_labels(
    kind, tiny_task
):
    task = tiny_task(kind)
    batch = batch_of(kind)
    real = 2.0 if kind == "classification" else 5.0
    with tf.GradientTape() as tape:
        loss_sum, weight_sum = task.loss_sums(batch, training=False)
        mean = loss_sum / real
    gradients = tape.gradient(mean, task.model.trainable_variables)
    before = weights_of(task)
    trainer, sums = train(task, kind, [batch])
    assert sums == [(pytest.approx(float(loss_sum), rel=1e-5), real)]
    assert float(weight_sum) == real
    assert trainer.updates == 1
    for old, new, gradient in zip(before, weights_of(task), gradients, strict=True):
        moved = tf.convert_to_tensor(gradient) if gradient is not None else 0.0
        np.testing.assert_allclose(new, old - moved, atol=1e-5)
    # Nothing is frozen. A bias on every key moves all scores of a row alike, so it
    # has no gradient.
    assert len(task.model.trainable_variables) == len(task.model.variables)
    assert [
        variable.name
        for variable, old in zip(task.model.trainable_variables, before, strict=True)
        if np.array_equal(variable.numpy(), old) and "key/bias" not in variable.name
    ] == []


def test_batch_of_padding_only_is_finite_and_moves_nothing_but_decay(tiny_task):
    kind = "summarization"
    task = tiny_task(kind)
    settings = TrainSettings(learning_rate=0.5, weight_decay=0.1, warmup_share=0.0)
    optimizer = optimizers.build(settings, total_updates=10)
    before = weights_of(task)
    batch = batch_of(kind, padding_only=True)
    _, sums = train(task, kind, [batch], optimizer=optimizer)
    assert sums == [(0.0, 0.0)]
    for variable, old in zip(task.model.trainable_variables, before, strict=True):
        share = 0.95 if optimizer._use_weight_decay(variable) else 1.0
        np.testing.assert_allclose(variable.numpy(), share * old, rtol=1e-5)


def test_gradient_is_clipped_by_its_norm_over_all_weights(tiny_task):
    task = tiny_task("classification")
    before = weights_of(task)
    train(task, "classification", [batch_of("classification")], clip_norm=0.01)
    moved = [new - old for old, new in zip(before, weights_of(task), strict=True)]
    norm = np.sqrt(sum((part.astype(np.float64) ** 2).sum() for part in moved))
    assert norm == pytest.approx(0.01, rel=1e-3)


@pytest.fixture
def bfloat16():
    tf_keras.mixed_precision.set_global_policy("mixed_bfloat16")
    yield
    tf_keras.mixed_precision.set_global_policy("float32")


def learn(kind, tiny_task, **options):
    """Forty updates on two rows; gives the task and the loss of each update."""
    task = tiny_task(kind)
    settings = TrainSettings(learning_rate=0.01, warmup_share=0.1)
    optimizer = optimizers.build(settings, total_updates=60)
    batches = [batch_of(kind)] * 40
    trainer, sums = train(task, kind, batches, optimizer=optimizer, **options)
    assert trainer.updates == 40
    return task, [loss for loss, _ in sums]


def test_mixed_bfloat16_learns_in_float32_weights(bfloat16, tiny_task):
    task, losses = learn("summarization", tiny_task, clip_norm=1.0)
    assert np.isfinite(losses).all()
    assert losses[-1] < losses[0] / 2
    assert {variable.dtype for variable in task.model.variables} == {tf.float32}
    assert all(np.isfinite(w).all() for w in weights_of(task))


def test_mixed_bfloat16_learns_under_xla(bfloat16, tiny_task):
    _, losses = learn("classification", tiny_task, xla=True)
    assert losses[-1] < losses[0] / 2


@pytest.mark.parametrize("kind", TASKS)
def test_wider_padding_leaves_the_loss_as_it_is(kind, tiny_task):
    task = tiny_task(kind)
    batch = batch_of(kind)
    wide = {"input_ids": tf.pad(batch["input_ids"], [[0, 0], [0, 4]])}
    wide["labels"] = batch["labels"]
    if kind == "summarization":
        wide["labels"] = tf.pad(
            batch["labels"], [[0, 0], [0, 5]], constant_values=IGNORED
        )
    sums = [
        [float(part) for part in task.loss_sums(b, training=False)]
        for b in (batch, wide)
    ]
    np.testing.assert_allclose(*sums, rtol=1e-5)
