"""The rows of the eval split that tell a reader the most. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from components.evaluator import predictions
from components.evaluator.gate import BASELINE, CANDIDATE, UNTUNED
from components.evaluator.rows import Rows
from components.evaluator.scores.classification import Answers

EACH = 10
MOST_CHARACTERS = 2000
CUT = " …"


def choose(
    rows: Rows,
    answers: Mapping[str, Answers],
    scores: Mapping[str, np.ndarray],
    *,
    metric: str,
) -> dict[str, Any]:
    """The rows answered best and worst, and those answered otherwise than before.

    Args:
      answers: by model.
      scores: by model, of each row; more is better.
      metric: what the scores are, in words.

    Returns:
      {"metric", "compared_with": model or None, "best", "worst", "gained", "lost"}:
      the last four are up to `EACH` rows, as `predictions.line` gives them with
      "scores": {model: score}; "gained" and "lost" have changed most against the other
      model. Texts are cut and can be written as UTF-8.
    """
    own = scores[CANDIDATE]
    by_score = np.argsort(own, kind="stable").tolist()
    worst = by_score[:EACH]
    best = [row for row in reversed(by_score) if row not in worst][:EACH]
    other = next((name for name in (BASELINE, UNTUNED) if name in scores), None)
    gained: list[int] = []
    lost: list[int] = []
    if other is not None:
        more = own - scores[other]
        by_change = np.argsort(more, kind="stable").tolist()
        lost = [row for row in by_change if more[row] < 0][:EACH]
        gained = [row for row in reversed(by_change) if more[row] > 0][:EACH]

    def shown(chosen: Iterable[int]) -> list[dict[str, Any]]:
        return [_shown(rows, row, answers, scores) for row in chosen]

    return {
        "metric": metric,
        "compared_with": other,
        "best": shown(best),
        "worst": shown(worst),
        "gained": shown(gained),
        "lost": shown(lost),
    }


def _shown(
    rows: Rows,
    row: int,
    answers: Mapping[str, Answers],
    scores: Mapping[str, np.ndarray],
) -> dict[str, Any]:
    line = predictions.line(rows, row, answers)
    of_row = {model: float(values[row]) for model, values in scores.items()}
    return {**_cut(line), "scores": of_row}


def _cut(value: Any) -> Any:
    """The same with every text in it cut, and without lone surrogates."""
    if isinstance(value, str):
        text = value.encode("utf-8", "replace").decode("utf-8")
        return text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS] + CUT
    if isinstance(value, Mapping):
        return {key: _cut(part) for key, part in value.items()}
    if isinstance(value, Sequence):
        return [_cut(part) for part in value]
    return value
