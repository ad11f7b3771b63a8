"""Trains alike on one device and on two, and prints how far apart they end.

Run by test_trainer in a process of its own: TensorFlow takes logical devices only
before it starts. Arguments: the folders of a tiny BERT and a tiny T5, the file of
label names, a folder for an export.
"""

import json
import sys

import numpy as np
import tensorflow as tf

from tests.trainer_module.descent import Descent
from trainer_module import export
from trainer_module.input import records
from trainer_module.input.batching import ABSENT, BatchPlan
from trainer_module.loop import optimizers
from trainer_module.loop.evaluator import Evaluator
from trainer_module.loop.feed import Feed
from trainer_module.loop.trainer import Report, Trainer
from trainer_module.settings import ModelSettings, TrainerSettings, TrainSettings
from trainer_module.tasks import building

BERT_DIR, T5_DIR, LABEL_NAMES, EXPORT_DIR = sys.argv[1:]
# Before the first tensor.
tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0],
    [tf.config.LogicalDeviceConfiguration()] * 2,
)

# Replica 0 has long targets and replica 1 short ones; in the last batch of four,
# replica 1 has no row at all.
PLAN = np.array([[0, 1, 2, 3], [4, ABSENT, ABSENT, ABSENT]])
IDS = [[2, 5, 6, 3], [2, 7, 3], [2, 9, 10, 11, 3], [2, 6, 3], [2, 12, 3]]
ROWS = {
    "summarization": records.Rows(
        input_ids=tf.ragged.constant([[*r[:-1], 1] for r in IDS], dtype=tf.int32),
        labels=tf.ragged.constant(
            [[5, 6, 7, 8, 9, 1], [9, 8, 7, 6, 5, 1], [1], [1], [7, 1]], dtype=tf.int32
        ),
        example_ids=np.array([b"x"] * 5),
        targets=np.array([b"fee"] * 5),
    ),
    "classification": records.Rows(
        input_ids=tf.ragged.constant(IDS, dtype=tf.int32),
        labels=tf.constant([0, 1, 2, 0, 1]),
        example_ids=np.array([b"x"] * 5),
        targets=np.array([b"fee"] * 5),
    ),
}
TRAIN = TrainSettings(dropout=0.0, learning_rate=0.01, warmup_share=0.0)


def sgd():
    return Descent(0.1)


def adamw():
    return optimizers.build(TRAIN, total_updates=10)


def train(strategy, kind, *, optimizer, clip_norm, xla, size=1):
    """Updates and an evaluation; gives the task and all numbers that came out."""
    path = BERT_DIR if kind == "classification" else T5_DIR
    settings = TrainerSettings(
        task=kind,
        checkpoint_dir=path,
        checkpoint_hash="",
        code="",
        model=ModelSettings(checkpoint=path, max_source_tokens=32, max_target_tokens=8),
        train=TRAIN,
    )
    tf.keras.utils.set_random_seed(0)
    with strategy.scope():
        task = building.build(settings, LABEL_NAMES)
        made = optimizer()
    random = np.random.default_rng(0)  # The new head alike, wherever it was made.
    if kind == "classification":
        head = task.model.classifier.kernel
        head.assign(random.normal(size=head.shape))
    rows = ROWS[kind]
    plan = BatchPlan.of(PLAN, [[8] * len(rows.lengths)] * 2, rows.lengths)
    feed = Feed(rows, strategy=strategy, pad_id=task.pad_id)
    parts = {
        "task": task,
        "strategy": strategy,
        "element_spec": feed.element_spec(plan),
    }
    trainer = Trainer(
        **parts, optimizer=made, clip_norm=clip_norm, xla=xla, accumulates=size > 1
    )
    reports = [
        Report.of(trainer.update(window.batches))
        for window in feed.windows(plan, first=0, size=size)
    ]
    evaluator = Evaluator(**parts, rows=rows)
    found = evaluator.evaluate(feed.numbered(plan), feed.numbered(plan))
    weights = [variable.numpy() for variable in task.model.variables]
    numbers = [[r.loss_sum, r.weight_sum, r.gradient_norm] for r in reports]
    return task, weights, numbers, found.metrics


def export_alike(task) -> bool:
    """Whether the SavedModel of a mirrored model answers as the model does."""
    export.save(task, EXPORT_DIR)
    text = tf.constant(["my card is late", "the fee was too high"])
    served = tf.saved_model.load(EXPORT_DIR).signatures["serving_default"](text)
    return bool(np.allclose(served["scores"], task.answer(text)["scores"], atol=1e-6))


def main():
    one = tf.distribute.get_strategy()
    two = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    found = {}
    for name, kind, xla, options in (
        ("t5", "summarization", False, {"optimizer": sgd, "clip_norm": 1e9}),
        ("accumulated", "classification", False, {"optimizer": sgd, "size": 2}),
        ("bert", "classification", True, {"optimizer": sgd}),
        ("adamw", "classification", False, {"optimizer": adamw}),
    ):
        options = {"clip_norm": 0.01, **options}
        _, alone, reports, metrics = train(one, kind, xla=False, **options)
        task, both, reports_both, metrics_both = train(two, kind, xla=xla, **options)
        found[name] = {
            "weights": max(
                float(np.abs(a - b).max()) for a, b in zip(alone, both, strict=True)
            ),
            "reports": [reports, reports_both],
            "metrics": [metrics, metrics_both],
        }
    found["export"] = export_alike(task)
    json.dump(found, sys.stdout)


main()
