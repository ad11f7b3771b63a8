"""An evaluation as the page of a run shows it. Pure.

Scores are {"value", "low", "high"}, as in evaluation.json; None where there is none.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from components.evaluator import slices
from components.evaluator.scores import facts

CANDIDATE = "candidate"
TITLES = {
    CANDIDATE: "Candidate",
    "baseline": "Baseline",
    "untuned": "Untuned checkpoint",
}
# Failed first: that is what a reader is after.
_ORDER = (False, None, True)
_KINDS = (
    ("best", "Best answers"),
    ("worst", "Worst answers"),
    ("gained", "Gained: much better than {other}"),
    ("lost", "Lost: much worse than {other}"),
)
_MEANINGS = {
    name: of_metric
    for task in facts.OF_TASK.values()
    for name, of_metric in task.items()
}

Score = Mapping[str, float | None]


@dataclasses.dataclass(frozen=True)
class Row:
    """A line of a table: a metric or a slice.

    Attributes:
      rows: of the eval split that it stands on.
      scores: by model.
      differences: by other model, what the candidate has more.
      meaning: of a metric, in words; empty for a slice.
    """

    name: str
    rows: int | None
    scores: Mapping[str, Score]
    differences: Mapping[str, Score]
    meaning: str = ""


@dataclasses.dataclass(frozen=True)
class Table:
    """Rows that share their models, which are in the order of the columns."""

    title: str
    meaning: str
    models: Sequence[str]
    others: Sequence[str]
    rows: Sequence[Row]


def metric_tables(evaluation: Mapping[str, Any] | None) -> list[Table] | None:
    """All metrics of all rows, then a table of slices for each metric that has some.

    None if there was no evaluation.
    """
    if evaluation is None:
        return None
    scores = _by_key(evaluation["metrics"])
    differences = _by_key(evaluation.get("differences", ()))
    metrics = list(dict.fromkeys(m["metric"] for m in evaluation["metrics"]))
    if not metrics:
        return []
    models = in_order(m["model"] for m in evaluation["metrics"])
    others = in_order(m["model"] for m in evaluation.get("differences", ()))

    def row(metric: str, where: str, name: str, meaning: str = "") -> Row:
        return Row(
            name=name,
            rows=evaluation["rows"].get(where),
            scores=scores.get((metric, where), {}),
            differences=differences.get((metric, where), {}),
            meaning=meaning,
        )

    overall = [row(m, slices.OVERALL, m, meaning(m)) for m in metrics]
    tables = [Table("All rows", "", models, others, overall)]
    for metric in metrics:
        places = slices.in_order(w for m, w in scores if m == metric)
        if set(places) <= {slices.OVERALL}:
            continue
        rows = [row(metric, where, where) for where in places]
        tables.append(Table(metric, meaning(metric), models, others, rows))
    return tables


def _by_key(
    values: Iterable[Mapping[str, Any]],
) -> dict[tuple[str, str], dict[str, Score]]:
    found: dict[tuple[str, str], dict[str, Score]] = {}
    for value in values:
        key = value["metric"], value["slice"]
        found.setdefault(key, {})[value["model"]] = value
    return found


def meaning(metric: str) -> str:
    """What a metric is and which way is better; empty for one that is not known."""
    known = _MEANINGS.get(metric)
    if known is None:
        return ""
    ways = {"high": "more is better", "low": "less is better"}
    return ", ".join(filter(None, [known.meaning, ways.get(known.best)]))


def in_order(models: Iterable[str]) -> list[str]:
    """The models without repetition, in the order of their columns."""
    found = set(models)
    return [m for m in TITLES if m in found] + sorted(found - set(TITLES))


@dataclasses.dataclass(frozen=True)
class CheckRow:
    passed: bool | None
    words: str
    rows: int | None
    rows_needed: int | None


def check_rows(evaluation: Mapping[str, Any] | None) -> list[CheckRow] | None:
    """The gate's checks, failed first; None if there was no evaluation."""
    if evaluation is None:
        return None
    checks = [
        CheckRow(c["passed"], c["in_words"], c.get("rows"), c.get("rows_needed"))
        for c in evaluation.get("checks", ())
    ]
    return sorted(checks, key=lambda check: _ORDER.index(check.passed))


@dataclasses.dataclass(frozen=True)
class LabelRow:
    """One label; `of` is {model: {"precision": score, "recall": ..., "f1": ...}}."""

    label: str
    rows: int
    of: Mapping[str, Mapping[str, Score]]


def label_rows(evaluation: Mapping[str, Any] | None) -> list[LabelRow]:
    """The labels of a classifier, the candidate's worst by F1 first."""
    found: dict[str, dict[str, Mapping[str, Score]]] = {}
    rows: dict[str, int] = {}
    for entry in (evaluation or {}).get("labels", ()):
        found.setdefault(entry["label"], {})[entry["model"]] = entry
        rows[entry["label"]] = entry["rows"]
    table = [LabelRow(label, rows[label], of) for label, of in found.items()]
    return sorted(table, key=_worst_first)


def _worst_first(row: LabelRow) -> tuple[bool, float]:
    value = (row.of.get(CANDIDATE, {}).get("f1") or {}).get("value")
    return value is None, value or 0.0


def confusions(
    evaluation: Mapping[str, Any] | None,
) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """(model, its pairs, the worst first), the candidate first."""
    pairs = list((evaluation or {}).get("confusions", ()))
    return [
        (model, [pair for pair in pairs if pair["model"] == model])
        for model in in_order(pair["model"] for pair in pairs)
    ]


def unknown_labels(
    evaluation: Mapping[str, Any] | None,
) -> list[tuple[str, str, int]]:
    """(model, label, rows) of the true labels that a model never learned."""
    by_model = (evaluation or {}).get("unknown_labels", {})
    return [
        (model, label, rows)
        for model in in_order(by_model)
        for label, rows in sorted(by_model[model].items())
    ]


def example_groups(
    evaluation: Mapping[str, Any] | None,
) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """(heading, rows of `shown_examples.choose`), without groups that are empty."""
    examples = (evaluation or {}).get("examples") or {}
    other = TITLES.get(examples.get("compared_with") or "", "").lower()
    return [
        (heading.format(other=f"the {other}"), examples[kind])
        for kind, heading in _KINDS
        if examples.get(kind)
    ]
