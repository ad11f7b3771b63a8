"""All that is known of some models' answers to the eval rows. Pure.

The outcome is plain data for JSON:

  rows        {slice: how many}
  slices      {slice: {column: value}}, what its rows have in common
  confidence  of the intervals, two-sided
  metrics     [{"slice", "model", "metric", "value", "low", "high"}], null for NaN
  differences  the same for what the candidate has more than each other "model"
  checks      of the gate: the fields of `Check`, and "in_words"
  blessed     whether the gate lets the candidate pass
  incomparable  {model: why the candidate cannot be held against it}
  left_out    {column: how many of its slices are not shown, the smallest ones}
  labels      a classifier's labels by name; see `by_label.table`
  confusions  [{"model", "label", "prediction", "rows"}], the worst first
  unknown_labels  {model: {label: rows}}: true labels that it has never learned
  examples    rows that tell the most; see `shown_examples.choose`
"""

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from components.evaluator import (
    bootstrap,
    by_label,
    gate,
    plain,
    shown_examples,
    slices,
)
from components.evaluator.bootstrap import Scores
from components.evaluator.checks import Check
from components.evaluator.gate import CANDIDATE, Gate, Key
from components.evaluator.rows import Rows
from components.evaluator.scores import classification, summarization
from components.evaluator.scores.classification import Answers
from components.evaluator.scores.sheet import Metric, Sheet

SLICES_OF_FEW_ROWS = 100  # Of each column; more would hide what matters.


