"""Gates that close, gates that do not, and what is said of them."""

import numpy as np
import pytest

from components.evaluator import self_test
from components.evaluator.comparing import Asked
from components.evaluator.rows import Rows
from components.evaluator.scores.classification import Answers
from components.evaluator.self_test import Undamaged
from components.evaluator.settings import GateSettings

NAMES = ["card", "fee", "late"]
COUNT = 60
TARGETS = [NAMES[n % 3] for n in range(COUNT)]
IDS = [str(n) for n in range(COUNT)]
ROWS = Rows(IDS, [f"row {n}. More." for n in range(COUNT)], TARGETS, {})


def labels(predictions):
    scores = [[0.8 if name == p else 0.1 for name in NAMES] for p in predictions]
    return Answers(list(predictions), NAMES, np.array(scores))


def texts(predictions):
    return Answers(list(predictions), [], np.zeros((len(predictions), 0)))


# Right but for one row in ten.
CLASSIFIER = Undamaged(
    ROWS,
    labels(["card" if n % 10 == 0 else t for n, t in enumerate(TARGETS)]),
    Asked({}),
)


def gate(**bounds):
    return GateSettings(draws=200, **bounds)


def judged(model, of, task="classification", shuffled=None):
    trials, left_out = self_test.damaged(model, task=task)
    trials = [self_test.identical(model), *trials]
    if shuffled:
        trials.append(self_test.shuffled(model, shuffled))
    return self_test.run(trials, of, task=task), left_out


def verdicts(found):
    return {trial["name"]: trial["blessed"] for trial in found["trials"]}


def test_gate_with_a_floor_that_only_the_model_reaches_is_proven():
    found, left_out = judged(CLASSIFIER, gate(floors={"accuracy": 0.6}))
    assert (found["proven"], found["ways_on"], left_out) == (True, [], {})
    assert verdicts(found) == {
        "identical copy": True,
        "constant answer": False,
        "swapped labels": False,
        "one answer missing": False,
    }
    reasons = {trial["name"]: trial["reasons"] for trial in found["trials"]}
    assert reasons["identical copy"] == []
    (missing,) = reasons["one answer missing"]
    assert missing.startswith("The candidate gave 59 answers to 60 rows")
    assert "is below the floor 0.6000" in reasons["constant answer"][0]


def test_lax_floor_is_exposed_with_the_room_that_it_has():
    found, _ = judged(CLASSIFIER, gate(floors={"accuracy": 0.0001}))
    assert not found["proven"]
    assert verdicts(found)["constant answer"] is True
    told = found["ways_on"][0]
    assert told.startswith(
        "constant answer: `gate.floors.accuracy` is 0.0001; set it above 0."
    )
    low, high = (float(told.split(word)[1].split()[0].rstrip(",")) for word in WORDS)
    closed, _ = judged(CLASSIFIER, gate(floors={"accuracy": (low + high) / 2}))
    assert closed["proven"]


WORDS = ("above ", "at most ")


def test_bound_that_the_gate_lacks_is_named_where_its_own_cannot_tell():
    # The model has less accuracy than the commonest label, and knows both labels.
    targets = ["fee"] * 50 + ["card"] * 10
    predictions = ["fee"] * 38 + ["card"] * 22
    model = Undamaged(Rows(IDS, IDS, targets, {}), labels(predictions), Asked({}))
    found, _ = judged(model, gate(floors={"accuracy": 0.5}))
    (told,) = found["ways_on"]
    assert told.startswith("constant answer: set `gate.floors.macro_recall` above 0.5")


def test_model_no_better_than_a_damaged_one_is_said_so():
    constant = Undamaged(ROWS, labels(["late"] * COUNT), Asked({}))
    found, _ = judged(constant, gate(floors={"accuracy": 0.1}))
    assert found["ways_on"][0] == (
        "constant answer: no bound on a metric can refuse it and let the model pass: "
        "the model is no better than it."
    )


def test_drop_is_judged_against_the_model_itself_also_after_a_reset():
    of = gate(
        floors={"accuracy": 0.0001}, max_drop={"accuracy": 0.05}, baseline="reset"
    )
    found, _ = judged(CLASSIFIER, of)
    assert found["proven"]


def test_model_that_does_not_pass_proves_nothing():
    found, _ = judged(CLASSIFIER, gate(floors={"accuracy": 0.99}))
    assert not any(verdicts(found).values())
    assert not found["proven"]
    identical = found["trials"][0]
    assert identical["as_expected"] is False
    assert "is below the floor 0.9900" in identical["reasons"][0]
    (told,) = found["ways_on"]
    assert told.startswith("The model itself does not pass this gate")


def test_gain_over_an_untuned_checkpoint_that_was_not_asked_refuses_the_model():
    model = Undamaged(ROWS, CLASSIFIER.answers, Asked({}, {"untuned": "Not asked."}))
    found, _ = judged(model, gate(min_gain={"accuracy": 0.1}))
    assert found["trials"][0]["reasons"] == ["accuracy cannot pass: Not asked."]


def test_gain_alone_closes_a_gate():
    untuned = Asked({"untuned": labels(["fee"] * COUNT)})
    model = Undamaged(ROWS, CLASSIFIER.answers, untuned)
    found, _ = judged(model, gate(min_gain={"accuracy": 0.1}))
    assert found["proven"]


def test_shuffled_copy_is_judged_on_the_rows_that_it_was_asked_about():
    numbers = range(0, COUNT, 2)
    untuned = Asked({"untuned": labels(["fee"] * COUNT)})
    part = Undamaged(ROWS, CLASSIFIER.answers, untuned).of(numbers)
    wrong = Asked({"shuffled output layer": labels(["late"] * len(numbers))})
    trial = self_test.shuffled(part, wrong)
    of = gate(floors={"accuracy": 0.6}, min_gain={"accuracy": 0.1})
    identical = self_test.identical(part)
    found = self_test.run([identical, trial], of, task="classification")
    assert found["proven"]
    assert [t["rows"] for t in found["trials"]] == [30, 30]


def test_shuffled_copy_that_does_not_answer_is_refused_for_that():
    refused = Asked({}, {"shuffled output layer": "It gave NaN."})
    found, _ = judged(CLASSIFIER, gate(floors={"accuracy": 0.6}), shuffled=refused)
    assert found["trials"][-1]["reasons"] == ["It gave NaN."]
    assert found["proven"]


@pytest.fixture
def writer():
    references = [f"the card number {n} was lost on day {n * 7}" for n in range(COUNT)]
    rows = Rows(IDS, [f"Hello {n}. More." for n in range(COUNT)], references, {})
    return Undamaged(rows, texts(references), Asked({}))


def test_gate_of_texts_that_are_alike_needs_a_high_floor(writer):
    lax, left_out = judged(writer, gate(floors={"rouge_l": 0.3}), "summarization")
    assert left_out == {}
    assert verdicts(lax) == {
        "identical copy": True,
        "constant answer": True,
        "empty answers": False,
        "copied source": False,
        "another row's answer": True,
        "one answer missing": False,
    }
    strict, _ = judged(writer, gate(floors={"rouge_l": 0.9}), "summarization")
    assert strict["proven"]


def test_damage_that_cannot_be_made_is_left_out_with_the_reason():
    model = Undamaged(ROWS, texts(["x"] * COUNT), Asked({}))
    _, left_out = judged(model, gate(floors={"rouge_l": 0.3}), "summarization")
    assert left_out == {"another row's answer": "the model answers every row alike"}
