"""Text to ids and back, as TensorFlow ops: the same code in Transform and in serving.

The rules live here alone: the prefix is added once, the end is what is cut off, and
the last id of a row is always the end token.
"""

import functools
import json
import os
from collections.abc import Sequence
from typing import Protocol

import numpy as np
import tensorflow as tf
import tensorflow_text as tf_text
from tensorflow_text.core.pybinds import (
    pywrap_fast_bert_normalizer_model_builder as normalizer_builder,
)
from tensorflow_text.core.pybinds import (
    pywrap_fast_wordpiece_tokenizer_model_builder as word_builder,
)

from trainer_module.settings import ModelSettings

# (tokens, unknown tokens among them) of each row; int64 [batch] each.
Counts = tuple[tf.Tensor, tf.Tensor]


class Tokenizer(Protocol):
    """Turns text into ids inside a graph."""

    pad_id: int

    def encode(self, text: tf.Tensor) -> tf.RaggedTensor:
        """string [batch] -> int64 [batch, (tokens)], at most `max_source_tokens`."""

    def encode_target(self, text: tf.Tensor) -> tf.RaggedTensor:
        """string [batch] -> int64 [batch, (tokens)], at most `max_target_tokens`."""

    def count(self, text: tf.Tensor) -> Counts:
        """Of what `encode` would give if it cut nothing off."""

    def count_target(self, text: tf.Tensor) -> Counts:
        """Of what `encode_target` would give if it cut nothing off."""

    def unknown_pieces(self, text: tf.Tensor) -> tf.Tensor:
        """string [batch] -> string [unknowns]: what the unknown tokens stand for."""

    def read(self, rows: Sequence[np.ndarray]) -> list[str]:
        """Ids of each row, without padding -> about the text that they came from."""


class BertTokenizer(tf.Module):
    """WordPiece with [CLS] and [SEP], from a checkpoint's vocab.txt."""

    def __init__(self, checkpoint_dir: str, settings: ModelSettings):
        super().__init__(name="bert_tokenizer")
        with tf.io.gfile.GFile(os.path.join(checkpoint_dir, "vocab.txt"), "rb") as f:
            # As bytes: in a str, splitlines() also ends a line inside some tokens.
            vocabulary = [line.decode("utf-8") for line in f.read().splitlines()]
        position = {token: i for i, token in enumerate(vocabulary)}
        self.pad_id = position["[PAD]"]
        self._cls, self._sep = position["[CLS]"], position["[SEP]"]
        self._unk = position["[UNK]"]
        self._max_tokens = settings.max_source_tokens
        words, normalizer = _bert_models(
            tuple(vocabulary), _lower_cases(checkpoint_dir)
        )
        self._pieces = vocabulary
        self._tokenizer = tf_text.FastBertTokenizer(
            token_out_type=tf.int64,
            fast_wordpiece_model_buffer=tf.constant(words),
            fast_bert_normalizer_model_buffer=tf.constant(normalizer),
        )

    def encode(self, text: tf.Tensor) -> tf.RaggedTensor:
        words = self._tokenizer.tokenize(text)[:, : self._max_tokens - 2]
        rows = words.nrows()
        return tf.concat(
            [_column(self._cls, rows), words, _column(self._sep, rows)], axis=1
        )

    def encode_target(self, text: tf.Tensor) -> tf.RaggedTensor:
        raise TypeError("A BERT model writes no text; its targets are class ids.")

    def count(self, text: tf.Tensor) -> Counts:
        return _counts(self._tokenizer.tokenize(text), self._unk, special=2)

    def count_target(self, text: tf.Tensor) -> Counts:
        raise TypeError("A BERT model writes no text; its targets are class ids.")

    def unknown_pieces(self, text: tf.Tensor) -> tf.Tensor:
        return _pieces(text, *self._tokenizer.tokenize_with_offsets(text), self._unk)

    def read(self, rows: Sequence[np.ndarray]) -> list[str]:
        special = (self.pad_id, self._cls, self._sep)
        words = (
            " ".join(self._pieces[i] for i in row if i not in special) for row in rows
        )
        return [text.replace(" ##", "") for text in words]


