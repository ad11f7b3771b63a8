"""Scores of texts and labels. Pure: strings in, numbers out; no TensorFlow.

One implementation for the Evaluator and for everything else that scores, so that the
numbers cannot drift apart.
"""

import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import Any

from rouge_score import rouge_scorer
from rouge_score import tokenize as rouge_tokenize

from trainer_module.features import REFERENCE_SEPARATOR

ROUGE_TYPES = {
    "rouge1": "rouge1",
    "rouge2": "rouge2",
    "rouge_l": "rougeL",
    "rouge_lsum": "rougeLsum",
}

# Scripts that put no space between words: each character is a token of its own.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff"
)
# Scripts with spaces that are not Latin: Greek, Cyrillic, Arabic, Hindi, Korean, ...
_SPACED = (
    "\u0370-\u0dff\u0f00-\u0fff\u10a0-\u177f\u1800-\u1cff\u1f00-\u1fff"
    "\u2c00-\u2c5f\u2c80-\u2dff\ua640-\ua69f\uac00-\ud7ff\ufb13-\ufdff"
    "\ufe70-\ufefc"
)
_NOT_LATIN = re.compile(f"[{_UNSPACED}]|[{_SPACED}]+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")


class ScriptTokenizer:
    """rouge-score's tokenizer, and tokens for the scripts that it drops.

    On text in Latin letters it gives exactly rouge-score's tokens (lower case,
    Porter stems). Of other scripts a token is a word in lower case, or a character
    where words are not parted by spaces; rouge-score itself drops them all, and so
    gives two identical Chinese or Russian texts a score of 0.
    """

    def tokenize(self, text: str) -> list[str]:
        tokens: list[str] = []
        last = 0
        for match in _NOT_LATIN.finditer(text):
            tokens += _latin_tokens(text[last : match.start()])
            tokens += _other_tokens(match.group())
            last = match.end()
        return tokens + _latin_tokens(text[last:])


@functools.lru_cache(maxsize=1)
def _stemmer() -> Any:
    from nltk.stem import porter

    return porter.PorterStemmer()


def _latin_tokens(text: str) -> list[str]:
    return rouge_tokenize.tokenize(text, _stemmer()) if text else []


def _other_tokens(text: str) -> list[str]:
    """The words, without punctuation; vowel signs are part of their word."""
    kept = (c if unicodedata.category(c)[0] in "LMN" else " " for c in text)
    return "".join(kept).lower().split()


@functools.lru_cache(maxsize=8)
def _scorer(rouge_type: str) -> rouge_scorer.RougeScorer:
    return rouge_scorer.RougeScorer([rouge_type], tokenizer=ScriptTokenizer())


def rouge_f1(name: str, references: Iterable[str], prediction: str) -> float:
    """ROUGE F1 in [0, 1], against the best of the references.

    Args:
      name: a key of `ROUGE_TYPES`. For "rouge_lsum" a text's sentences are found by
        their final marks; nothing is downloaded.
      references: one or more texts.
      prediction: the model's text.
    """
    if name not in ROUGE_TYPES:
        raise ValueError(f"`name` must be one of {sorted(ROUGE_TYPES)}. Got: {name!r}.")
    rouge_type = ROUGE_TYPES[name]
    if name == "rouge_lsum":
        references = [_one_sentence_a_line(r) for r in references]
        prediction = _one_sentence_a_line(prediction)
    scorer = _scorer(rouge_type)
    return max(scorer.score(r, prediction)[rouge_type].fmeasure for r in references)


def _one_sentence_a_line(text: str) -> str:
    return "\n".join(part for part in _SENTENCE_END.split(text) if part)


def split_references(target: str) -> list[str]:
    return target.split(REFERENCE_SEPARATOR)


def accuracy(pairs: Counter) -> float:
    """Share of equal pairs in a count of (label, prediction); NaN without any."""
    total = sum(pairs.values())
    right = sum(n for (label, prediction), n in pairs.items() if label == prediction)
    return right / total if total else float("nan")


def macro_f1(pairs: Counter) -> float:
    """Mean F1 over the labels that occur among the true ones; NaN without any.

    Args:
      pairs: count of each (label, prediction).
    """
    # Sorted: the last digit of a sum depends on its order, and a set has none.
    labels = sorted({label for label, _ in pairs})
    if not labels:
        return float("nan")
    return sum(_f1(pairs, label) for label in labels) / len(labels)


def _f1(pairs: Counter, name: str) -> float:
    hits = pairs[(name, name)]
    true = sum(n for (label, _), n in pairs.items() if label == name)
    predicted = sum(n for (_, prediction), n in pairs.items() if prediction == name)
    return 2 * hits / (true + predicted) if hits else 0.0


def score_labels(
    targets: Iterable[str], predictions: Iterable[str]
) -> dict[str, float]:
    """Accuracy and macro-F1, as the Evaluator reports them."""
    pairs = Counter(zip(targets, predictions, strict=True))
    return {"accuracy": accuracy(pairs), "macro_f1": macro_f1(pairs)}


def score_texts(targets: Iterable[str], predictions: Iterable[str]) -> dict[str, float]:
    """Mean of each of `ROUGE_TYPES`, as the Evaluator reports it; NaN without rows.

    Args:
      targets: each one reference or several; see `split_references`.
      predictions: as many texts.
    """
    pairs = [
        (split_references(t), p) for t, p in zip(targets, predictions, strict=True)
    ]
    if not pairs:
        return dict.fromkeys(ROUGE_TYPES, float("nan"))
    return {
        name: sum(rouge_f1(name, references, text) for references, text in pairs)
        / len(pairs)
        for name in ROUGE_TYPES
    }
