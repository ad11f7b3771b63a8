"""Updates: the gradient of the mean over real labels, on any number of replicas."""

import pathlib

import numpy as np
import pytest
import tensorflow as tf

from tests.trainer_module.descent import Descent
from trainer_module.loop import optimizers, precision
from trainer_module.loop.trainer import Report, Trainer
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


def train(task, kind, windows, *, optimizer=None, clip_norm=1e9, **options):
    """Updates by each window of batches; gives the trainer and its reports."""
    trainer = Trainer(
        task=task,
        optimizer=optimizer or Descent(1.0),
        strategy=tf.distribute.get_strategy(),
        element_spec=SPEC[kind],
        clip_norm=clip_norm,
        **{"xla": False, **options},
    )
    return trainer, [Report.of(trainer.update(window)) for window in windows]


def sums_of(reports) -> list[tuple[float, float]]:
    return [(report.loss_sum, report.weight_sum) for report in reports]


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


@pytest.mark.parametrize(
    "case, labels",
    [
        ("t5", [14.0, 2.0]),
        ("accumulated", [5.0]),
        ("bert", [4.0, 1.0]),
        ("adamw", [4.0, 1.0]),
    ],
)
def test_two_replicas_train_as_one_does(replicas, case, labels):
    """With uneven targets, and a batch in which one replica has absent rows only.

    T5 by gradient descent; BERT clipped, once with both batches in one update, once
    under XLA, and once by AdamW.
    """
    found = replicas[case]
    if case != "adamw":  # It makes a step of any gradient, be it a sum's rounding.
        assert found["weights"] <= 1e-6
    np.testing.assert_allclose(*found["reports"], rtol=1e-5)
    assert [weight for _, weight, _ in found["reports"][0]] == labels
    one, two = found["metrics"]
    assert one == pytest.approx(two, rel=1e-5)
    assert len(one) == (5 if case == "t5" else 3)


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
    trainer, reports = train(task, kind, [[batch]])
    assert sums_of(reports) == [(pytest.approx(float(loss_sum), rel=1e-5), real)]
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
    _, reports = train(task, kind, [[batch]], optimizer=optimizer)
    assert sums_of(reports) == [(0.0, 0.0)]
    for variable, old in zip(task.model.trainable_variables, before, strict=True):
        share = 1 - 0.5 * optimizer.decay_of(variable)
        np.testing.assert_allclose(variable.numpy(), share * old, rtol=1e-5)


def test_gradient_is_clipped_by_its_norm_over_all_weights(tiny_task):
    task = tiny_task("classification")
    before = weights_of(task)
    train(task, "classification", [[batch_of("classification")]], clip_norm=0.01)
    moved = [new - old for old, new in zip(before, weights_of(task), strict=True)]
    norm = np.sqrt(sum((part.astype(np.float64) ** 2).sum() for part in moved))
    assert norm == pytest.approx(0.01, rel=1e-3)


def rows_of(batch, first, last):
    return {name: values[first:last] for name, values in batch.items()}


