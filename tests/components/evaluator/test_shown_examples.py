"""Which rows a reader is shown, and that any text can be."""

import json

import numpy as np

from components.evaluator import shown_examples
from components.evaluator.rows import Rows
from components.evaluator.scores.classification import Answers


def choose(scores, texts=None):
    """Of rows numbered from 0, by their scores of each model."""
    count = len(scores["candidate"])
    texts = texts or ["text"] * count
    rows = Rows([str(n) for n in range(count)], texts, ["fee"] * count, {})
    answers = {
        model: Answers(["fee"] * count, ["fee"], np.array(of_rows)[:, None])
        for model, of_rows in scores.items()
    }
    arrays = {model: np.array(of_rows) for model, of_rows in scores.items()}
    return shown_examples.choose(rows, answers, arrays, metric="accuracy")


def ids(rows):
    return [int(row["example_id"]) for row in rows]


def test_best_and_worst_are_told_from_the_end_and_never_twice():
    found = choose({"candidate": [n / 15 for n in range(15)]})
    assert ids(found["worst"]) == list(range(10))
    assert ids(found["best"]) == [14, 13, 12, 11, 10]
    assert found["best"][0]["scores"] == {"candidate": 14 / 15}


def test_changes_are_against_the_baseline_and_without_one_the_untuned():
    candidate, baseline = [0.1, 0.9, 0.5, 0.6], [0.2, 0.2, 0.5, 0.4]
    untuned = [0.0, 0.0, 1.0, 0.0]
    found = choose({"candidate": candidate, "untuned": untuned, "baseline": baseline})
    assert found["compared_with"] == "baseline"
    assert (ids(found["gained"]), ids(found["lost"])) == ([1, 3], [0])
    found = choose({"candidate": candidate, "untuned": untuned})
    assert found["compared_with"] == "untuned"
    assert (ids(found["gained"]), ids(found["lost"])) == ([1, 3, 0], [2])


def test_candidate_alone_has_no_changes():
    found = choose({"candidate": [0.1, 0.9]})
    assert (found["compared_with"], found["gained"], found["lost"]) == (None, [], [])


def test_long_texts_are_cut_and_every_text_can_be_written():
    found = choose({"candidate": [0.1, 0.9]}, ["x" * 140_000, "\udcff卡"])
    shown = {row["example_id"]: row["source"] for row in found["worst"]}
    assert shown["0"] == "x" * 2000 + " …"
    assert shown["1"] == "?卡"
    json.dumps(found, ensure_ascii=False).encode("utf-8")
