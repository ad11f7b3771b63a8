"""A BERT encoder with a head that gives a score for each class."""

import os

import numpy as np
import safetensors.numpy
import safetensors.tensorflow
import tensorflow as tf
import tf_keras
import transformers
from transformers.modeling_tf_outputs import TFSequenceClassifierOutput

from trainer_module import hugging_face, pretrained
from trainer_module.progress import Refusal
from trainer_module.settings import TrainerSettings
from trainer_module.warm_start import CLASSIFIER_FILE


def load(
    settings: TrainerSettings, names: list[str], warm_start_dir: str | None = None
) -> tf_keras.Model:
    """Loads the checkpoint with a new head, by `model.pooling`.

    `cls` is Hugging Face's own head, on the first token. `mean` averages the tokens,
    which is what sentence encoders such as MiniLM were trained for: it learns from
    far fewer examples there.

    Args:
      warm_start_dir: what `save` wrote, whose encoder and head are taken
        in place of the checkpoint's.

    Returns:
      A model: {"input_ids", "attention_mask"} int32 [batch, tokens] -> an output with
      `logits`, [batch, classes]; it has `config`.
    """
    options = {
        "num_labels": len(names),
        "id2label": dict(enumerate(names)),
        "label2id": {name: i for i, name in enumerate(names)},
        "hidden_dropout_prob": settings.train.dropout,
        "attention_probs_dropout_prob": settings.train.dropout,
    }
    if settings.model.pooling == "cls":
        whole = transformers.TFBertForSequenceClassification
        if warm_start_dir:
            return pretrained.load_exported(whole, warm_start_dir, **options)
        new_parts = ("classifier", "pooler")
        folder = settings.checkpoint_dir
        return pretrained.load(whole, folder, new_parts=new_parts, **options)
    options["add_pooling_layer"] = False
    if warm_start_dir:
        encoder = pretrained.load_exported(
            transformers.TFBertModel, warm_start_dir, **options
        )
    else:
        encoder = pretrained.load(
            transformers.TFBertModel, settings.checkpoint_dir, **options
        )
    model = MeanPooledClassifier(encoder)
    blank = tf.zeros([1, 2], tf.int32)
    model({"input_ids": blank, "attention_mask": blank + 1})  # Makes the variables.
    if warm_start_dir:
        model.load_head(warm_start_dir)
    return model


def save(model: tf_keras.Model, path: str) -> None:
    """Writes what `load` made, so that it can be loaded as a warm start."""
    if isinstance(model, MeanPooledClassifier):
        model.save_pretrained(path)
    else:
        hugging_face.save(model, path)


class MeanPooledClassifier(tf_keras.Model):
    """The mean of the encoder's last states over real tokens, and a linear layer."""

    def __init__(self, encoder: transformers.TFBertModel):
        super().__init__(name="mean_pooled_classifier")
        self.config = encoder.config
        self.encoder = encoder
        self.dropout = tf_keras.layers.Dropout(encoder.config.hidden_dropout_prob)
        self.classifier = tf_keras.layers.Dense(
            encoder.config.num_labels,
            kernel_initializer=tf_keras.initializers.TruncatedNormal(
                stddev=encoder.config.initializer_range
            ),
            dtype="float32",  # Scores of many classes differ by little.
            name="classifier",
        )

    def call(self, inputs, training=False):
        states = self.encoder(inputs, training=training).last_hidden_state
        real = tf.cast(inputs["attention_mask"], states.dtype)[:, :, None]
        # A row that is all padding has no token to divide by.
        count = tf.maximum(tf.reduce_sum(real, axis=1), 1)
        mean = tf.reduce_sum(states * real, axis=1) / count
        logits = self.classifier(self.dropout(mean, training=training))
        return TFSequenceClassifierOutput(logits=logits)

    def save_pretrained(self, path: str) -> None:
        """The encoder in Hugging Face's format, and the linear layer beside it."""
        hugging_face.save(self.encoder, path)
        kernel, bias = self.classifier.weights
        safetensors.tensorflow.save_file(
            {"weight": tf.transpose(kernel), "bias": tf.convert_to_tensor(bias)},
            os.path.join(path, CLASSIFIER_FILE),
        )

    def load_head(self, path: str) -> None:
        """Reads the linear layer that `save_pretrained` wrote.

        Raises:
          Refusal: if the file is not there, is damaged, or holds another layer.
        """
        file = os.path.join(path, CLASSIFIER_FILE)
        try:
            head = safetensors.numpy.load_file(file)
        except Exception as error:  # The library's errors have no common base.
            raise _other_head(f"{file} cannot be read: {error}") from error
        kernel, bias = self.classifier.weights
        want = {"weight": tuple(kernel.shape[::-1]), "bias": tuple(bias.shape)}
        found = {name: values.shape for name, values in head.items()}
        if found != want:
            raise _other_head(f"{file} holds {found}, and the model needs {want}")
        kernel.assign(np.transpose(head["weight"]))
        bias.assign(head["bias"])


def _other_head(reason: str) -> Refusal:
    return Refusal(
        f"train.warm_start: {reason}. To begin from model.checkpoint instead: "
        "`--set train.warm_start=never`."
    )