@pytest.mark.parametrize("kind", TASKS)
def test_accumulated_batches_move_the_weights_as_one_large_batch(kind, tiny_task):
    """With targets of unlike length, clipped, and a last window that is not full."""
    large = {n: tf.concat([v, v[::-1]], axis=0) for n, v in batch_of(kind).items()}
    parts = [rows_of(large, n, n + 1) for n in range(4)]
    found = []
    for windows in ([[large], [parts[0]]], [parts, [parts[0]]]):
        task = tiny_task(kind)
        if kind == "classification":  # Its head is random.
            task.model.classifier.kernel.assign(
                np.random.default_rng(0).normal(size=task.model.classifier.kernel.shape)
            )
        options = {"clip_norm": 0.5, "accumulates": len(windows[0]) > 1}
        trainer, reports = train(task, kind, windows, **options)
        assert trainer.updates == 2
        found.append((weights_of(task), reports))
    for one, other in zip(found[0][0], found[1][0], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
    for one, other in zip(found[0][1], found[1][1], strict=True):
        assert one.weight_sum == other.weight_sum
        # The second one is of weights that differ by a rounding.
        assert one.loss_sum == pytest.approx(other.loss_sum, rel=1e-5)
        assert one.gradient_norm == pytest.approx(other.gradient_norm, rel=1e-5)


def test_report_tells_norm_before_clipping_rate_and_stop(tiny_task):
    task = tiny_task("classification")
    settings = TrainSettings(learning_rate=0.5, warmup_share=0.5)
    optimizer = optimizers.build(settings, total_updates=8)
    batch = batch_of("classification")
    options = {"optimizer": optimizer, "clip_norm": 1e-4}
    trainer, reports = train(task, "classification", [[batch]] * 2, **options)
    assert [report.learning_rate for report in reports] == [0.125, 0.25]
    assert all(report.gradient_norm > 0.01 for report in reports)
    assert [report.loss_scale for report in reports] == [1.0, 1.0]
    assert [report.stop for report in reports] == [False, False]
    assert Report.of(trainer.update([batch], stop=True)).stop is True


def test_update_whose_loss_is_not_finite_leaves_everything_as_it_was(tiny_task):
    task = tiny_task("classification")
    optimizer = optimizers.build(TrainSettings(), total_updates=10)
    batch = batch_of("classification")
    trainer, _ = train(task, "classification", [[batch]], optimizer=optimizer)
    kernel = task.model.classifier.kernel
    good = kernel.numpy()
    kernel.assign(np.full_like(good, np.inf))
    before = [v.numpy() for v in trainer.variables["weights"]]
    moments = [v.numpy() for v in trainer.variables["optimizer"] if v.shape.rank]
    report = Report.of(trainer.update([batch]))
    assert not np.isfinite(report.loss_sum)
    for old, variable in zip(before, trainer.variables["weights"], strict=True):
        np.testing.assert_array_equal(old, variable.numpy())
    after = [v.numpy() for v in trainer.variables["optimizer"] if v.shape.rank]
    for old, new in zip(moments, after, strict=True):
        np.testing.assert_array_equal(old, new)


@pytest.fixture
def bfloat16():
    with precision.policy("mixed_bfloat16"):
        yield


def learn(kind, tiny_task, **options):
    """Forty updates on two rows; gives the task and the loss of each update."""
    task = tiny_task(kind)
    settings = TrainSettings(learning_rate=0.01, warmup_share=0.1)
    optimizer = optimizers.build(settings, total_updates=60)
    windows = [[batch_of(kind)]] * 40
    trainer, reports = train(task, kind, windows, optimizer=optimizer, **options)
    assert trainer.updates == 40
    return task, [report.loss_sum for report in reports]


def test_mixed_bfloat16_learns_in_float32_weights(bfloat16, tiny_task):
    task, losses = learn("summarization", tiny_task, clip_norm=1.0)
    assert np.isfinite(losses).all()
    assert losses[-1] < losses[0] / 2
    assert {variable.dtype for variable in task.model.variables} == {tf.float32}
    assert all(np.isfinite(w).all() for w in weights_of(task))


@pytest.mark.parametrize("kind", TASKS)
def test_mixed_bfloat16_learns_under_xla(kind, bfloat16, tiny_task):
    _, losses = learn(kind, tiny_task, clip_norm=1.0, xla=True)
    assert losses[-1] < losses[0] / 2


def test_mixed_float16_learns_and_grows_its_loss_scale(tiny_task):
    with precision.policy("mixed_float16"):
        scale = precision.LossScale(initial=1024.0, updates_between_growth=30)
        task, losses = learn("classification", tiny_task, loss_scale=scale)
    assert losses[-1] < losses[0] / 2
    assert scale.factor.numpy() == 2048.0
    assert {variable.dtype for variable in task.model.variables} == {tf.float32}


def test_loss_scale_that_overflows_is_halved_and_moves_nothing(tiny_task):
    with precision.policy("mixed_float16"):
        scale = precision.LossScale(initial=2.0**24)
        task = tiny_task("classification")
        before = weights_of(task)
        batch = batch_of("classification")
        optimizer = optimizers.build(TrainSettings(), total_updates=10)
        options = {"optimizer": optimizer, "loss_scale": scale}
        _, (report,) = train(task, "classification", [[batch]], **options)
    assert np.isfinite(report.loss_sum) and not np.isfinite(report.gradient_norm)
    assert (report.loss_scale, scale.factor.numpy()) == (2.0**24, 2.0**23)
    for old, new in zip(before, weights_of(task), strict=True):
        np.testing.assert_array_equal(old, new)


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
