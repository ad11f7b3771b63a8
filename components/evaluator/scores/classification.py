"""The metrics of predicted labels.

Labels go by name, so that models that know others, or the same in another order, are
compared rightly.
"""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
import scipy.sparse

from components.evaluator.scores.facts import OF_LABEL
from components.evaluator.scores.sheet import (
    Metric,
    Sheet,
    Value,
    divided,
    mean,
    metrics_of,
)

TOP = 3  # Of `top3_accuracy`.
LEAST_PROBABILITY = 1e-7  # About the smallest step that float32 makes beside 1.
CONFIDENCE_BINS = 15
# The area under a curve is of scores in bins: equal steps of the logit, so that scores
# near 0 and near 1, where most of them are, are told apart.
CURVE_BINS = 320
_LARGEST_LOGIT = 16.0


@dataclasses.dataclass(frozen=True)
class Answers:
    """What a model says of some texts.

    Attributes:
      predictions: the label of each.
      names: the labels that it knows, in the order of `scores`.
      scores: float [rows, names], probabilities.
    """

    predictions: Sequence[str]
    names: Sequence[str]
    scores: np.ndarray


def sheet(targets: Sequence[str], answers: Answers, labels: Sequence[str]) -> Sheet:
    """What each row adds to the sums of `METRICS`.

    Args:
      targets: the true label of each row; one that the model does not know is wrong,
        with a probability of zero.
      labels: all that any row or model has.
    """
    column = {name: number for number, name in enumerate(labels)}
    true = np.array([column[name] for name in targets], np.int64)
    predicted = np.array([column[name] for name in answers.predictions], np.int64)
    scores = np.zeros((len(true), len(labels)))
    scores[:, [column[name] for name in answers.names]] = answers.scores
    of_true = scores[np.arange(len(true)), true]
    right = (true == predicted).astype(float)
    likelier = (scores > of_true[:, None]).sum(axis=1)
    in_top = (likelier < TOP) & (of_true > 0)
    surprise = -np.log(np.maximum(of_true, LEAST_PROBABILITY))
    return Sheet.of(
        {
            "right": right[:, None],
            "in_top": in_top[:, None].astype(float),
            "surprise": surprise[:, None],
            "labels": _label_counts(true, predicted, len(labels)),
            "overconfidence": _overconfidence(scores.max(axis=1), right),
            "curves": _curves(scores, true),
        }
    )


def sheet_of_predictions(
    targets: Sequence[str],
    predictions: Sequence[str],
    confidences: Sequence[float],
    labels: Sequence[str],
) -> Sheet:
    """What each row adds to the sums of `METRICS_OF_PREDICTIONS`.

    Args:
      confidences: the probability of each prediction.
      labels: all that any row or model has.
    """
    column = {name: number for number, name in enumerate(labels)}
    true = np.array([column[name] for name in targets], np.int64)
    predicted = np.array([column[name] for name in predictions], np.int64)
    right = (true == predicted).astype(float)
    return Sheet.of(
        {
            "right": right[:, None],
            "labels": _label_counts(true, predicted, len(labels)),
            "overconfidence": _overconfidence(np.array(confidences), right),
        }
    )


def _label_counts(
    true: np.ndarray, predicted: np.ndarray, labels: int
) -> scipy.sparse.csr_array:
    """[rows, 3 * labels]: hits, true rows, predicted rows of each label."""
    hits = np.flatnonzero(true == predicted)
    rows = np.arange(len(true))
    row = np.concatenate([hits, rows, rows])
    column = np.concatenate([true[hits], labels + true, 2 * labels + predicted])
    ones = np.ones(len(row))
    return scipy.sparse.csr_array((ones, (row, column)), (len(true), 3 * labels))


def _overconfidence(
    confidence: np.ndarray, right: np.ndarray
) -> scipy.sparse.csr_array:
    """[rows, CONFIDENCE_BINS]: confidence less rightness, in the confidence's bin."""
    bins = np.minimum(confidence * CONFIDENCE_BINS, CONFIDENCE_BINS - 1).astype(int)
    place = (np.arange(len(bins)), bins)
    shape = (len(bins), CONFIDENCE_BINS)
    return scipy.sparse.csr_array((confidence - right, place), shape)