def of_labels(
    rows: Rows,
    answers: Mapping[str, Answers],
    the_gate: Gate,
    incomparable: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The evaluation of classifiers.

    Args:
      answers: by model; `gate.CANDIDATE` among them.
      incomparable: see `gate.decide`.
    """
    incomparable = incomparable or {}
    known = [model.names for model in answers.values()]
    predicted = [model.predictions for model in answers.values()]
    names = sorted({*rows.targets, *itertools.chain(*known, *predicted)})
    sheets = {
        model: classification.sheet(rows.targets, given, names)
        for model, given in answers.items()
    }
    of_label = by_label.score(
        rows.targets,
        sheets,
        names,
        confidence=the_gate.confidence,
        draws=the_gate.draws,
    )
    checks = gate.decide_labels(
        the_gate, of_label, by_label.METRICS, incomparable=incomparable
    )
    metrics = classification.METRICS
    found = _evaluate(rows, sheets, metrics, the_gate, incomparable, checks)
    likely = {
        model: np.exp(-sheet.of_rows("surprise")) for model, sheet in sheets.items()
    }
    return {
        **found,
        "labels": list(by_label.table(of_label)),
        "confusions": list(by_label.confusions(rows.targets, answers)),
        "unknown_labels": by_label.unknown(rows.targets, answers),
        "examples": shown_examples.choose(
            rows, answers, likely, metric="probability of the true label"
        ),
    }


def of_texts(
    rows: Rows,
    answers: Mapping[str, Answers],
    the_gate: Gate,
    incomparable: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The evaluation of models that write.

    Args:
      answers: by model; `gate.CANDIDATE` among them.
      incomparable: see `gate.decide`.
    """
    sheets = {
        model: summarization.sheet(rows.sources, rows.targets, given.predictions)
        for model, given in answers.items()
    }
    metrics = summarization.METRICS
    found = _evaluate(rows, sheets, metrics, the_gate, incomparable or {})
    likeness = {model: sheet.of_rows("rouge_l") for model, sheet in sheets.items()}
    examples = shown_examples.choose(rows, answers, likeness, metric="rouge_l")
    return {**found, "examples": examples}


def without_answers(rows: int, the_gate: Gate) -> dict[str, Any]:
    """The evaluation of a candidate that gives none: nothing is known, nothing passes.

    Args:
      rows: of the eval split.
    """
    return {
        "rows": {slices.OVERALL: rows},
        "slices": {slices.OVERALL: {}},
        "left_out": {},
        "confidence": the_gate.confidence,
        "metrics": [],
        "differences": [],
        "checks": [],
        "blessed": False,
        "incomparable": {},
    }


def _evaluate(
    rows: Rows,
    sheets: Mapping[str, Sheet],
    metrics: Sequence[Metric],
    the_gate: Gate,
    incomparable: Mapping[str, str],
    more_checks: Sequence[Check] = (),
) -> dict[str, Any]:
    found, left_out = _slices(rows, the_gate.min_slice_rows)
    keys = {where: key for where, (key, _) in found.items()}
    scores = {
        where: bootstrap.score(
            {model: sheet.only(chosen) for model, sheet in sheets.items()},
            metrics,
            confidence=the_gate.confidence,
            draws=the_gate.draws,
        )
        for where, (_, chosen) in found.items()
    }
    checks = gate.decide(
        the_gate, scores, metrics, keys=keys, incomparable=incomparable
    )
    checks = gate.failed_first([*checks, *more_checks])
    return {
        "rows": {where: of_slice.rows for where, of_slice in scores.items()},
        "slices": {where: dict(key) for where, key in keys.items()},
        "left_out": left_out,
        "confidence": the_gate.confidence,
        "metrics": list(_values(scores, metrics)),
        "differences": list(_differences(scores, metrics)),
        "checks": [plain.check(check) for check in checks],
        "blessed": gate.blessed(checks),
        "incomparable": dict(incomparable),
    }


def _slices(
    rows: Rows, min_slice_rows: int
) -> tuple[dict[str, tuple[Key, np.ndarray]], dict[str, int]]:
    """(key, numbers of its rows) of each slice by its name, all rows first; and how
    many are not given, of each column: of those too small to be judged only the largest
    are."""
    found: dict[str, tuple[Key, np.ndarray]] = {
        slices.OVERALL: ((), np.arange(len(rows.targets)))
    }
    left_out = {}
    for columns in (*((column,) for column in rows.columns), *rows.crosses):
        slices_of = _slices_of(rows, columns)
        small = [s for s, chosen in slices_of.items() if len(chosen) < min_slice_rows]
        small.sort(key=lambda key: -len(slices_of[key]))
        for key in small[SLICES_OF_FEW_ROWS:]:
            del slices_of[key]
        if more := len(small[SLICES_OF_FEW_ROWS:]):
            left_out[slices.CROSS.join(columns)] = more
        by_name = {slices.name(key): key for key in slices_of}
        for name in slices.in_order(by_name):
            found[_free(name, found)] = (by_name[name], slices_of[by_name[name]])
    return found, left_out


def _free(name: str, taken: Collection[str]) -> str:
    """The name, changed if another slice has it: a value can read like a cross."""
    while name in taken:
        name += " (crossed)"
    return name


def _slices_of(rows: Rows, columns: Sequence[str]) -> dict[Key, np.ndarray]:
    """The rows of each combination of values that occurs."""
    numbers: dict[Key, list[int]] = {}
    values = zip(*(rows.columns[column] for column in columns), strict=True)
    for number, combination in enumerate(values):
        key = tuple(zip(columns, combination, strict=True))
        numbers.setdefault(key, []).append(number)
    return {key: np.array(chosen) for key, chosen in numbers.items()}


def _values(
    scores: Mapping[str, Scores], metrics: Sequence[Metric]
) -> Iterator[dict[str, Any]]:
    for where, found in scores.items():
        for model, metric in itertools.product(found.models, metrics):
            key = {"slice": where, "model": model, "metric": metric.name}
            yield {**key, **plain.numbers(found.of(model, metric.name))}


def _differences(
    scores: Mapping[str, Scores], metrics: Sequence[Metric]
) -> Iterator[dict[str, Any]]:
    for where, found in scores.items():
        others = [model for model in found.models if model != CANDIDATE]
        for model, metric in itertools.product(others, metrics):
            key = {"slice": where, "model": model, "metric": metric.name}
            difference = found.difference(CANDIDATE, model, metric.name)
            yield {**key, **plain.numbers(difference)}
