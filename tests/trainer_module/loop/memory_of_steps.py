"""Predicts the memory of a large batch from small ones, then takes the large one.

Run by test_memory_probe in processes of their own, whose heap nobody else has used.
Arguments: the task, the checkpoint's folder, the file of label names, rows, widths.
"""

import json
import sys

import tensorflow as tf

from trainer_module.loop import memory, memory_probe
from trainer_module.loop.dropout import Masks
from trainer_module.loop.memory import Batch, Shape
from trainer_module.settings import ModelSettings, TrainerSettings, TrainSettings
from trainer_module.tasks import building

KIND, PATH, LABEL_NAMES, ROWS = *sys.argv[1:4], int(sys.argv[4])
WIDTHS = tuple(int(width) for width in sys.argv[5:])
TRAIN = TrainSettings(batch_size=ROWS)
task = building.build(
    TrainerSettings(
        task=KIND,
        checkpoint_dir=PATH,
        checkpoint_hash="",
        code="",
        model=ModelSettings(checkpoint=PATH, pooling="mean"),
        train=TRAIN,
    ),
    LABEL_NAMES,
)
masks = Masks(task.model, seed=0)
variables = task.model.trainable_variables


@tf.function(autograph=False, reduce_retracing=True)
def gradients(ids, labels):
    with tf.GradientTape() as tape, masks.at(0, 0, 0):
        loss, _ = task.loss_sums({"input_ids": ids, "labels": labels}, training=True)
    found = tape.gradient(loss, variables)
    return [tf.convert_to_tensor(g) for g in found if g is not None]


def run(rows, widths):
    labels = tf.ones([rows, *widths[1:]], tf.int32)
    gradients(tf.fill([rows, widths[0]], 5), labels)


for rows, widths in ((1, WIDTHS), (2, [width + 1 for width in WIDTHS])):
    run(rows, widths)  # Traces the step for any shape.
batch = Batch(ROWS, WIDTHS, TRAIN)
before = [variable.numpy() for variable in task.model.variables]
found = memory_probe.measure(run, batch, limit_bytes=2**40)
same = all(
    (variable.numpy() == old).all()
    for variable, old in zip(task.model.variables, before, strict=True)
)
del before
memory_probe._give_back()
held = memory_probe._status_bytes("VmRSS") - found.kept_bytes
with memory_probe._peak() as peak:
    run(ROWS, WIDTHS)
shape = Shape.of(task.model.config, task.model.count_params())
json.dump(
    {
        "points": found.points,
        "predicted": memory.fit(found.points).at(ROWS),
        "kept": found.kept_bytes,
        "measured": peak[0] - held,
        "bound": memory.bound_bytes(shape, ROWS, WIDTHS),
        "same_weights": same,
    },
    sys.stdout,
)
