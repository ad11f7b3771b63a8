"""Token counts of any number of texts, by the tokenizer that the model learns with."""

import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import tensorflow as tf

from components.data_gate.texts.text_statistics import CountTokens, TokenCounts
from trainer_module import features, tokenization
from trainer_module.settings import ModelSettings

_BATCH_ROWS = 1000  # Bounds the memory: tokens of one batch exist at a time.
_ROWS_FOR_PIECES = 1000


def counter(checkpoint_dir: str, model: ModelSettings) -> CountTokens:
    """Loads the tokenizer once; a million rows of 200 characters take 15 seconds."""
    tokenizer = tokenization.load(checkpoint_dir, model)
    text = [tf.TensorSpec([None], tf.string)]
    of_feature = {
        features.TEXT: tokenizer.count,
        features.TARGET: tokenizer.count_target,
    }
    graphs = {name: tf.function(of, text) for name, of in of_feature.items()}

    def count_tokens(feature: str, texts: Sequence[str]) -> TokenCounts:
        found = [graphs[feature](batch) for batch in _batches(texts)]
        lengths = _joined([lengths.numpy() for lengths, _ in found])
        unknowns = _joined([unknowns.numpy() for _, unknowns in found])
        rows = np.flatnonzero(unknowns)[:_ROWS_FOR_PIECES]
        pieces = tokenizer.unknown_pieces(
            tf.constant([texts[i] for i in rows], tf.string)
        )
        named = (piece.decode("utf-8", "replace") for piece in pieces.numpy())
        return TokenCounts(lengths, unknowns, Counter(named))

    return count_tokens


def max_positions(checkpoint_dir: str) -> int | None:
    """How many tokens the checkpoint reads at most; None if any number, as T5 does."""
    with tf.io.gfile.GFile(os.path.join(checkpoint_dir, "config.json")) as file:
        config = json.load(file)
    positions = config.get("max_position_embeddings")
    return positions if isinstance(positions, int) else None


def _batches(texts: Sequence[str]) -> Iterator[tf.Tensor]:
    for start in range(0, len(texts), _BATCH_ROWS):
        yield tf.constant(texts[start : start + _BATCH_ROWS])


def _joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)
