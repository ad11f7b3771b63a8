"""Answers of broken models, made of a sound one's."""

import numpy as np
import pytest

from components.evaluator import damages
from components.evaluator.rows import Rows
from components.evaluator.scores.classification import Answers

NAMES = ["card", "fee", "late"]
ROWS = Rows(["1", "2", "3"], ["a", "b", "c"], ["fee", "card", "fee"], {})
SCORES = np.array([[0.1, 0.8, 0.1], [0.7, 0.2, 0.1], [0.0, 0.1, 0.9]])
LABELS = Answers(["fee", "card", "late"], NAMES, SCORES)


def texts(*predictions):
    return Answers(list(predictions), [], np.zeros((len(predictions), 0)))


def asked(*sources):
    return Rows([str(n) for n in range(len(sources))], sources, sources, {})


def test_constant_label_is_the_commonest_with_the_shares_of_the_rows():
    found = damages.constant_label(ROWS, LABELS)
    assert found.predictions == ["fee"] * 3
    np.testing.assert_allclose(found.scores, [[1 / 3, 2 / 3, 0]] * 3)


def test_constant_label_is_one_that_the_model_knows():
    rows = Rows(["1", "2", "3"], ["a", "b", "c"], ["new", "new", "late"], {})
    found = damages.constant_label(rows, LABELS)
    assert found.predictions == ["late"] * 3
    np.testing.assert_allclose(found.scores, [[0, 0, 1]] * 3)


def test_constant_label_of_labels_that_no_row_has_is_a_distribution():
    rows = Rows(["1"], ["a"], ["new"], {})
    found = damages.constant_label(rows, LABELS)
    np.testing.assert_allclose(found.scores, [[1 / 3] * 3])


def test_every_label_and_its_probability_is_swapped():
    found = damages.swapped_labels(ROWS, LABELS)
    assert found.predictions == ["late", "fee", "card"]
    expected = [[0.1, 0.1, 0.8], [0.1, 0.7, 0.2], [0.9, 0.0, 0.1]]
    np.testing.assert_allclose(found.scores, expected)


def test_one_label_cannot_be_swapped():
    only = Answers(["fee"], ["fee"], np.ones((1, 1)))
    assert damages.swapped_labels(ROWS, only) is None


def test_constant_text_is_the_commonest():
    assert damages.constant_text(ROWS, texts("x", "y", "y")).predictions == ["y"] * 3


def test_no_text_is_empty():
    assert damages.no_text(ROWS, texts("x", "y")).predictions == ["", ""]


@pytest.mark.parametrize(
    "source, first",
    [
        ("It is late. Call me!", "It is late."),
        ("Pay 3.50 now? No.", "Pay 3.50 now?"),
        ("no mark at all", "no mark at all"),
        ("我的卡丢了。请帮忙。", "我的卡丢了。"),
        ("Ann: hi\nBob: hello.", "Ann: hi"),
        (" \n ", ""),
    ],
)
def test_first_sentence_of_the_source_is_copied(source, first):
    found = damages.first_sentence(asked(source), texts("x"))
    assert found.predictions == [first]


@pytest.mark.parametrize("given", ["xyz", "xxyz", "xyx", "xyyxx", "xxxxy"])
def test_no_row_keeps_its_text_where_texts_are_rotated(given):
    found = damages.other_rows_text(ROWS, texts(*given)).predictions
    assert all(new != old for new, old in zip(found, given, strict=True))
    assert set(found) <= set(given)


def test_text_comes_from_the_next_row_that_has_another():
    found = damages.other_rows_text(ROWS, texts("x", "x", "y", "z"))
    assert found.predictions == ["y", "y", "z", "x"]


def test_equal_texts_cannot_be_rotated():
    assert damages.other_rows_text(ROWS, texts("x", "x")) is None


def test_missing_answer_is_the_first_so_that_all_others_are_shifted():
    found = damages.one_answer_short(ROWS, LABELS)
    assert found.predictions == ["card", "late"]
    np.testing.assert_allclose(found.scores, SCORES[1:])


def test_names_of_damages_differ():
    for of_task in damages.OF_TASK.values():
        assert len({damage.name for damage in of_task}) == len(of_task)
