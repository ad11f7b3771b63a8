"""Trains adapters on one device and on two, and prints how far apart they end.

Run by test_lora in a process of its own: TensorFlow takes logical devices only before
it starts. Arguments: the folders of a BERT and a T5, the file of label names, a folder
for an export.
"""

import json
import sys

import numpy as np
import tensorflow as tf

from tests.trainer_module.descent import Descent
from trainer_module import adapters, export
from trainer_module.loop.trainer import Trainer
from trainer_module.settings import Lora, ModelSettings, TrainerSettings, TrainSettings
from trainer_module.tasks import building

BERT_DIR, T5_DIR, LABEL_NAMES, EXPORT_DIR = sys.argv[1:]
tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0],
    [tf.config.LogicalDeviceConfiguration()] * 2,
)
TASKS = {
    "bert": ("classification", BERT_DIR, [[2, 5, 6, 3], [2, 7, 8, 3]], [2, 0]),
    "t5": ("summarization", T5_DIR, [[5, 6, 7, 1], [9, 8, 7, 1]], [[5, 1], [7, 1]]),
}


def logits(task):
    ids = tf.constant([[5, 6, 7, 1]])
    inputs = {"input_ids": ids, "attention_mask": tf.ones_like(ids)}
    if not hasattr(task.model, "classifier"):
        inputs["decoder_input_ids"] = tf.constant([[0, 5]])
    return task.model(inputs, training=False).logits.numpy()


def train(strategy, kind):
    """Three updates; gives the task and what it holds, not merged."""
    name, path, ids, labels = TASKS[kind]
    settings = TrainerSettings(
        task=name,
        checkpoint_dir=path,
        checkpoint_hash="",
        code="",
        model=ModelSettings(checkpoint=path, max_source_tokens=32),
        train=TrainSettings(dropout=0.0, lora=Lora(rank=2)),
    )
    tf.keras.utils.set_random_seed(0)
    with strategy.scope():
        task = building.build(settings, LABEL_NAMES)
        adapters.prepare(task.model, settings.train)
        optimizer = Descent(0.1)
    if kind == "bert":
        head = task.model.classifier.kernel  # Alike, wherever it was made.
        head.assign(np.random.default_rng(0).normal(size=head.shape))
    dataset = tf.data.Dataset.from_tensors(
        {"input_ids": tf.constant(ids), "labels": tf.constant(labels)}
    )
    batches = strategy.experimental_distribute_dataset(dataset.unbatch().batch(2))
    trainer = Trainer(
        task=task,
        optimizer=optimizer,
        strategy=strategy,
        element_spec=batches.element_spec,
        clip_norm=1e9,
        xla=False,
    )
    for batch in list(batches) * 3:
        trainer.update([batch])
    return task, [v.numpy() for v in task.model.variables]


def export_alike(task) -> bool:
    export.save(task, EXPORT_DIR)
    text = tf.constant(["my card is late", "the fee was too high"])
    served = tf.saved_model.load(EXPORT_DIR).signatures["serving_default"](text)
    return bool(np.allclose(served["scores"], task.answer(text)["scores"], atol=1e-6))


def main():
    two = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    found = {}
    for kind in ("t5", "bert"):
        one, alone = train(tf.distribute.get_strategy(), kind)
        task, both = train(two, kind)
        ups = [v.numpy() for v in task.model.trainable_variables if "/up" in v.name]
        adapted = logits(task)
        with two.scope():
            adapters.finish(task.model)
        found[kind] = {
            "variables": [len(alone), len(both)],
            "adapters": max(float(np.abs(up).max()) for up in ups),
            "apart": max(
                float(np.abs(a - b).max()) for a, b in zip(alone, both, strict=True)
            ),
            "merged": float(np.abs(logits(task) - adapted).max()),
        }
    found["export"] = export_alike(task)
    json.dump(found, sys.stdout)


main()
