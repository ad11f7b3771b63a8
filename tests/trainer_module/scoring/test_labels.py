"""Label scores, worked out by hand."""

import math
from collections import Counter

import pytest

from trainer_module.scoring import labels

COUNTS = Counter(
    {
        ("lost", "lost"): 3,
        ("lost", "late"): 1,
        ("late", "late"): 2,
        ("fee", "late"): 2,  # Never predicted.
        ("late", "odd"): 2,  # A label that no true row has.
    }
)


def test_accuracy_is_the_share_of_equal_pairs():
    assert labels.accuracy(COUNTS) == pytest.approx(5 / 10)


def test_each_label_has_precision_recall_f1_and_its_rows():
    found = labels.by_label(COUNTS)
    assert list(found) == ["fee", "late", "lost", "odd"]
    assert found["lost"] == pytest.approx((1.0, 3 / 4, 6 / 7, 4))
    assert found["late"] == pytest.approx((2 / 5, 2 / 4, 4 / 9, 4))
    assert found["fee"] == (0.0, 0.0, 0.0, 2)
    assert found["odd"] == (0.0, 0.0, 0.0, 0)


def test_macro_f1_is_the_mean_over_the_true_labels():
    assert labels.macro_f1(COUNTS) == pytest.approx((6 / 7 + 4 / 9 + 0.0) / 3)


def test_scores_of_nothing_are_nan_and_counts_stay_as_they_were():
    empty = Counter()
    assert math.isnan(labels.accuracy(empty))
    assert math.isnan(labels.macro_f1(empty))
    before = dict(COUNTS)
    labels.macro_f1(COUNTS)
    assert dict(COUNTS) == before


def test_lists_are_scored_as_their_counts():
    targets, predictions = zip(*COUNTS.elements(), strict=True)
    assert labels.score_labels(targets, predictions) == {
        "accuracy": labels.accuracy(COUNTS),
        "macro_f1": labels.macro_f1(COUNTS),
    }
