"""The page of a run: plain values in, one self-contained HTML page out. Pure.

`render` takes what is known of a run. Every key may be missing or None: a run that
stopped early has no metrics, and the page says so instead of showing nothing.

  title          name of the job
  pushed         pushed.json of the Pusher
  model_blessed  whether the gate blessed the model
  model_check    check.json of ModelCheck
  account        account.json of ExampleGen
  findings       the list in findings.json of DataGate
  text_statistics  text_statistics.json of DataGate
  evaluation     evaluation.json of the Evaluator
  history        one record for each epoch: epoch, loss, validation_loss, seconds
  lineage        {"task", "checkpoint", "hashes": {what: hash}}
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from components.evaluator import slices
from components.report import pages
from components.report.pages import NONE, count, number

TEMPLATE = "report.html.j2"

_PARTS_SHOWN = 4
_UNITS = {"seconds": "s", "mb": "MB"}


@dataclasses.dataclass(frozen=True)
class Verdict:
    """How the run ended, for a reader who reads nothing else.

    Attributes:
      kind: "good", "bad" or "open"; only its colour, the sentence says it all.
      sentence: what happened, and what is in production now.
      reasons: why, one sentence each.
    """

    kind: str
    sentence: str
    reasons: tuple[str, ...] = ()


def render(facts: Mapping[str, Any]) -> str:
    """The page. Text of the data is escaped, wherever it turns up."""
    return pages.render(
        TEMPLATE,
        title=facts.get("title") or "Run",
        verdict=verdict(facts),
        account=facts.get("account"),
        totals=account_totals(facts.get("account")),
        findings=facts.get("findings"),
        texts=text_rows(facts.get("text_statistics")),
        metrics=metric_tables(facts.get("evaluation")),
        checks=(facts.get("evaluation") or {}).get("checks"),
        history=facts.get("history"),
        model_check=facts.get("model_check"),
        figures=figure_rows(facts.get("model_check"), "figures"),
        limits=figure_rows(facts.get("model_check"), "limits"),
        lineage=lineage_rows(facts.get("lineage")),
    )


def verdict(facts: Mapping[str, Any]) -> Verdict:
    pushed = facts.get("pushed")
    if pushed is None:
        return _stopped_early(facts)
    if not pushed["pushed"]:
        return Verdict(
            "bad",
            "Not promoted: the model was refused, and production is unchanged.",
            tuple(_refusals(facts)) or tuple(pushed.get("reasons", ())),
        )
    version = pushed["version"]
    if pushed.get("created", True):
        return Verdict("good", f"Promoted: version {version} is the model to serve.")
    return Verdict(
        "good",
        f"Nothing to promote: version {version} in production is this very model.",
    )


def _stopped_early(facts: Mapping[str, Any]) -> Verdict:
    stops = tuple(
        finding["message"]
        for finding in facts.get("findings") or ()
        if finding.get("severity") == "stop"
    )
    if stops:
        sentence = "The data was refused: nothing was trained, production is unchanged."
        return Verdict("bad", sentence, stops)
    return Verdict("open", "The run stopped early. Production is unchanged.")


def _refusals(facts: Mapping[str, Any]) -> Iterable[str]:
    """Every reason not to push that is known, in words."""
    evaluation = facts.get("evaluation") or {}
    checks = evaluation.get("checks", ())
    of_gate = [c["in_words"] for c in checks if c["passed"] is False]
    if evaluation.get("refused"):
        of_gate.insert(0, evaluation["refused"])
    if not of_gate and facts.get("model_blessed") is False:
        of_gate = ["The gate did not bless the model, and gave no reason."]
    yield from of_gate
    yield from (facts.get("model_check") or {}).get("problems", ())


def account_totals(account: Mapping[str, Any] | None) -> dict[str, int]:
    """Sums over the files, in reading order."""
    files = (account or {}).get("files", ())
    return {
        "read": sum(file["rows_read"] for file in files),
        "kept": sum(file["kept"] for file in files),
        "rejected": sum(sum(file["rejected"].values()) for file in files),
        "left out": sum(file.get("left_out", 0) for file in files),
    }


@dataclasses.dataclass(frozen=True)
class TextRow:
    """The texts of one split: numbers as in text_statistics.json, shares in words."""

    split: str
    which: str
    rows: int
    tokens: Mapping[str, float | None]
    truncated: str
    unknown: str
    copies: str
    languages: str
    scripts: str


def text_rows(statistics: Mapping[str, Any] | None) -> list[TextRow]:
    """One row for the source and one for the target, of each split."""
    return [
        TextRow(
            split,
            which,
            of_split["rows"],
            groups["tokens"],
            _percent(groups["truncated"]["share"]),
            _percent(groups["unknown"]["share"]),
            _percent(groups["duplicates"]["share"]) if "duplicates" in groups else NONE,
            _parts(groups["languages"]),
            _parts(groups["scripts"]),
        )
        for split, of_split in (statistics or {}).items()
        for which, groups in of_split.items()
        if which != "rows"
    ]


def _parts(group: Mapping[str, Any]) -> str:
    """The largest shares; where there are none, why."""
    if "why_none" in group:
        return str(group["why_none"])
    parts = [f"{name} {_percent(s)}" for name, s in group["shares"].items()]
    return ", ".join(parts[:_PARTS_SHOWN]) + (", …" if parts[_PARTS_SHOWN:] else "")


def _percent(share: float) -> str:
    return f"{share:.1%}"


@dataclasses.dataclass(frozen=True)
class MetricRow:
    """One slice of one metric; None where there is no number."""

    slice: str
    examples: int | None
    candidate: float | None
    baseline: float | None


@dataclasses.dataclass(frozen=True)
class MetricTable:
    metric: str
    rows: Sequence[MetricRow]
    has_baseline: bool


def metric_tables(evaluation: Mapping[str, Any] | None) -> list[MetricTable] | None:
    """One table a metric, the overall row first; None if there was no evaluation."""
    if evaluation is None:
        return None
    examples = evaluation["rows"]
    values = {
        (m["metric"], m["slice"], m["model"]): m["value"] for m in evaluation["metrics"]
    }
    tables = []
    for metric in sorted({name for name, _, _ in values}):
        rows = [
            MetricRow(
                slice=where,
                examples=examples.get(where),
                candidate=values.get((metric, where, "candidate")),
                baseline=values.get((metric, where, "baseline")),
            )
            for where in slices.in_order(w for m, w, _ in values if m == metric)
        ]
        has_baseline = any(row.baseline is not None for row in rows)
        tables.append(MetricTable(metric, rows, has_baseline))
    return tables


def figure_rows(
    model_check: Mapping[str, Any] | None, key: str
) -> list[tuple[str, str]]:
    """(name in words, value with unit) of the "figures" or the "limits"."""
    named = (model_check or {}).get(key, {}).items()
    return [_in_words(name, value) for name, value in named]


def _in_words(name: str, value: float) -> tuple[str, str]:
    words = name.split("_")
    unit = _UNITS.get(words[-1])
    if unit:
        words.pop()
    shown = number(value, digits=0 if unit == "MB" else 3)
    if isinstance(value, int):
        shown = count(value)
    return " ".join(words), f"{shown} {unit}" if unit else shown


def lineage_rows(lineage: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """(what, which), of all that the model was made from."""
    lineage = lineage or {}
    rows = [(name, lineage.get(name)) for name in ("task", "checkpoint")]
    rows += [(f"{of} hash", value) for of, value in lineage.get("hashes", {}).items()]
    return [(name, str(value)) for name, value in rows if value]
