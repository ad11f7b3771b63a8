"""The gate's settings: a bound that decides nothing is refused before a run."""

import pytest
from pydantic import ValidationError

from components.evaluator.settings import GateSettings, check_gate

COLUMNS = ("channel", "language")


def refusal(task="classification", **gate):
    with pytest.raises(ValueError) as refused:
        check_gate(GateSettings(**gate), task, COLUMNS)
    return str(refused.value)


FLOORS = {"accuracy": 0.5}


@pytest.mark.parametrize(
    "task, gate",
    [
        ("classification", {"floors": FLOORS}),
        ("classification", {"min_gain": {"accuracy": 0.0}}),
        ("summarization", {"floors": {"bleu": 12.0, "length_ratio": 0.5}}),
        (
            "summarization",
            {"floors": {"rouge_l": 0.2}, "ceilings": {"empty": 0.0, "length_ratio": 2}},
        ),
        (
            "classification",
            {
                "floors": FLOORS,
                "labels": {"*": {"floors": {"recall": 0.2}}, "fee": {}},
                "seen": ["channel"],
                "crosses": [["language", "channel_seen"]],
                "slices": {
                    "language": {"floors": FLOORS},
                    "channel_seen": {"max_drop": {"accuracy": 0.1}},
                    "language x channel_seen": {"ceilings": {"log_loss": 2.0}},
                },
            },
        ),
    ],
)
def test_gate_that_can_close_is_taken(task, gate):
    check_gate(GateSettings(**gate), task, COLUMNS)


@pytest.mark.parametrize(
    "gate",
    [{}, {"max_drop": FLOORS}, {"ceilings": {"log_loss": 1.0}}],
    ids=["empty", "drop alone", "ceiling alone"],
)
def test_gate_that_would_bless_any_first_model_is_refused(gate):
    assert "a gate without a floor would bless any model" in refusal(**gate)


@pytest.mark.parametrize(
    "rule, metric, bound, said",
    [
        ("floors", "rouge_l", 0.1, "names a metric that classification does not have"),
        ("floors", "log_loss", 0.1, "a floor is for what should be high, and of log_l"),
        ("ceilings", "accuracy", 0.9, "a ceiling is for what should be low"),
        ("floors", "accuracy", 0.0, "must be above 0 and at most 1"),
        ("floors", "accuracy", 1.1, "must be above 0 and at most 1"),
        ("ceilings", "calibration_error", 1.0, "or every model would pass"),
        ("max_drop", "accuracy", 1.0, "or every model would pass"),
        ("min_gain", "accuracy", 1.0, "or none could pass"),
    ],
)
def test_bound_that_decides_nothing_is_refused(rule, metric, bound, said):
    gate = {"floors": dict(FLOORS)}
    gate.setdefault(rule, {})[metric] = bound
    found = refusal(**gate)
    assert said in found
    assert f"`gate.{rule}" in found


def test_comparison_of_what_has_no_direction_is_refused():
    gate = {"floors": {"rouge_l": 0.1}, "max_drop": {"length_ratio": 0.1}}
    found = refusal("summarization", **gate)
    assert "neither more nor less is better. Allowed here: ['rouge_l'," in found


@pytest.mark.parametrize(
    "gate, said",
    [
        ({"slices": {"product": {}}}, "`gate.slices` names columns that `data.slices`"),
        ({"slices": {"channel x language": {}}}, "are crossed by `gate.crosses`"),
        ({"crosses": [["channel", "product"]]}, "`gate.crosses` names columns"),
        ({"crosses": [["channel", "channel"]]}, "crosses 'channel' with itself"),
        ({"seen": ["product"]}, "`gate.seen` names columns"),
    ],
)
def test_slice_of_a_column_that_there_is_not_is_refused(gate, said):
    assert said in refusal(floors=FLOORS, **gate)


def test_bound_in_a_slice_is_named_with_its_key():
    gate = {"floors": FLOORS, "slices": {"channel": {"floors": {"accuracy": 2}}}}
    assert "`gate.slices.channel.floors.accuracy`" in refusal(**gate)


@pytest.mark.parametrize(
    "task, labels, said",
    [
        (
            "classification",
            {"fee": {"floors": {"accuracy": 0.5}}},
            "`gate.labels.fee.floors` names a metric that a label does not have: "
            "'accuracy'. Allowed: ['precision', 'recall', 'f1']",
        ),
        (
            "classification",
            {"*": {"ceilings": {"recall": 0.5}}},
            "`gate.labels.*.ceilings.recall`: a ceiling is for what should be low",
        ),
        ("summarization", {"fee": {}}, "and the task is summarization"),
    ],
)
def test_bound_on_labels_that_decides_nothing_is_refused(task, labels, said):
    floors = FLOORS if task == "classification" else {"rouge_l": 0.1}
    assert said in refusal(task, floors=floors, labels=labels)


@pytest.mark.parametrize("bound", [-0.1, float("nan"), float("inf")])
def test_bound_that_is_no_amount_is_refused(bound):
    with pytest.raises(ValidationError):
        GateSettings(floors={"accuracy": bound})
