"""A trained model's rows of the eval split as points, for TensorBoard's projector."""

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
    only = batching.spread(len(rows), most)
    plan = batching.plan_validation(
        rows.lengths, only=only, batch_size=_BATCH_SIZE, max_width=task.max_width
    )
    batches = records.batches(rows, plan, pad_id=task.pad_id)
    compute = tf.function(
        task.embed, input_signature=[batches.element_spec], autograph=False
    )
    vectors = np.concatenate([compute(batch).numpy() for batch in batches])
    numbers = plan.rows[plan.rows != batching.ABSENT]
    texts = task.read_inputs([rows.input_ids[n].numpy() for n in numbers])
    targets = [rows.targets[n].decode("utf-8") for n in numbers]
    columns = {"target": targets, "text": texts}
    points = vectors[plan.rows != batching.ABSENT]
    return [*found, Embedding("sentences", points, columns)]
