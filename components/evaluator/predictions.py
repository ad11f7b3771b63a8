"""The answers of all models to each eval row, as JSON lines. Pure."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from components.evaluator.rows import Rows
from components.evaluator.scores.classification import Answers

PREDICTIONS_FILE = "predictions.jsonl"


def lines(rows: Rows, answers: Mapping[str, Answers]) -> Iterator[str]:
    """Yields a line for each row, with its line end; see `line`."""
    for row in range(len(rows.example_ids)):
        # Lone surrogates stand for bytes that are not UTF-8; no file takes them bare.
        yield json.dumps(line(rows, row, answers)) + "\n"


def line(rows: Rows, row: int, answers: Mapping[str, Answers]) -> dict[str, Any]:
    """{"example_id", "source", "target", "columns": {name: value}, "answers": {model:
    {"prediction", "score"}}}; the score is the probability of the prediction, None of
    a model that writes."""
    return {
        "example_id": rows.example_ids[row],
        "source": rows.sources[row],
        "target": rows.targets[row],
        "columns": {name: values[row] for name, values in rows.columns.items()},
        "answers": {
            model: {"prediction": given.predictions[row], "score": _score(given, row)}
            for model, given in answers.items()
        },
    }


def read(written: Iterable[str], model: str) -> dict[str, str]:
    """{example_id: what a model answered}; without the rows that it did not answer.

    Args:
      written: what `lines` gave.
    """
    rows = map(json.loads, written)
    return {
        row["example_id"]: row["answers"][model]["prediction"]
        for row in rows
        if model in row["answers"]
    }


def _score(answers: Answers, row: int) -> float | None:
    return float(answers.scores[row].max()) if len(answers.names) else None
