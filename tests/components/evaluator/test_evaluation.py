"""The evaluation as plain data: every slice, every model, and the verdict."""

import dataclasses
import json
import types

import numpy as np
import pytest

from components.evaluator import evaluation
from components.evaluator.rows import Rows
from components.evaluator.scores.classification import Answers

NAMES = ("fee", "late", "lost")


def gate(**given):
    kinds = dict.fromkeys(("floors", "ceilings", "max_drop", "min_gain"), {})
    extra = {
        "slices": {},
        "labels": {},
        "min_slice_rows": 2,
        "confidence": 0.95,
        "draws": 200,
    }
    return types.SimpleNamespace(**{**kinds, **extra, **given})


def answers(predictions, names=NAMES):
    """Sure of each prediction."""
    scores = np.full((len(predictions), len(names)), 0.1)
    for row, label in enumerate(predictions):
        scores[row, names.index(label)] = 0.8
    return Answers(predictions, names, scores)


def written(*texts):
    return Answers(texts, [], np.zeros((len(texts), 0)))


ROWS = Rows(
    example_ids=["1", "2", "3", "4"],
    sources=["a", "b", "c", "d"],
    targets=["fee", "fee", "late", "lost"],
    columns={"language": ["en", "zh", "en", "en"], "channel": ["", "app", "app", "2"]},
)


def value(found, model, metric, where="Overall", key="metrics"):
    (entry,) = (
        e
        for e in found[key]
        if (e["model"], e["metric"], e["slice"]) == (model, metric, where)
    )
    return entry["value"]


def test_every_slice_has_the_values_of_its_rows():
    given = {"candidate": answers(["fee", "late", "late", "late"])}
    found = evaluation.of_labels(ROWS, given, gate())
    assert found["rows"] == {
        "Overall": 4,
        "language: en": 3,
        "language: zh": 1,
        "channel: ": 1,
        "channel: 2": 1,
        "channel: app": 2,
    }
    assert found["slices"]["Overall"] == {}
    assert found["slices"]["channel: "] == {"channel": ""}
    assert value(found, "candidate", "accuracy") == 0.5
    assert value(found, "candidate", "accuracy", "language: en") == pytest.approx(2 / 3)
    assert value(found, "candidate", "accuracy", "language: zh") == 0.0
    assert value(found, "candidate", "accuracy", "channel: ") == 1.0


def test_crosses_have_each_combination_that_a_row_has():
    rows = dataclasses.replace(ROWS, crosses=[("language", "channel")])
    found = evaluation.of_labels(rows, {"candidate": answers(["fee"] * 4)}, gate())
    crossed = {w: n for w, n in found["rows"].items() if "language" in w and "," in w}
    assert crossed == {
        "language: en, channel: ": 1,
        "language: en, channel: 2": 1,
        "language: en, channel: app": 1,
        "language: zh, channel: app": 1,
    }
    assert found["slices"]["language: zh, channel: app"] == {
        "language": "zh",
        "channel": "app",
    }


def test_value_that_reads_like_a_cross_hides_no_slice_from_the_gate():
    columns = {"a": ["1, b: 2", "1", "1", "2"], "b": ["9", "2", "2", "9"]}
    rows = dataclasses.replace(ROWS, columns=columns, crosses=[("a", "b")])
    bounds = gate(slices={"a": gate(floors={"accuracy": 0.5})}, min_slice_rows=1)
    given = {"candidate": answers(["late", "fee", "late", "lost"])}
    found = evaluation.of_labels(rows, given, bounds)
    assert sum(n for where, n in found["rows"].items() if where != "Overall") == 12
    failed = [c["slice"] for c in found["checks"] if c["passed"] is False]
    assert failed == ["a: 1, b: 2"]
    assert found["slices"]["a: 1, b: 2"] == {"a": "1, b: 2"}


def test_of_many_small_slices_the_largest_are_shown_and_the_others_counted():
    values = [str(n) for n in range(150)] + ["3", "149"]
    rows = Rows(["1"] * 152, ["a"] * 152, ["fee"] * 152, {"product": values})
    found = evaluation.of_labels(
        rows, {"candidate": answers(["fee"] * 152)}, gate(min_slice_rows=3)
    )
    assert len(found["rows"]) == 1 + evaluation.SLICES_OF_FEW_ROWS
    assert found["rows"]["product: 149"] == 2
    assert found["left_out"] == {"product": 50}


