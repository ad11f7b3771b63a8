"""Scores of predicted labels, which go by name: class ids may differ between models.

Everything is computed from a count of (label, prediction), so that parts of a data set
can be counted apart and added.
"""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

Pairs = Counter[tuple[str, str]]


class LabelScore(NamedTuple):
    """Of one label, each in [0, 1], and how many rows truly have it.

    Precision is 0 if nothing was predicted to be the label, recall if no row has it.
    """

    precision: float
    recall: float
    f1: float
    rows: int


def accuracy(pairs: Pairs) -> float:
    """Share of equal pairs; NaN without any."""
    right = sum(n for (label, prediction), n in pairs.items() if label == prediction)
    return right / pairs.total() if pairs else float("nan")


def by_label(pairs: Pairs) -> dict[str, LabelScore]:
    """The score of every label that is true or was predicted, sorted by name."""
    rows: Counter[str] = Counter()
    predicted: Counter[str] = Counter()
    for (label, prediction), n in pairs.items():
        rows[label] += n
        predicted[prediction] += n
    return {
        name: _label_score(pairs[name, name], rows[name], predicted[name])
        for name in sorted(rows | predicted)
    }


def macro_f1(pairs: Pairs) -> float:
    """Mean F1 over the labels that occur among the true ones; NaN without any."""
    scores = [score.f1 for score in by_label(pairs).values() if score.rows]
    return sum(scores) / len(scores) if scores else float("nan")


def score_labels(
    targets: Iterable[str], predictions: Iterable[str]
) -> dict[str, float]:
    """Accuracy and macro-F1, as the Evaluator reports them."""
    pairs = Counter(zip(targets, predictions, strict=True))
    return {"accuracy": accuracy(pairs), "macro_f1": macro_f1(pairs)}


def _label_score(hits: int, rows: int, predicted: int) -> LabelScore:
    if not hits:
        return LabelScore(0.0, 0.0, 0.0, rows)
    return LabelScore(
        hits / predicted, hits / rows, 2 * hits / (rows + predicted), rows
    )
