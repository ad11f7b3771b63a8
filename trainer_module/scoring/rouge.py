"""ROUGE of a text against its references (C.-Y. Lin, 2004), as rouge-score gives it.

Stems are kept, a text is tokenised once for all types, and common subsequences are
found by columns; the values stay those of rouge-score to the last digit that counts.
Tokens are `tokens.tokenize`'s: Porter stems of Latin words, and words or characters of
other scripts. The sentences of ROUGE-Lsum end with a line or a final mark.
"""

import functools
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import chain, pairwise
from typing import NamedTuple

from trainer_module.scoring import lcs, tokens


class Score(NamedTuple):
    """Each in [0, 1]; all 0 if one of the texts has no token."""

    precision: float
    recall: float
    f1: float


def scores(references: Iterable[str], prediction: str) -> dict[str, Score]:
    """Each of `TYPES` against the reference whose F1 is the best.

    Args:
      references: one or more texts.
      prediction: the model's text.
    """
    predicted = _Text(prediction)
    texts = [_Text(reference) for reference in references]
    if not texts:
        raise ValueError("`references` must hold one text or more. Received none.")
    return {
        name: max((score(text, predicted) for text in texts), key=lambda s: s.f1)
        for name, score in TYPES.items()
    }


class _Text:
    """A text in the parts that several types need, each made once."""

    def __init__(self, text: str):
        self.sentences = [tokens.tokenize(part) for part in tokens.sentences(text)]
        self.tokens = list(chain.from_iterable(self.sentences))

    @functools.cached_property
    def words(self) -> Counter[str]:
        return Counter(self.tokens)

    @functools.cached_property
    def pairs(self) -> Counter[tuple[str, str]]:
        return Counter(pairwise(self.tokens))


def _rouge_1(reference: _Text, predicted: _Text) -> Score:
    return _of_counts(reference.words, predicted.words)


def _rouge_2(reference: _Text, predicted: _Text) -> Score:
    return _of_counts(reference.pairs, predicted.pairs)


def _rouge_l(reference: _Text, predicted: _Text) -> Score:
    hits = lcs.length(reference.tokens, predicted.tokens)
    return _score(hits, len(reference.tokens), len(predicted.tokens))


def _rouge_lsum(reference: _Text, predicted: _Text) -> Score:
    """Hits are the union, over the predicted sentences, of what each shares with a
    sentence of the reference; no token counts more often than both texts have it."""
    left_of_reference, left_of_predicted = (
        Counter(reference.words),
        Counter(predicted.words),
    )
    hits = 0
    for sentence in reference.sentences:
        shared = {i for s in predicted.sentences for i in lcs.positions(sentence, s)}
        for token in (sentence[i] for i in sorted(shared)):
            if left_of_reference[token] > 0 and left_of_predicted[token] > 0:
                left_of_reference[token] -= 1
                left_of_predicted[token] -= 1
                hits += 1
    return _score(hits, len(reference.tokens), len(predicted.tokens))


def _of_counts(reference: Counter, predicted: Counter) -> Score:
    hits = sum(min(n, predicted[gram]) for gram, n in reference.items())
    return _score(hits, reference.total(), predicted.total())


def _score(hits: int, of_reference: int, of_predicted: int) -> Score:
    if not hits:
        return Score(0.0, 0.0, 0.0)
    precision, recall = hits / of_predicted, hits / of_reference
    return Score(precision, recall, 2 * precision * recall / (precision + recall))


TYPES: dict[str, Callable[[_Text, _Text], Score]] = {
    "rouge_l": _rouge_l,
    "rouge1": _rouge_1,
    "rouge2": _rouge_2,
    "rouge_lsum": _rouge_lsum,
}