def _curves(scores: np.ndarray, true: np.ndarray) -> scipy.sparse.csr_array:
    """[rows, labels * 2 * CURVE_BINS]: each label's score, among its rows or others."""
    rows, labels = scores.shape
    with np.errstate(divide="ignore"):
        logits = np.log(scores) - np.log1p(-np.minimum(scores, 1.0))
    part = (np.clip(logits / _LARGEST_LOGIT, -1, 1) + 1) / 2
    bins = np.minimum(part * CURVE_BINS, CURVE_BINS - 1).astype(int)
    others = (true[:, None] != np.arange(labels)).astype(int)
    column = (np.arange(labels) * 2 + others) * CURVE_BINS + bins
    row = np.repeat(np.arange(rows), labels)
    ones = np.ones(rows * labels)
    shape = (rows, labels * 2 * CURVE_BINS)
    return scipy.sparse.csr_array((ones, (row, column.ravel())), shape)


def _of_labels(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Hits, true rows and predicted rows: [..., labels] each."""
    hits, true, predicted = np.split(sums, 3, axis=-1)
    return hits, true, predicted


def _mean_of_occurring(scores: np.ndarray, true: np.ndarray) -> np.ndarray:
    """The mean over the labels that some row has."""
    occurs = true > 0
    return divided(np.where(occurs, scores, 0).sum(axis=-1), occurs.sum(axis=-1))


def _macro_precision(sums: np.ndarray, _rows: np.ndarray) -> np.ndarray:
    hits, true, predicted = _of_labels(sums)
    return _mean_of_occurring(hits / np.maximum(predicted, 1), true)


def _macro_recall(sums: np.ndarray, _rows: np.ndarray) -> np.ndarray:
    hits, true, _ = _of_labels(sums)
    return _mean_of_occurring(hits / np.maximum(true, 1), true)


def _macro_f1(sums: np.ndarray, _rows: np.ndarray) -> np.ndarray:
    hits, true, predicted = _of_labels(sums)
    return _mean_of_occurring(2 * hits / np.maximum(true + predicted, 1), true)


def metrics_of_label(number: int, labels: int) -> list[Metric]:
    """Precision, recall and F1 of one label, under the names of `facts.OF_LABEL`.

    Each is NaN where its denominator is zero.

    Args:
      number: of the label, among as many `labels` as the sheet has.
    """

    def value(
        share: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray],
    ) -> Value:
        def of(sums: np.ndarray, _rows: np.ndarray) -> np.ndarray:
            own = (sums[..., number + part * labels] for part in range(3))
            return share(*own)

        return of

    shares = {
        "precision": lambda hits, true, predicted: divided(hits, predicted),
        "recall": lambda hits, true, predicted: divided(hits, true),
        "f1": lambda hits, true, predicted: divided(2 * hits, true + predicted),
    }
    return [
        Metric(name, facts.best, "labels", value(shares[name]))
        for name, facts in OF_LABEL.items()
    ]


def _calibration_error(sums: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Guo et al., "On calibration of modern neural networks" (2017), equation 3."""
    return divided(np.abs(sums).sum(axis=-1), rows)


def _auc(sums: np.ndarray, _rows: np.ndarray) -> np.ndarray:
    """Mean over labels of the share of (its row, other row) that are scored in order;
    pairs within one bin count half (Hanley and McNeil, 1982)."""
    curves = sums.reshape(*sums.shape[:-1], -1, 2, CURVE_BINS)
    own, other = curves[..., 0, :], curves[..., 1, :]
    below = np.cumsum(other, axis=-1) - other / 2
    pairs = own.sum(axis=-1) * other.sum(axis=-1)
    areas = (own * below).sum(axis=-1) / np.maximum(pairs, 1)
    return _mean_of_occurring(areas, pairs)


METRICS = metrics_of(
    "classification",
    {
        "accuracy": ("right", mean),
        "macro_f1": ("labels", _macro_f1),
        "macro_precision": ("labels", _macro_precision),
        "macro_recall": ("labels", _macro_recall),
        "top3_accuracy": ("in_top", mean),
        "auc": ("curves", _auc),
        "log_loss": ("surprise", mean),
        "calibration_error": ("overconfidence", _calibration_error),
    },
)
# Those that need no other label's probability than the prediction's.
METRICS_OF_PREDICTIONS = [
    metric
    for metric in METRICS
    if metric.block in ("right", "labels", "overconfidence")
]
