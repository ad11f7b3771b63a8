"""Where Hugging Face's TF models keep their parts."""

import dataclasses

import tf_keras
import transformers

from trainer_module.tasks.classifiers import MeanPooledClassifier

Layer = tf_keras.layers.Layer


@dataclasses.dataclass(frozen=True)
class Stack:
    """An encoder or a decoder.

    Attributes:
      name: "encoder" or "decoder".
      whole: the Keras layer that holds all of it.
      layers: those that are counted, from the input. In T5 the first one owns the
        position bias that all of them use.
      end: what comes after the last layer: T5's final norm.
    """

    name: str
    whole: Layer
    layers: tuple[Layer, ...]
    end: tuple[Layer, ...] = ()


@dataclasses.dataclass(frozen=True)
class Anatomy:
    """The parts of a model that were pretrained; all other variables are a new head.

    Attributes:
      embeddings: of the input. T5 v1.0 reads its head from them too.
      stacks: the encoder, and a decoder if there is one.
      output: T5's pretrained head, where it has one of its own (v1.1, FLAN, mT5).
    """

    embeddings: Layer
    stacks: tuple[Stack, ...]
    output: tuple[Layer, ...] = ()


def of(model: tf_keras.Model) -> Anatomy:
    """The parts of a task's model.

    Raises:
      TypeError: for a model that no task makes.
    """
    if isinstance(model, transformers.TFT5ForConditionalGeneration):
        return Anatomy(
            embeddings=model.shared,
            stacks=(_t5(model.encoder, "encoder"), _t5(model.decoder, "decoder")),
            output=(model.lm_head,) if hasattr(model, "lm_head") else (),
        )
    if isinstance(model, MeanPooledClassifier):
        bert = model.encoder.bert
    elif isinstance(model, transformers.TFBertForSequenceClassification):
        bert = model.bert
    else:
        raise TypeError(f"No parts are known of a {type(model).__name__}.")
    encoder = Stack("encoder", bert.encoder, tuple(bert.encoder.layer))
    return Anatomy(embeddings=bert.embeddings, stacks=(encoder,))


def _t5(main: Layer, name: str) -> Stack:
    return Stack(name, main, tuple(main.block), (main.final_layer_norm,))
