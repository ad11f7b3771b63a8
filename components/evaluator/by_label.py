"""What is known of a classifier's labels one by one. Pure."""

import dataclasses
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from components.evaluator import bootstrap
from components.evaluator.bootstrap import Scores
from components.evaluator.plain import numbers
from components.evaluator.scores import classification
from components.evaluator.scores.classification import Answers
from components.evaluator.scores.facts import OF_LABEL
from components.evaluator.scores.sheet import Sheet

CONFUSIONS_KEPT = 50
METRICS = classification.metrics_of_label(0, 1)  # As the gate reads them.


def score(
    targets: Sequence[str],
    sheets: Mapping[str, Sheet],
    labels: Sequence[str],
    *,
    confidence: float,
    draws: int,
) -> dict[str, Scores]:
    """The scores of each label; their `rows` are those that truly have it.

    Args:
      labels: all, in the order of the sheets' sums.
    """
    every = {
        name: {
            metric.name: dataclasses.replace(metric, name=f"{metric.name} {number}")
            for metric in classification.metrics_of_label(number, len(labels))
        }
        for number, name in enumerate(labels)
    }
    found = bootstrap.score(
        {model: sheet.block("labels") for model, sheet in sheets.items()},
        [metric for of_label in every.values() for metric in of_label.values()],
        confidence=confidence,
        draws=draws,
    )
    rows = Counter(targets)
    return {
        label: found.renamed({m.name: name for name, m in of.items()}, rows[label])
        for label, of in every.items()
    }


def table(scores: Mapping[str, Scores]) -> Iterator[dict[str, Any]]:
    """Yields {"label", "rows", "model", and for each metric its interval}."""
    for label, found in scores.items():
        for model in found.models:
            yield {
                "label": label,
                "rows": found.rows,
                "model": model,
                **{name: numbers(found.of(model, name)) for name in OF_LABEL},
            }


def confusions(
    targets: Sequence[str], answers: Mapping[str, Answers]
) -> Iterator[dict[str, Any]]:
    """Yields the pairs that each model takes for one another, the worst first."""
    for model, given in answers.items():
        pairs = Counter(zip(targets, given.predictions, strict=True))
        wrong = [(-n, *pair) for pair, n in pairs.items() if pair[0] != pair[1]]
        for less, label, prediction in sorted(wrong)[:CONFUSIONS_KEPT]:
            yield {
                "model": model,
                "label": label,
                "prediction": prediction,
                "rows": -less,
            }


def unknown(
    targets: Sequence[str], answers: Mapping[str, Answers]
) -> dict[str, dict[str, int]]:
    """{model: {label: rows}}: of the true labels that it has never learned."""
    known = {model: set(given.names) for model, given in answers.items()}
    return {
        model: dict(Counter(itertools.filterfalse(names.__contains__, targets)))
        for model, names in known.items()
    }
