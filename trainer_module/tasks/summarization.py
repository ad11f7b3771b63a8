"""Text to text with T5."""

import tensorflow as tf
import transformers

from trainer_module import features, losses, pretrained, signatures, tokenization
from trainer_module.settings import TrainerSettings


class Summarization:
    """T5 with its language-model head, decoding greedily.

    Args:
      settings: `task` must be summarization; `checkpoint_dir` a T5 checkpoint.
    """

    def __init__(self, settings: TrainerSettings):
        self._tokenizer = tokenization.load(settings.checkpoint_dir, settings.model)
        self.pad_id = self._tokenizer.pad_id
        self._max_target_tokens = settings.model.max_target_tokens
        self.model = pretrained.load(
            transformers.TFT5ForConditionalGeneration,
            settings.checkpoint_dir,
            dropout_rate=settings.train.dropout,
        )

    def loss_sums(self, batch, *, training):
        ids, labels = batch[features.INPUT_IDS], batch[features.LABELS]
        # The decoder sees the target one step late, from the start token (the pad).
        known = tf.where(labels == losses.IGNORED, self.pad_id, labels)
        start = tf.fill([tf.shape(known)[0], 1], self.pad_id)
        logits = self.model(
            {
                "input_ids": ids,
                "attention_mask": tf.cast(ids != self.pad_id, tf.int32),
                "decoder_input_ids": tf.concat([start, known[:, :-1]], axis=1),
            },
            training=training,
            use_cache=False,
        ).logits
        return losses.cross_entropy(logits, labels)

    def encode(self, text):
        return self._tokenizer.encode(text)

    def answer(self, text):
        ids = tf.cast(self.encode(text).to_tensor(self.pad_id), tf.int32)
        out = self.model.generate(
            input_ids=ids,
            attention_mask=tf.cast(ids != self.pad_id, tf.int32),
            max_new_tokens=self._max_target_tokens,
            num_beams=1,
            do_sample=False,
        )
        # generate() starts every row with the start token, which is the pad.
        return {signatures.OUTPUT_TEXT: self._tokenizer.decode(tf.cast(out, tf.int32))}

    def serving_module(self):
        module = tf.Module(name="summarization")
        module.variables_served = self.model.variables
        module.tokenizer = self._tokenizer
        return module
