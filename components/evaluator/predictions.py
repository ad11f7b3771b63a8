"""The answers of all models to each eval row, as JSON lines. Pure.

One line a row: {"example_id", "source", "target", "columns": {name: value}, "answers":
{model: {"prediction", "score"}}}; the score is the probability of the prediction, null
of a model that writes.
"""

import json
from collections.abc import Iterator, Mapping, Sequence

from components.evaluator.evaluation import Rows
from components.evaluator.scores.classification import Answers

PREDICTIONS_FILE = "predictions.jsonl"


def lines(
    rows: Rows, example_ids: Sequence[str], answers: Mapping[str, Answers]
) -> Iterator[str]:
    """Yields the lines, each with its line end."""
    scores = {model: _scores(given) for model, given in answers.items()}
    for row, example_id in enumerate(example_ids):
        line = {
            "example_id": example_id,
            "source": rows.sources[row],
            "target": rows.targets[row],
            "columns": {name: values[row] for name, values in rows.columns.items()},
            "answers": {
                model: {
                    "prediction": given.predictions[row],
                    "score": scores[model][row],
                }
                for model, given in answers.items()
            },
        }
        # Lone surrogates stand for bytes that are not UTF-8; no file takes them bare.
        yield json.dumps(line) + "\n"


def _scores(answers: Answers) -> list[float | None]:
    if not len(answers.names):
        return [None] * len(answers.predictions)
    return [float(score) for score in answers.scores.max(axis=1)]
