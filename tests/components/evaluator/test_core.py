"""From answers to the verdict, and what of them can be compared."""

import json

import numpy as np
import pytest

from components.evaluator import comparing, core, predictions
from components.evaluator.comparing import Asked
from components.evaluator.rows import Rows
from components.evaluator.scores.classification import Answers
from components.evaluator.settings import GateSettings

ROWS = Rows(["1", "2"], ["a", "b"], ["fee", "late"], {"language": ["en", "zh"]})
TASK = "classification"
GATE = GateSettings(floors={"accuracy": 0.5}, draws=100)


def answers(names, predictions=("fee", "late")):
    scores = [[0.9 if name == p else 0.1 for name in names] for p in predictions]
    return Answers(list(predictions), list(names), np.array(scores))


def test_order_of_the_labels_is_no_reason_not_to_compare():
    assert comparing.why_not(answers("ab", "ab"), answers("ba", "ab")) is None


@pytest.mark.parametrize(
    "candidate, baseline, said",
    [
        ("ab", "a", "The model blessed last lacks the label 'b'."),
        (
            "a",
            "ab",
            "The model blessed last has the label 'b', which the new one lacks.",
        ),
        ("ac", "ab", "lacks the label 'c' and has the label 'b', which"),
        ("abcdefgh", "a", "lacks the labels 'b', 'c', 'd', 'e', 'f' and 2 more."),
    ],
)
def test_other_labels_are_named(candidate, baseline, said):
    found = comparing.why_not(answers(candidate, "a"), answers(baseline, "a"))
    assert said in found
    assert found.endswith(
        "once: `texttune run` again with `--set gate.baseline=reset`."
    )


def test_candidate_without_answers_passes_nothing_and_has_the_same_parts():
    asked = Asked({}, {"candidate": "It cannot be loaded."})
    found = core.evaluate(ROWS, asked, GATE, task="classification")
    whole = core.evaluate(
        ROWS,
        Asked({"candidate": answers(["fee", "late"])}),
        GATE,
        task="classification",
    )
    assert (found["blessed"], found["refused"]) == (False, "It cannot be loaded.")
    assert whole["refused"] is None
    of_labels = {"labels", "confusions", "unknown_labels", "examples"}
    assert set(found) == set(whole) - of_labels


def test_lines_of_predictions_are_ascii_also_for_bytes_that_are_no_utf8():
    rows = Rows(["1", "2"], ["\udcff卡", "b"], ["fee", "late"], {})
    given = {"candidate": Answers(["x\u2028", "y"], [], np.zeros((2, 0)))}
    lines = list(predictions.lines(rows, given))
    assert all(line.isascii() and line.endswith("\n") for line in lines)
    first = json.loads(lines[0])
    assert first["source"] == "\udcff卡"
    assert first["answers"] == {"candidate": {"prediction": "x\u2028", "score": None}}


def test_answers_of_a_model_are_read_back_by_the_row():
    rows = Rows(["1", "2"], ["\udcff卡", "b"], ["fee", "late"], {})
    given = {"candidate": Answers(["x\u2028", "y"], [], np.zeros((2, 0)))}
    lines = list(predictions.lines(rows, given))
    assert predictions.read(lines, "candidate") == {"1": "x\u2028", "2": "y"}
    assert predictions.read(lines, "baseline") == {}


@pytest.mark.parametrize("given", [["fee"], ["fee", "late", "late"], []])
def test_candidate_without_one_answer_for_each_row_is_refused(given):
    asked = Asked({"candidate": answers(["fee", "late"], given)})
    found = core.evaluate(ROWS, asked, GATE, task="classification")
    assert found["refused"] == (
        f"The candidate gave {len(given)} answers to 2 rows, so it cannot be told "
        "which is whose."
    )
    assert not found["blessed"]


@pytest.mark.parametrize("score", [float("nan"), -0.1, 1.5])
def test_model_whose_score_is_no_probability_is_refused_whoever_asked_it(score):
    names = ["fee", "late"]
    wrong = Answers(names, names, np.array([[0.5, 0.5], [score, 0.5]]))
    found = core.evaluate(ROWS, Asked({"candidate": wrong}), GATE, task=TASK)
    assert found["refused"] == (
        "The candidate gave a score that is no probability to 1 of 2 rows, such as '2'."
    )
    assert not found["blessed"]
    asked = Asked({"candidate": answers(names), "untuned": wrong})
    found = core.evaluate(ROWS, asked, GATE, task=TASK)
    assert "no probability" in found["incomparable"]["untuned"]


def test_other_model_without_one_answer_for_each_row_cannot_be_compared_with():
    names = ["fee", "late"]
    short = {"baseline": answers(names, ["fee"]), "untuned": answers(names, ["late"])}
    asked = Asked({"candidate": answers(names), **short})
    found = core.evaluate(ROWS, asked, GATE, task="classification")
    assert set(found["incomparable"]) == {"baseline", "untuned"}
    assert {m["model"] for m in found["metrics"]} == {"candidate"}