class T5Tokenizer(tf.Module):
    """SentencePiece with a final </s>, from a checkpoint's spiece.model."""

    pad_id = 0
    eos_id = 1
    unk_id = 2

    def __init__(self, checkpoint_dir: str, settings: ModelSettings):
        super().__init__(name="t5_tokenizer")
        with tf.io.gfile.GFile(os.path.join(checkpoint_dir, "spiece.model"), "rb") as f:
            self._tokenizer = tf_text.SentencepieceTokenizer(
                f.read(), out_type=tf.int32
            )
        self._prefix = settings.prefix
        self._max_source_tokens = settings.max_source_tokens
        self._max_target_tokens = settings.max_target_tokens

    def encode(self, text: tf.Tensor) -> tf.RaggedTensor:
        return self._with_end(self._prefixed(text), self._max_source_tokens)

    def encode_target(self, text: tf.Tensor) -> tf.RaggedTensor:
        return self._with_end(text, self._max_target_tokens)

    def count(self, text: tf.Tensor) -> Counts:
        return self.count_target(self._prefixed(text))

    def count_target(self, text: tf.Tensor) -> Counts:
        return _counts(self._tokenizer.tokenize(text), self.unk_id, special=1)

    def unknown_pieces(self, text: tf.Tensor) -> tf.Tensor:
        found = self._tokenizer.tokenize_with_offsets(text)
        return _pieces(text, *found, self.unk_id)

    def decode(self, ids: tf.Tensor) -> tf.Tensor:
        """int32 [batch, tokens], padded after </s> -> string [batch]."""
        ends = tf.cumsum(tf.cast(ids == self.eos_id, tf.int32), axis=1)
        # Ids beyond the SentencePiece model are sentinels: no text of their own.
        known = ids < self._tokenizer.vocab_size()
        keep = (ends == 0) & (ids != self.pad_id) & (ids != self.unk_id) & known
        return self._tokenizer.detokenize(tf.ragged.boolean_mask(ids, keep))

    def read(self, rows: Sequence[np.ndarray]) -> list[str]:
        ids = tf.ragged.constant([list(row) for row in rows], tf.int32, ragged_rank=1)
        texts = self.decode(ids.to_tensor(self.pad_id)).numpy()
        return [text.decode("utf-8", "replace") for text in texts]

    def _prefixed(self, text: tf.Tensor) -> tf.Tensor:
        if not self._prefix:
            return text
        size = len(self._prefix.encode("utf-8"))
        there = tf.strings.substr(text, 0, size) == self._prefix
        return tf.where(there, text, tf.strings.join([self._prefix, text]))

    def _with_end(self, text: tf.Tensor, max_tokens: int) -> tf.RaggedTensor:
        # Cut first: the tokenizer's own end token would be what a cut removes.
        words = tf.cast(self._tokenizer.tokenize(text)[:, : max_tokens - 1], tf.int64)
        return tf.concat([words, _column(self.eos_id, words.nrows())], axis=1)


def load(checkpoint_dir: str, settings: ModelSettings) -> BertTokenizer | T5Tokenizer:
    """Builds the tokenizer of the checkpoint, by its vocabulary file."""
    if tf.io.gfile.exists(os.path.join(checkpoint_dir, "spiece.model")):
        return T5Tokenizer(checkpoint_dir, settings)
    return BertTokenizer(checkpoint_dir, settings)


@functools.lru_cache(maxsize=4)
def _bert_models(
    vocabulary: tuple[str, ...], lower_case: bool
) -> tuple[np.ndarray, np.ndarray]:
    """FastBertTokenizer's two models, uint8 each.

    It would build them itself, but turns megabytes into a Python list on the way,
    seconds each time, and Transform traces a tokenizer eight times.
    """
    words = word_builder.build_fast_wordpiece_model(
        list(vocabulary), 100, "##", "[UNK]", False, False
    )
    normalizer = normalizer_builder.build_fast_bert_normalizer_model(lower_case)
    return np.frombuffer(words, np.uint8), np.frombuffer(normalizer, np.uint8)


def _counts(words: tf.RaggedTensor, unk_id: int, *, special: int) -> Counts:
    unknown = tf.cast(words == unk_id, tf.int64)
    return words.row_lengths() + special, tf.reduce_sum(unknown, axis=1)


def _pieces(
    text: tf.Tensor,
    words: tf.RaggedTensor,
    starts: tf.RaggedTensor,
    ends: tf.RaggedTensor,
    unk_id: int,
) -> tf.Tensor:
    """The bytes of `text` where a word is unknown: string [unknowns]."""
    unknown = words.flat_values == unk_id
    texts = tf.gather(text, words.value_rowids())
    pieces = tf.strings.substr(
        texts, starts.flat_values, ends.flat_values - starts.flat_values
    )
    return tf.boolean_mask(pieces, unknown)


def _column(token_id: int, rows: tf.Tensor) -> tf.RaggedTensor:
    column = tf.fill([rows, 1], tf.constant(token_id, tf.int64))
    return tf.RaggedTensor.from_tensor(column)


def _lower_cases(checkpoint_dir: str) -> bool:
    path = os.path.join(checkpoint_dir, "tokenizer_config.json")
    if not tf.io.gfile.exists(path):
        return True
    with tf.io.gfile.GFile(path, "r") as f:
        return bool(json.load(f).get("do_lower_case", True))
