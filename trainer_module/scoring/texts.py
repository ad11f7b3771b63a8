"""Scores of many written texts."""

from collections.abc import Iterable

from trainer_module.features import REFERENCE_SEPARATOR
from trainer_module.scoring import rouge


def split_references(target: str) -> list[str]:
    return target.split(REFERENCE_SEPARATOR)


def exact_match(references: Iterable[str], prediction: str) -> bool:
    """Whether the text is one of the references, but for its white space."""
    written = prediction.split()
    return any(reference.split() == written for reference in references)


def score_texts(targets: Iterable[str], predictions: Iterable[str]) -> dict[str, float]:
    """Mean F1 of each of `rouge.TYPES`, as the Evaluator reports it; NaN without rows.

    Args:
      targets: each one reference or several; see `split_references`.
      predictions: as many texts.
    """
    of_rows = [
        rouge.scores(split_references(target), prediction)
        for target, prediction in zip(targets, predictions, strict=True)
    ]
    if not of_rows:
        return dict.fromkeys(rouge.TYPES, float("nan"))
    return {
        name: sum(scores[name].f1 for scores in of_rows) / len(of_rows)
        for name in rouge.TYPES
    }
