"""Text to label with a BERT encoder."""

import os

import tensorflow as tf

from trainer_module import (
    features,
    losses,
    signatures,
    tokenization,
    warm_start,
)
from trainer_module.progress import Refusal
from trainer_module.scoring.labels import score_labels
from trainer_module.settings import TrainerSettings
from trainer_module.tasks import classifiers
from trainer_module.tasks.base import mean_of_real


class Classification:
    """A BERT encoder with a classification head; see `classifiers.load`.

    Args:
      settings: `task` must be classification; `checkpoint_dir` a BERT checkpoint.
      label_names_path: text file, one label name a line, in the order of class ids.
      warm_start_dir: an exported model whose weights are taken instead.
    """

    writes_text = False

    def __init__(
        self,
        settings: TrainerSettings,
        label_names_path: str,
        warm_start_dir: str | None = None,
    ):
        with tf.io.gfile.GFile(label_names_path, "rb") as f:
            # As bytes: in a str, splitlines() also ends a line inside some names.
            names = [name.decode("utf-8") for name in f.read().split(b"\n")[:-1]]
        self._tokenizer = tokenization.load(settings.checkpoint_dir, settings.model)
        self.pad_id = self._tokenizer.pad_id
        if warm_start_dir:
            warm_start.check(warm_start_dir, settings, names)
        self.model = classifiers.load(settings, names, warm_start_dir)
        self._refuse_more_tokens_than_positions(settings.model.max_source_tokens)
        self._vocabulary_path = os.path.join(settings.checkpoint_dir, "vocab.txt")
        self.label_names = names
        self._label_smoothing = settings.train.label_smoothing
        self._names = tf.lookup.StaticHashTable(
            tf.lookup.TextFileInitializer(
                label_names_path,
                tf.int64,
                tf.lookup.TextFileIndex.LINE_NUMBER,
                tf.string,
                tf.lookup.TextFileIndex.WHOLE_LINE,
            ),
            default_value="",
        )

    @property
    def max_width(self):
        return self.model.config.max_position_embeddings

    def loss_sums(self, batch, *, training):
        logits = self._logits(batch[features.INPUT_IDS], training=training)
        smoothing = self._label_smoothing if training else 0.0
        return losses.cross_entropy(logits, batch[features.LABELS], smoothing=smoothing)

    def evaluate(self, batch):
        logits = self._logits(batch[features.INPUT_IDS], training=False)
        sums = losses.cross_entropy(logits, batch[features.LABELS])
        return *sums, tf.argmax(logits, axis=1, output_type=tf.int32)[:, None]

    def write(self, batch):
        raise TypeError("A classifier writes no text; `evaluate` has its predictions.")

    def read_predictions(self, predictions):
        return [self.label_names[row[0]] for row in predictions]

    def read_inputs(self, input_ids):
        return self._tokenizer.read(input_ids)

    def metrics(self, targets, predictions):
        return score_labels(targets, predictions)

    def embed(self, batch):
        ids = batch[features.INPUT_IDS]
        mask = tf.cast(ids != self.pad_id, tf.int32)
        encoder = getattr(self.model, "encoder", None) or self.model.bert
        states = encoder({"input_ids": ids, "attention_mask": mask}).last_hidden_state
        return mean_of_real(states, mask)

    def label_vectors(self):
        return self.model.classifier.kernel.numpy().T

    def encode(self, text):
        return self._tokenizer.encode(text)

    def answer(self, text):
        ids = tf.cast(self.encode(text).to_tensor(self.pad_id), tf.int32)
        logits = tf.cast(self._logits(ids, training=False), tf.float32)
        scores = tf.nn.softmax(logits)
        best = tf.argmax(scores, axis=1)
        names = self._names.lookup(tf.range(len(self.label_names), dtype=tf.int64))
        return {
            signatures.LABEL: tf.gather(names, best),
            signatures.SCORE: tf.reduce_max(scores, axis=1),
            signatures.ALL_LABELS: tf.tile(names[None, :], [tf.shape(ids)[0], 1]),
            signatures.ALL_SCORES: scores,
        }

    def save_pretrained(self, path):
        classifiers.save(self.model, path)

    def serving_module(self):
        module = tf.Module(name="classification")
        module.variables_served = self.model.variables
        module.label_names = self._names
        module.tokenizer = self._tokenizer
        # The tokenizer keeps its vocabulary in the graph; the file goes with it, so
        # that a person can read which one it was.
        module.vocabulary = tf.saved_model.Asset(self._vocabulary_path)
        return module

    def _refuse_more_tokens_than_positions(self, max_tokens: int) -> None:
        """Beyond its positions BERT fails on a CPU, and reads zeros on a GPU."""
        if max_tokens > self.max_width:
            raise Refusal(
                f"model.max_source_tokens: {max_tokens} is more than the "
                f"{self.max_width} positions of the checkpoint. Lower it: `--set "
                f"model.max_source_tokens={self.max_width}`, or take another "
                "checkpoint."
            )

    def _logits(self, ids: tf.Tensor, *, training: bool) -> tf.Tensor:
        mask = tf.cast(ids != self.pad_id, tf.int32)
        return self.model(
            {"input_ids": ids, "attention_mask": mask}, training=training
        ).logits
