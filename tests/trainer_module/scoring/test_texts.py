"""Means over rows."""

import math

import pytest

from trainer_module.scoring import rouge, texts


def test_references_are_parted_by_their_separator_alone():
    assert texts.split_references("lost\x1estolen today") == ["lost", "stolen today"]
    assert texts.split_references("card lost\nreally") == ["card lost\nreally"]


@pytest.mark.parametrize(
    "references, text, same",
    [
        (["a card"], " a  card\n", True),
        (["a card", "late"], "late", True),
        (["a card"], "A card", False),
        (["a card"], "a card.", False),
        (["卡"], "卡", True),
        ([""], " ", True),
    ],
)
def test_exact_match_looks_past_white_space_alone(references, text, same):
    assert texts.exact_match(references, text) is same


def test_score_is_the_mean_over_rows_of_the_best_reference():
    scores = texts.score_texts(["lost\x1ecard stolen", "late"], ["card stolen", "x"])
    assert list(scores) == list(rouge.TYPES)
    assert scores["rouge1"] == scores["rouge_l"] == pytest.approx(1 / 2)


def test_no_rows_score_nan():
    assert all(math.isnan(score) for score in texts.score_texts([], []).values())


def test_another_number_of_predictions_is_refused():
    with pytest.raises(ValueError, match="shorter"):
        texts.score_texts(["a", "b"], ["a"])
