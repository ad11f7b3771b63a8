"""Copies of an exported model, one of them with a broken output layer.

The weights are exchanged in the files of the SavedModel, so that nothing else of it
changes. The identical copy is written in the same way: what the broken one does wrong
does not come from the copying.
"""

import os
import shutil

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import trackable_object_graph_pb2

from trainer_module.settings import Task

# The end of a weight's name -> the axis of the output units; the first that is there.
# A T5 whose output shares the weights of its embedding reads wrongly too.
_OUTPUTS: dict[Task, tuple[dict[str, int], ...]] = {
    "classification": ({"/classifier/kernel": 1, "/classifier/bias": 0},),
    "summarization": ({"/lm_head/kernel": 1}, {"/shared/embeddings": 0}),
}
_VARIABLES = "variables"


class Unusable(Exception):
    """The model cannot be copied and changed; the message says why."""


def copy(source: str, to: str, *, task: Task, shuffled: bool) -> None:
    """Copies a SavedModel.

    Args:
      source: its folder.
      to: a folder that does not exist yet.
      shuffled: whether each unit of the output layer gets the weights of another one.

    Raises:
      Unusable: if it cannot be read, the copy not written, or it has no weights by the
        names that exported models have.
    """
    try:
        _copy(source, to, task, shuffled)
    except (OSError, shutil.Error, tf.errors.OpError, ValueError) as error:
        raise Unusable(f"{str(error).strip().splitlines()[0]}.") from error


def _copy(source: str, to: str, task: Task, shuffled: bool) -> None:
    shutil.copytree(source, to)
    prefix = os.path.join(to, _VARIABLES, _VARIABLES)
    reader = tf.train.load_checkpoint(prefix)
    weights = {
        key: reader.get_tensor(key) for key in reader.get_variable_to_dtype_map()
    }
    for key, axis in _output_layer(weights, task).items():
        units = weights[key].shape[axis]
        # Half of them on: a label that is exchanged is far from where it was.
        by = max(1, units // 2) if shuffled else 0
        weights[key] = np.roll(weights[key], by, axis)
    shutil.rmtree(os.path.dirname(prefix))
    os.mkdir(os.path.dirname(prefix))
    keys = sorted(weights)
    tf.raw_ops.SaveV2(
        prefix=prefix,
        tensor_names=keys,
        shape_and_slices=[""] * len(keys),
        tensors=[weights[key] for key in keys],
    )


def _output_layer(weights: dict[str, np.ndarray], task: Task) -> dict[str, int]:
    """{key of the checkpoint: axis of the units}."""
    graph = trackable_object_graph_pb2.TrackableObjectGraph.FromString(
        weights["_CHECKPOINTABLE_OBJECT_GRAPH"]
    )
    named = {
        "/" + attribute.full_name: attribute.checkpoint_key
        for node in graph.nodes
        for attribute in node.attributes
        if attribute.checkpoint_key in weights
    }
    for ends in _OUTPUTS[task]:
        found = {
            key: axis
            for name, key in named.items()
            for end, axis in ends.items()
            if name.endswith(end)
        }
        if len(found) == len(ends):
            return found
    lacking = " or ".join("*" + end for ends in _OUTPUTS[task] for end in ends)
    raise Unusable(
        f"it has no weights {lacking}, which a model of {task} has that texttune "
        "exported."
    )
