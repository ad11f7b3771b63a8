"""Weights that stay as they were pretrained."""

import tf_keras

from trainer_module.adapters import anatomy
from trainer_module.progress import Refusal
from trainer_module.settings import Freeze


def freeze(model: tf_keras.Model, settings: Freeze) -> None:
    """Takes the weights of the named parts out of `model.trainable_variables`.

    `embeddings` are BERT's words, positions, token types and their norm; in T5 the one
    matrix of pieces. T5 v1.0 reads its answers from the same matrix, so its head is
    frozen with it; T5 v1.1, FLAN-T5 and mT5 have a head of their own, which learns.

    Layers are counted from the input. A decoder layer goes with its attention to the
    encoder. T5's first layer holds the position bias that all of its stack use, and a
    stack frozen to its last layer takes its final norm along.

    Dropout goes on in frozen layers: the layers above them learn from the same noise
    as without freezing. `train.dropout=0` turns it off in all of the model.

    Raises:
      Refusal: if there are fewer layers, or nothing would be left to learn.
    """
    parts = anatomy.of(model)
    for stack in parts.stacks:
        _freeze_layers(stack, getattr(settings, f"{stack.name}_layers"))
    if settings.decoder_layers and len(parts.stacks) == 1:
        raise _too_many("decoder", settings.decoder_layers, 0)
    if settings.embeddings:
        parts.embeddings.trainable = False
    if not model.trainable_variables:
        raise Refusal(
            "train.freeze: everything is frozen, so nothing would be learned: "
            f"{settings.model_dump()}, in a model whose head is its embeddings. "
            "Set `--set train.freeze.embeddings=false`, or freeze fewer layers."
        )


def _freeze_layers(stack: anatomy.Stack, count: int) -> None:
    if count > len(stack.layers):
        raise _too_many(stack.name, count, len(stack.layers))
    for layer in stack.layers[:count]:
        layer.trainable = False
    if count == len(stack.layers):
        for layer in stack.end:
            layer.trainable = False


def _too_many(name: str, count: int, layers: int) -> Refusal:
    return Refusal(
        f"train.freeze.{name}_layers: {count} layers are to be frozen, and the {name} "
        f"of the checkpoint has {layers}. Allowed: 0 to {layers}. "
        f"Set `--set train.freeze.{name}_layers={layers}` or less."
    )