def test_models_with_other_labels_are_compared_by_name():
    given = {
        "candidate": answers(["fee", "fee", "late", "lost"], NAMES[::-1]),
        "baseline": answers(["late", "late", "late", "fee"], ("fee", "late")),
    }
    found = evaluation.of_labels(ROWS, given, gate())
    assert value(found, "candidate", "accuracy") == 1.0
    assert value(found, "baseline", "accuracy") == 0.25
    assert value(found, "baseline", "accuracy", key="differences") == 0.75
    assert found["unknown_labels"] == {"candidate": {}, "baseline": {"lost": 1}}


def test_labels_and_confusions_are_told_the_worst_first():
    given = {"candidate": answers(["late", "late", "late", "fee"])}
    found = evaluation.of_labels(ROWS, given, gate())
    assert found["confusions"] == [
        {"model": "candidate", "label": "fee", "prediction": "late", "rows": 2},
        {"model": "candidate", "label": "lost", "prediction": "fee", "rows": 1},
    ]
    late = next(entry for entry in found["labels"] if entry["label"] == "late")
    assert (late["model"], late["rows"]) == ("candidate", 1)
    assert late["precision"]["value"] == 1 / 3
    # A draw without the row has no recall.
    assert late["recall"] == {"value": 1.0, "low": None, "high": None}


def test_gate_decides_and_says_why():
    given = {"candidate": answers(["fee", "fee", "late", "late"])}
    refused = evaluation.of_labels(ROWS, given, gate(floors={"accuracy": 0.9}))
    assert refused["blessed"] is False
    assert "accuracy 0.7500" in refused["checks"][0]["in_words"]
    assert "is below the floor 0.9000" in refused["checks"][0]["in_words"]
    passed = evaluation.of_labels(ROWS, given, gate(floors={"accuracy": 0.1}))
    assert passed["blessed"] is True


def test_bounds_on_labels_take_part_in_the_verdict():
    given = {"candidate": answers(["fee", "fee", "late", "late"] * 50)}
    fifty = dataclasses.replace(
        ROWS,
        **{
            name: list(getattr(ROWS, name)) * 50
            for name in ("example_ids", "sources", "targets")
        },
        columns={},
    )
    settings = gate(
        floors={"accuracy": 0.5},
        labels={"*": gate(floors={"recall": 0.5}), "fee": gate(floors={"f1": 1.0})},
    )
    found = evaluation.of_labels(fifty, given, settings)
    assert [(c["slice"], c["metric"], c["passed"]) for c in found["checks"]] == [
        ("label: lost", "recall", False),
        ("Overall", "accuracy", True),
        ("label: fee", "f1", True),
        ("label: late", "recall", True),
    ]
    assert found["blessed"] is False


def test_examples_are_those_that_tell_the_most():
    given = {
        "candidate": answers(["fee", "late", "late", "lost"]),
        "baseline": answers(["late", "fee", "late", "lost"]),
    }
    found = evaluation.of_labels(ROWS, given, gate())["examples"]
    assert found["metric"] == "probability of the true label"
    assert [row["example_id"] for row in found["gained"]] == ["1"]
    assert [row["example_id"] for row in found["lost"]] == ["2"]
    scores = found["lost"][0]["scores"]
    assert scores == pytest.approx({"candidate": 0.1, "baseline": 0.8})


def test_outcome_is_json_without_nan():
    given = {name: answers(["fee"] * 4) for name in ("candidate", "baseline")}
    settings = gate(
        floors={"auc": 0.5},
        max_drop={"accuracy": 0.1},
        slices={"language": gate(floors={"accuracy": 0.2})},
    )
    found = evaluation.of_labels(ROWS, given, settings)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert value(found, "candidate", "auc", "language: zh") is None


def test_same_rows_give_the_same_outcome():
    given = {"candidate": answers(["fee", "late", "late", "lost"])}
    settings = gate(floors={"accuracy": 0.2})
    first, second = (evaluation.of_labels(ROWS, given, settings) for _ in range(2))
    assert first == second


def test_written_texts_are_scored_against_source_and_references():
    rows = Rows(
        ["1", "2"],
        ["My card was lost in Porto.", "The fee is too high."],
        ["Card lost.\x1eLost card in Porto.", "High fee."],
        {"language": ["en", "en"]},
    )
    given = {
        "candidate": written("Lost card in Porto.", ""),
        "baseline": written("Lost card in Lisbon.", "High fee."),
    }
    settings = gate(ceilings={"empty": 0.1}, max_drop={"rouge_l": 0.1})
    found = evaluation.of_texts(rows, given, settings)
    assert value(found, "candidate", "rouge_l") == 0.5
    assert value(found, "candidate", "empty", "language: en") == 0.5
    assert value(found, "baseline", "unseen_names") == 0.5
    assert [c["metric"] for c in found["checks"] if c["passed"] is False] == [
        "empty",
        "rouge_l",
    ]
    assert json.loads(json.dumps(found, allow_nan=False)) == found
