"""Two models' answers to the same rows: whether they are, and their scores. Pure."""

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from components.evaluator import bootstrap, by_label, shown_examples
from components.evaluator.bootstrap import Scores
from components.evaluator.gate import BASELINE, CANDIDATE
from components.evaluator.rows import Rows
from components.evaluator.scores import classification, summarization
from components.evaluator.scores.sheet import Metric, Sheet
from components.report.comparison.answered import Answered
from trainer_module.settings import Task

A, B = "A", "B"
SIGNED_CONFIDENCE = "confidence of the answer, counted below zero where it is wrong"


class NotPaired(Exception):
    """The two have not answered the same questions; the message says how far not."""


@dataclasses.dataclass(frozen=True)
class Pair:
    """The answers of two models to the same rows, in the same order.

    Attributes:
      task: of both.
      a, b: equal in ids, sources and targets; the columns may differ.
    """

    task: Task
    a: Answered
    b: Answered

    @property
    def rows(self) -> Rows:
        return self.b.rows

    @property
    def metrics(self) -> list[Metric]:
        """Those that follow from what is kept of the answers."""
        if self.task == "classification":
            return classification.METRICS_OF_PREDICTIONS
        return summarization.METRICS

    @property
    def labels(self) -> list[str]:
        """All that a row has or a model answers."""
        named = (self.rows.targets, self.a.predictions, self.b.predictions)
        return sorted({label for labels in named for label in labels})

    @functools.cached_property
    def sheets(self) -> dict[str, Sheet]:
        return {A: self._sheet(self.a), B: self._sheet(self.b)}

    def _sheet(self, of: Answered) -> Sheet:
        rows = self.rows
        if self.task == "classification":
            return classification.sheet_of_predictions(
                rows.targets, of.predictions, of.sure or [], self.labels
            )
        return summarization.sheet(rows.sources, rows.targets, of.predictions)


def pair(a: Answered, b: Answered, task: Task) -> Pair:
    """Lays the answers side by side, by the ids of their rows.

    Raises:
      NotPaired: if they are not to the same rows with the same texts and references.
    """
    place = {row_id: n for n, row_id in enumerate(a.rows.example_ids)}
    shared = [row_id for row_id in b.rows.example_ids if row_id in place]
    if not len(shared) == len(place) == len(b.rows.example_ids):
        raise NotPaired(
            f"they answered other eval rows: A {len(place):,} and B "
            f"{len(b.rows.example_ids):,}, of which {len(shared):,} are the same."
        )
    ordered = a.of([place[row_id] for row_id in b.rows.example_ids])
    for what, mine, other in (
        ("text", ordered.rows.sources, b.rows.sources),
        ("reference", ordered.rows.targets, b.rows.targets),
    ):
        changed = sum(x != y for x, y in zip(mine, other, strict=True))
        if changed:
            raise NotPaired(
                f"{changed:,} of the {len(shared):,} eval rows have the same id and "
                f"another {what}."
            )
    if task == "classification" and (ordered.sure is None or b.sure is None):
        raise NotPaired("answers of one run are kept without their probabilities.")
    return Pair(task, ordered, b)


def score(
    pair: Pair, slices: Mapping[str, Mapping[str, str]], *, confidence: float
) -> dict[str, Scores]:
    """The scores of "A" and "B" by slice.

    Args:
      slices: {name: {column: value}}. One without rows, or whose rows are not the same
        in both runs, is passed over: whether train has a value may have changed.
    """
    sheets, metrics = pair.sheets, pair.metrics
    found = {}
    for name, key in slices.items():
        chosen = _chosen(pair.a.rows, key)
        if not chosen.any() or (chosen != _chosen(pair.b.rows, key)).any():
            continue
        numbers = np.flatnonzero(chosen)
        of_slice = {model: sheet.only(numbers) for model, sheet in sheets.items()}
        found[name] = bootstrap.score(of_slice, metrics, confidence=confidence)
    return found


def score_labels(pair: Pair, *, confidence: float) -> dict[str, Scores]:
    """The scores of "A" and "B" by label; none of models that write."""
    if pair.task != "classification":
        return {}
    return by_label.score(
        pair.rows.targets,
        pair.sheets,
        pair.labels,
        confidence=confidence,
        draws=bootstrap.DRAWS,
    )


def examples(pair: Pair) -> dict[str, Any]:
    """The rows on which the two differ most; see `shown_examples.choose`.

    "candidate" stands for B, and "baseline" for A.
    """
    metric = SIGNED_CONFIDENCE if pair.task == "classification" else "rouge_l"
    return shown_examples.choose(
        pair.rows,
        {BASELINE: pair.a.answers, CANDIDATE: pair.b.answers},
        {BASELINE: _goodness(pair, A), CANDIDATE: _goodness(pair, B)},
        metric=metric,
    )


def _goodness(pair: Pair, side: str) -> np.ndarray:
    """float [rows], more is better."""
    if pair.task != "classification":
        return pair.sheets[side].of_rows("rouge_l")
    answered = pair.a if side == A else pair.b
    rows = zip(answered.predictions, pair.rows.targets, strict=True)
    right = [prediction == target for prediction, target in rows]
    return np.where(right, 1.0, -1.0) * np.array(answered.sure)


def _chosen(rows: Rows, key: Mapping[str, str]) -> np.ndarray:
    """bool [rows]: those of a slice."""
    chosen = np.ones(len(rows.targets), bool)
    for column, value in key.items():
        values = rows.columns.get(column, [None] * len(rows.targets))
        chosen &= np.array([v == value for v in values], bool)
    return chosen
