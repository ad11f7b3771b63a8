"""Text to text with T5."""

import tensorflow as tf
import transformers

from trainer_module import (
    features,
    hugging_face,
    losses,
    pretrained,
    signatures,
    tokenization,
    warm_start,
)
from trainer_module.scoring.texts import score_texts
from trainer_module.settings import TrainerSettings
from trainer_module.tasks.base import mean_of_real


class Summarization:
    """T5 with its language-model head, decoding greedily.

    Args:
      settings: `task` must be summarization; `checkpoint_dir` a T5 checkpoint.
      warm_start_dir: an exported model whose weights are taken instead.
    """

    writes_text = True
    max_width = None  # Its positions are relative.

    def __init__(self, settings: TrainerSettings, warm_start_dir: str | None = None):
        self._tokenizer = tokenization.load(settings.checkpoint_dir, settings.model)
        self.pad_id = self._tokenizer.pad_id
        self._max_target_tokens = settings.model.max_target_tokens
        self._label_smoothing = settings.train.label_smoothing
        t5 = transformers.TFT5ForConditionalGeneration
        dropout = settings.train.dropout
        if warm_start_dir:
            warm_start.check(warm_start_dir, settings)
            self.model = pretrained.load_exported(
                t5, warm_start_dir, dropout_rate=dropout
            )
        else:
            self.model = pretrained.load(
                t5, settings.checkpoint_dir, dropout_rate=dropout
            )

    def loss_sums(self, batch, *, training):
        ids, labels = batch[features.INPUT_IDS], batch[features.LABELS]
        # The decoder sees the target one step late, from the start token (the pad).
        known = tf.where(labels == losses.IGNORED, self.pad_id, labels)
        start = tf.fill([tf.shape(known)[0], 1], self.pad_id)
        seen = tf.concat([start, known[:, :-1]], axis=1)
        logits = self._logits(ids, seen, training=training)
        smoothing = self._label_smoothing if training else 0.0
        return losses.cross_entropy(logits, labels, smoothing=smoothing)

    def evaluate(self, batch):
        rows = tf.shape(batch[features.INPUT_IDS])[0]
        return *self.loss_sums(batch, training=False), tf.zeros([rows, 0], tf.int32)

    def write(self, batch):
        written = self._generate(batch[features.INPUT_IDS])
        # Generating ends with the longest row of a batch.
        missing = self._max_target_tokens + 1 - tf.shape(written)[1]
        padding = [[0, 0], [0, missing]]
        return tf.pad(written, padding, constant_values=self.pad_id)

    def read_predictions(self, predictions):
        texts = self._tokenizer.decode(tf.constant(predictions, tf.int32))
        return [text.decode("utf-8", "replace") for text in texts.numpy()]

    def read_inputs(self, input_ids):
        return self._tokenizer.read(input_ids)

    def metrics(self, targets, predictions):
        return score_texts(targets, predictions)

    def embed(self, batch):
        ids = batch[features.INPUT_IDS]
        mask = tf.cast(ids != self.pad_id, tf.int32)
        states = self.model.encoder(ids, attention_mask=mask).last_hidden_state
        return mean_of_real(states, mask)

    def label_vectors(self):
        return None

    def encode(self, text):
        return self._tokenizer.encode(text)

    def answer(self, text):
        ids = tf.cast(self.encode(text).to_tensor(self.pad_id), tf.int32)
        return {signatures.OUTPUT_TEXT: self._tokenizer.decode(self._generate(ids))}

    def _logits(self, ids: tf.Tensor, seen: tf.Tensor, *, training: bool) -> tf.Tensor:
        """Float [rows, target tokens, vocabulary], as the model's own call gives them.

        The model multiplies each row with the vocabulary by itself, so that its
        gradient is as many matrices of the vocabulary's size as there are rows: for
        T5-small a tenth of a step. Here it is one product.
        """
        model, mask = self.model, tf.cast(ids != self.pad_id, tf.int32)
        read = model.encoder(ids, attention_mask=mask, training=training)
        states = model.decoder(
            seen,
            encoder_hidden_states=read.last_hidden_state,
            encoder_attention_mask=mask,
            use_cache=False,
            training=training,
        ).last_hidden_state
        if not model.config.tie_word_embeddings:
            return model.lm_head(states)
        words = tf.cast(model.shared.embeddings, states.dtype)
        scaled = tf.reshape(states * model.model_dim**-0.5, [-1, words.shape[1]])
        product = tf.matmul(scaled, words, transpose_b=True)
        return tf.reshape(product, [*tf.unstack(tf.shape(seen)), words.shape[0]])

    def _generate(self, ids: tf.Tensor) -> tf.Tensor:
        """Greedy decoding: int32 [rows, tokens] -> int32 [rows, written].

        One place for serving and validation, so that their limits are the same. Each
        row starts with the start token, which is the pad.
        """
        out = self.model.generate(
            input_ids=ids,
            attention_mask=tf.cast(ids != self.pad_id, tf.int32),
            max_new_tokens=self._max_target_tokens,
            num_beams=1,
            do_sample=False,
        )
        return tf.cast(out, tf.int32)

    def save_pretrained(self, path):
        hugging_face.save(self.model, path)

    def serving_module(self):
        module = tf.Module(name="summarization")
        module.variables_served = self.model.variables
        module.tokenizer = self._tokenizer
        return module
