"""Which weights learn: all of them, some of them, or low-rank adapters in their place.

The loop trains what is in `model.trainable_variables`, no more and no less. `prepare`
before it and `finish` after it, both in the strategy's scope, are all it has to call.
"""

import tf_keras

from trainer_module.adapters import freezing, lora
from trainer_module.settings import TrainSettings


def prepare(model: tf_keras.Model, settings: TrainSettings) -> None:
    """Freezes by `train.freeze`, then adds the adapters of `train.lora`.

    Frozen first: a layer that is frozen gets no adapter.

    Raises:
      Refusal: if the model cannot have the settings; nothing would learn, say.
    """
    freezing.freeze(model, settings.freeze)
    if settings.lora is not None:
        lora.apply(model, settings.lora, seed=settings.seed)


def finish(model: tf_keras.Model) -> None:
    """Leaves a plain model, ready to be exported; call it once the loop is over.

    It has the variables, names and order of one that never had adapters nor a frozen
    part: Keras lists what learns before what does not.
    """
    lora.merge(model)
    model.trainable = True


def describe(model: tf_keras.Model) -> dict[str, int]:
    """How many numbers the model holds, and how many of them learn.

    Returns:
      {"trainable_parameters", "parameters"}; the adapters, until they are merged, count
      in both.
    """
    return {
        "trainable_parameters": _count(model.trainable_variables),
        "parameters": _count(model.variables),
    }


def _count(variables) -> int:
    return sum(variable.shape.num_elements() for variable in variables)
