"""What the checkpoint makes of the eval split before any training.

The Evaluator holds the trained model against it: what is no better need not be served.
Of a classifier that is a linear probe of the encoder's vectors, since a head of random
numbers would be no rival.
"""

import json
import os
from typing import Any

import numpy as np
import tensorflow as tf

from trainer_module import embedding, linear_probe, signatures
from trainer_module.input import batching, records
from trainer_module.input.records import Rows
from trainer_module.loop import precision
from trainer_module.progress import Refusal
from trainer_module.settings import TrainerSettings
from trainer_module.tasks import building
from trainer_module.tasks.base import Task

_BATCH_SIZE = 32


def write(
    settings: TrainerSettings,
    train: Rows,
    held_out: Rows,
    *,
    label_names_path: str | None,
    folder: str,
) -> None:
    """Asks the untuned checkpoint about `held_out`; see `signatures.UNTUNED_FILE`."""
    with precision.policy("float32"):
        task = building.build(settings, label_names_path)
    try:
        told = (
            _texts(task, held_out)
            if task.writes_text
            else _labels(task, train, held_out)
        )
    except Refusal as refusal:
        told = {"refused": str(refusal)}
    else:
        told["example_ids"] = [i.decode("utf-8") for i in held_out.example_ids]
    with tf.io.gfile.GFile(os.path.join(folder, signatures.UNTUNED_FILE), "w") as file:
        file.write(json.dumps(told))


def _labels(task: Task, train: Rows, held_out: Rows) -> dict[str, Any]:
    names = list(task.label_names)
    kernel, bias = linear_probe.fit(task, train, classes=len(names))
    numbers, points = embedding.vectors(task, held_out, most=len(held_out))
    points = points[np.argsort(numbers)]
    scores = tf.nn.softmax(points @ kernel + bias).numpy()
    best = scores.argmax(axis=1)
    return {
        "names": names,
        "scores": scores.tolist(),
        "predictions": [names[number] for number in best],
    }


def _texts(task: Task, rows: Rows) -> dict[str, Any]:
    plan = batching.plan_validation(
        rows.lengths, batch_size=_BATCH_SIZE, max_width=task.max_width
    )
    batches = records.batches(rows, plan, pad_id=task.pad_id)
    compute = tf.function(
        task.write, input_signature=[batches.element_spec], autograph=False
    )
    written = np.concatenate([compute(batch).numpy() for batch in batches])
    present = plan.rows != batching.ABSENT
    in_order = np.argsort(plan.rows[present], kind="stable")
    texts = task.read_predictions(written[present][in_order])
    return {"names": [], "scores": [], "predictions": texts}
