"""Rows as points: the mean of the encoder's last states."""

import numpy as np
import tensorflow as tf

from trainer_module.input import batching, records
from trainer_module.input.records import Rows
from trainer_module.monitoring.projector import Embedding
from trainer_module.tasks.base import Task

_BATCH_SIZE = 32


def embed(task: Task, rows: Rows, *, most: int) -> list[Embedding]:
    """Points for at most `most` rows and, of a classifier, for its labels.

    Args:
      task: on one device.
      rows: the eval split.
    """
    found = []
    labels = task.label_vectors()
    if labels is not None:
        found.append(Embedding("labels", labels, {"label": task.label_names}))
    if not most:
        return found
    numbers, points = vectors(task, rows, most=most)
    texts = task.read_inputs([rows.input_ids[n].numpy() for n in numbers])
    targets = [rows.targets[n].decode("utf-8") for n in numbers]
    columns = {"target": targets, "text": texts}
    return [*found, Embedding("sentences", points, columns)]


def vectors(task: Task, rows: Rows, *, most: int) -> tuple[np.ndarray, np.ndarray]:
    """What `task.embed` makes of at most `most` rows, spread over all of them.

    Args:
      task: on one device.

    Returns:
      (int [n], the numbers of the rows; float32 [n, width]).
    """
    plan = batching.plan_validation(
        rows.lengths,
        only=batching.spread(len(rows), most),
        batch_size=_BATCH_SIZE,
        max_width=task.max_width,
    )
    batches = records.batches(rows, plan, pad_id=task.pad_id)
    compute = tf.function(
        task.embed, input_signature=[batches.element_spec], autograph=False
    )
    points = np.concatenate([compute(batch).numpy() for batch in batches])
    present = plan.rows != batching.ABSENT
    return plan.rows[present], points[present]
