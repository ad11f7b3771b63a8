"""A model -> a folder that `transformers` reads, under PyTorch and under TensorFlow.

TensorFlow's own `save_pretrained` names the weights as TensorFlow does, and PyTorch
reads such a file only where TensorFlow is installed too. The names and layouts of
PyTorch are read by both, and by everything else that reads safetensors.
"""

import os

import numpy as np
import safetensors.numpy
import transformers
from transformers import modeling_tf_pytorch_utils as naming

WEIGHTS = "model.safetensors"


def save(model: transformers.TFPreTrainedModel, path: str) -> None:
    """Writes config.json, generation_config.json where there is one, and the weights.

    Args:
      model: built in its name scope, as `from_pretrained` does.
      path: a folder on this machine, made if need be.

    Raises:
      ValueError: if two weights would have one name.
    """
    os.makedirs(path, exist_ok=True)
    model.config.architectures = [type(model).__name__.removeprefix("TF")]
    model.config.save_pretrained(path)
    if model.can_generate():
        model.generation_config.save_pretrained(path)
    weights: dict[str, np.ndarray] = {}
    for variable in model.variables:
        name, value = in_pytorch(variable.name, variable.numpy())
        if name in weights:
            raise ValueError(f"Two weights of {type(model).__name__} are named {name}.")
        weights[name] = value
    safetensors.numpy.save_file(
        weights, os.path.join(path, WEIGHTS), metadata={"format": "pt"}
    )


def in_pytorch(name: str, value: np.ndarray) -> tuple[str, np.ndarray]:
    """A TensorFlow weight under the name and in the layout of PyTorch."""
    name, transpose = naming.convert_tf_weight_name_to_pt_weight_name(
        name, tf_weight_shape=value.shape
    )
    value = naming.apply_transpose(transpose, value, pt_to_tf=False)
    return name, np.ascontiguousarray(value)
