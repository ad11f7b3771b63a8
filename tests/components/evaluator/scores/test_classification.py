"""Label metrics from sums, against the libraries' and against the Trainer's own."""

import dataclasses

import numpy as np
import pytest
import sklearn.metrics

from components.evaluator.scores import classification
from components.evaluator.scores.classification import Answers
from trainer_module.scoring import labels

NAMES = ("cash", "fee", "late", "lost", "other")


@pytest.fixture(scope="module")
def answered():
    """Targets, and answers that are right about two times in three."""
    dice = np.random.default_rng(4)
    true = dice.integers(5, size=400)
    logits = dice.normal(size=(400, 5)) * 1.5
    logits[np.arange(400), true] += 2
    scores = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    predictions = [NAMES[i] for i in scores.argmax(axis=1)]
    return [NAMES[i] for i in true], Answers(predictions, NAMES, scores)


def values(targets, answers, names=NAMES):
    sheet = classification.sheet(targets, answers, names)
    sums = sheet.sums(np.ones(sheet.rows))
    rows = np.array(sheet.rows)
    return {m.name: float(sheet.value(m, sums, rows)) for m in classification.METRICS}


def of_labels(targets, answers):
    """{metric: value} of each label."""
    sheet = classification.sheet(targets, answers, NAMES).block("labels")
    sums, rows = sheet.sums(np.ones(sheet.rows)), np.array(sheet.rows)
    every = [classification.metrics_of_label(n, len(NAMES)) for n in range(len(NAMES))]
    return [{m.name: float(sheet.value(m, sums, rows)) for m in own} for own in every]


def test_metrics_are_those_of_scikit_learn(answered):
    targets, answers = answered
    predictions, scores = answers.predictions, answers.scores
    precision, recall, f1, _ = sklearn.metrics.precision_recall_fscore_support(
        targets, predictions, average="macro"
    )
    found = values(targets, answers)
    assert found["accuracy"] == pytest.approx(
        sklearn.metrics.accuracy_score(targets, predictions)
    )
    assert found["macro_precision"] == pytest.approx(precision)
    assert found["macro_recall"] == pytest.approx(recall)
    assert found["macro_f1"] == pytest.approx(f1)
    assert found["top3_accuracy"] == pytest.approx(
        sklearn.metrics.top_k_accuracy_score(targets, scores, k=3, labels=NAMES)
    )
    assert found["log_loss"] == pytest.approx(
        sklearn.metrics.log_loss(targets, scores, labels=NAMES)
    )
    of_each = sklearn.metrics.precision_recall_fscore_support(
        targets, predictions, labels=NAMES
    )
    assert of_labels(targets, answers) == [
        pytest.approx(dict(zip(("precision", "recall", "f1"), of_label, strict=False)))
        for of_label in zip(*of_each, strict=True)
    ]
    # Scores within one bin are taken as equal.
    area = sklearn.metrics.roc_auc_score(
        targets, scores, multi_class="ovr", labels=NAMES
    )
    assert found["auc"] == pytest.approx(area, abs=1e-3)


def test_accuracy_and_macro_f1_are_those_of_the_trainer(answered):
    targets, answers = answered
    found = values(targets, answers)
    trainers = labels.score_labels(targets, answers.predictions)
    assert {name: found[name] for name in trainers} == pytest.approx(
        trainers, abs=1e-12
    )


def test_order_of_the_labels_changes_nothing(answered):
    targets, answers = answered
    order = [3, 0, 4, 2, 1]
    turned = Answers(
        answers.predictions, [NAMES[i] for i in order], answers.scores[:, order]
    )
    names = sorted(NAMES, reverse=True)
    assert values(targets, turned, names) == pytest.approx(values(targets, answers))


def test_label_that_the_model_does_not_know_is_wrong_and_improbable(answered):
    targets, answers = answered
    strange = ["new" if name == "cash" else name for name in targets]
    found = values(strange, answers, (*NAMES, "new"))
    share = targets.count("cash") / len(targets)
    assert found["accuracy"] < values(targets, answers)["accuracy"]
    assert found["macro_recall"] == pytest.approx(
        np.mean(
            sklearn.metrics.recall_score(
                targets, answers.predictions, average=None, labels=NAMES[1:]
            ).tolist()
            + [0.0]
        )
    )
    assert found["log_loss"] > share * -np.log(classification.LEAST_PROBABILITY)


def test_calibration_error_is_the_gap_of_each_bin_weighted_by_its_rows():
    # Bins of 1/15: 0.5 is right once in two, 0.9 twice in two.
    scores = np.array([[0.5, 0.5], [0.5, 0.5], [0.9, 0.1], [0.9, 0.1]])
    answers = Answers(["a"] * 4, ("a", "b"), scores)
    found = values(["a", "b", "a", "a"], answers, ("a", "b"))
    assert found["calibration_error"] == pytest.approx((0 + 2 * 0.1) / 4)


@pytest.mark.parametrize("certain", [0.0, 1.0])
def test_scores_of_zero_and_one_are_taken(certain):
    scores = np.array([[certain, 1 - certain]] * 2)
    found = values(["a", "b"], Answers(["a", "a"], ("a", "b"), scores), ("a", "b"))
    assert found["auc"] == 0.5
    assert found["log_loss"] == pytest.approx(
        -np.log(classification.LEAST_PROBABILITY) / 2
    )


def test_labels_without_rows_do_not_count_in_the_mean():
    scores = np.array([[0.8, 0.1, 0.1], [0.1, 0.1, 0.8]])
    answers = Answers(["a", "c"], ("a", "b", "c"), scores)
    found = values(["a", "a"], answers, ("a", "b", "c"))
    assert found["macro_recall"] == 0.5
    assert np.isnan(found["auc"])  # No row of another label to compare with.


def test_more_columns_than_names_are_refused(answered):
    targets, answers = answered
    with pytest.raises(ValueError, match="shape"):
        values(targets, dataclasses.replace(answers, names=NAMES[:4]))


def test_predictions_and_their_probabilities_give_the_same_metrics(answered):
    targets, answers = answered
    sheet = classification.sheet_of_predictions(
        targets, answers.predictions, answers.scores.max(axis=1), NAMES
    )
    sums, rows = sheet.sums(np.ones(sheet.rows)), np.array(sheet.rows)
    metrics = classification.METRICS_OF_PREDICTIONS
    found = {m.name: float(sheet.value(m, sums, rows)) for m in metrics}
    whole = values(targets, answers)
    assert found == {name: whole[name] for name in found}
    assert set(whole) - set(found) == {"top3_accuracy", "auc", "log_loss"}
