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
  labels      [{"model", "label", "precision", "recall", "f1", "rows"}], by name
  confusions  [{"model", "label", "prediction", "rows"}], the worst first
  unknown_labels  {model: {label: rows}}: true labels that it has never learned
"""

import dataclasses
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from components.evaluator import bootstrap, gate, slices
from components.evaluator.bootstrap import Interval, Scores
from components.evaluator.checks import Check
from components.evaluator.gate import CANDIDATE, Gate, Key
from components.evaluator.scores import classification, summarization
from components.evaluator.scores.classification import Answers
from components.evaluator.scores.sheet import Metric, Sheet
from trainer_module.scoring import labels

CONFUSIONS_KEPT = 50
SLICES_OF_FEW_ROWS = 100  # Of each column; more would hide what matters.


@dataclasses.dataclass(frozen=True)
class Rows:
    """The eval split.

    Attributes:
      sources: what the models read.
      targets: labels, or references; see `texts.split_references`.
      columns: by name, the value of each row, that it can be sliced by.
      crosses: pairs of columns, whose values are crossed.
    """

    sources: Sequence[str]
    targets: Sequence[str]
    columns: Mapping[str, Sequence[str]]
    crosses: Sequence[tuple[str, str]] = ()


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
    known = [model.names for model in answers.values()]
    predicted = [model.predictions for model in answers.values()]
    names = sorted({*rows.targets, *itertools.chain(*known, *predicted)})
    sheets = {
        model: classification.sheet(rows.targets, given, names)
        for model, given in answers.items()
    }
    counts = {
        model: Counter(zip(rows.targets, given.predictions, strict=True))
        for model, given in answers.items()
    }
    return {
        **_evaluate(rows, sheets, classification.METRICS, the_gate, incomparable or {}),
        "labels": list(_by_label(counts)),
        "confusions": list(_confusions(counts)),
        "unknown_labels": {
            model: dict(Counter(t for t in rows.targets if t not in set(given.names)))
            for model, given in answers.items()
        },
    }


def of_texts(
    rows: Rows,
    answers: Mapping[str, Sequence[str]],
    the_gate: Gate,
    incomparable: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The evaluation of models that write.

    Args:
      answers: by model, what it wrote for each row; `gate.CANDIDATE` among them.
      incomparable: see `gate.decide`.
    """
    sheets = {
        model: summarization.sheet(rows.sources, rows.targets, texts)
        for model, texts in answers.items()
    }
    return _evaluate(rows, sheets, summarization.METRICS, the_gate, incomparable or {})


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
) -> dict[str, Any]:
    found, left_out = _slices(rows, the_gate.min_slice_rows)
    keys = {slices.name(key): key for key, _ in found}
    scores = {
        slices.name(key): bootstrap.score(
            {model: sheet.only(chosen) for model, sheet in sheets.items()},
            metrics,
            confidence=the_gate.confidence,
            draws=the_gate.draws,
        )
        for key, chosen in found
    }
    checks = gate.decide(
        the_gate, scores, metrics, keys=keys, incomparable=incomparable
    )
    return {
        "rows": {where: of_slice.rows for where, of_slice in scores.items()},
        "slices": {where: dict(key) for where, key in keys.items()},
        "left_out": left_out,
        "confidence": the_gate.confidence,
        "metrics": list(_values(scores, metrics)),
        "differences": list(_differences(scores, metrics)),
        "checks": [_plain(check) for check in checks],
        "blessed": gate.blessed(checks),
        "incomparable": dict(incomparable),
    }


def _slices(
    rows: Rows, min_slice_rows: int
) -> tuple[list[tuple[Key, np.ndarray]], dict[str, int]]:
    """(key, numbers of its rows) of each slice, all rows first; and how many are not
    given, of each column: of those too small to be judged only the largest are."""
    found: list[tuple[Key, np.ndarray]] = [((), np.arange(len(rows.targets)))]
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
            found.append((by_name[name], slices_of[by_name[name]]))
    return found, left_out


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
            yield {**key, **_numbers(found.of(model, metric.name))}


def _differences(
    scores: Mapping[str, Scores], metrics: Sequence[Metric]
) -> Iterator[dict[str, Any]]:
    for where, found in scores.items():
        others = [model for model in found.models if model != CANDIDATE]
        for model, metric in itertools.product(others, metrics):
            key = {"slice": where, "model": model, "metric": metric.name}
            difference = found.difference(CANDIDATE, model, metric.name)
            yield {**key, **_numbers(difference)}


def _plain(check: Check) -> dict[str, Any]:
    plain = {**vars(check), "in_words": check.in_words()}
    for name in ("score", "difference"):
        if plain[name] is not None:
            plain[name] = _numbers(plain[name])
    if plain["other"] is not None and not math.isfinite(plain["other"]):
        plain["other"] = None
    return plain


def _numbers(interval: Interval) -> dict[str, float | None]:
    """JSON has no NaN."""
    return {
        name: value if math.isfinite(value) else None
        for name, value in interval._asdict().items()
    }


def _by_label(counts: Mapping[str, labels.Pairs]) -> Iterator[dict[str, Any]]:
    for model, pairs in counts.items():
        for label, score in labels.by_label(pairs).items():
            yield {"model": model, "label": label, **score._asdict()}


def _confusions(counts: Mapping[str, labels.Pairs]) -> Iterator[dict[str, Any]]:
    for model, pairs in counts.items():
        wrong = [(-n, *pair) for pair, n in pairs.items() if pair[0] != pair[1]]
        for less, label, prediction in sorted(wrong)[:CONFUSIONS_KEPT]:
            yield {
                "model": model,
                "label": label,
                "prediction": prediction,
                "rows": -less,
            }
