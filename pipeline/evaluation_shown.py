"""What the terminal shows of an evaluation: scores by slice, comparisons, refusals."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from trainer_module.settings import METRICS

Record = Mapping[str, Any]
OVERALL = "Overall"
_REASONS_SHOWN = 20
_HELD_SHOWN, _UNJUDGED_SHOWN = 5, 3
_OTHERS = {"baseline": "the model blessed last", "untuned": "the untuned checkpoint"}


def table(record: Record) -> Table:
    """The candidate's scores: the task's main metrics, and those of the gate."""
    evaluation = record["evaluation"]
    found = {
        (m["slice"], m["metric"]): m
        for m in evaluation["metrics"]
        if m["model"] == "candidate"
    }
    shown = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    shown.add_column("slice")
    shown.add_column("rows", justify="right")
    names = _names(record)
    for name in names:
        shown.add_column(name, justify="right")
    for where, rows in evaluation["rows"].items():
        cells = [_cell(found.get((where, name))) for name in names]
        shown.add_row(Text(where), f"{rows:,}", *cells)
    return shown


def comparisons(record: Record) -> Iterator[str]:
    """Yields a line for each other model: what the candidate has more, of all rows."""
    names = _names(record)
    found = record["evaluation"]["differences"]
    for model, called in _OTHERS.items():
        parts = [
            f"{d['metric']} {d['value']:+.4f} ({d['low']:+.4f} to {d['high']:+.4f})"
            for d in found
            if (d["model"], d["slice"]) == (model, OVERALL)
            and d["metric"] in names
            and d["low"] is not None
        ]
        if parts:
            yield f"Against {called}: {', '.join(parts)}"


def notes(evaluation: Mapping[str, Any]) -> Iterator[str]:
    """Yields what a reader of the scores has to know beside them."""
    yield from evaluation["notes"]
    yield from evaluation["incomparable"].values()
    unjudged = [c["in_words"] for c in evaluation["checks"] if c["passed"] is None]
    yield from (f"{words}." for words in unjudged[:_UNJUDGED_SHOWN])
    if more := len(unjudged[_UNJUDGED_SHOWN:]):
        yield f"{more:,} more bounds were not judged; the report has all."
    for column, slices in evaluation["left_out"].items():
        yield f"{slices:,} slices of few rows by {column} are not shown."
    unknown = evaluation.get("unknown_labels", {}).get("candidate", {})
    if unknown:
        labels = ", ".join(f"{name!r} ({rows})" for name, rows in unknown.items())
        yield f"Eval rows have labels that training never saw, so wrong: {labels}."


def why_not(record: Record) -> Sequence[str]:
    """Why a model was refused; never empty. Of very many reasons the report has all."""
    evaluation, check = record["evaluation"] or {}, record["model_check"] or {}
    failed = [c["in_words"] for c in evaluation.get("checks", ()) if _failed(c)]
    reasons, more = failed[:_REASONS_SHOWN], len(failed[_REASONS_SHOWN:])
    reasons += [f"{more:,} more bounds are missed; the report has all."] * bool(more)
    if evaluation.get("refused"):
        reasons.insert(0, evaluation["refused"])
    reasons += [f"ModelCheck: {_message(p)}" for p in check.get("problems") or []]
    return reasons or ["The Evaluator did not bless the model, without a reason."]


def why(record: Record) -> Sequence[str]:
    """What speaks for a model that was blessed; of very many checks the first ones."""
    checks = (record["evaluation"] or {}).get("checks", ())
    held = [c["in_words"] for c in checks if c["passed"]]
    more = len(held[_HELD_SHOWN:])
    rest = [f"{more:,} more bounds hold; the report has all."] * bool(more)
    return held[:_HELD_SHOWN] + rest


def _names(record: Record) -> list[str]:
    """Of the metrics that are shown; those of one label have no column."""
    config, evaluation = record["config"], record["evaluation"]
    of_slices = {entry["metric"] for entry in evaluation["metrics"]}
    gated = {check["metric"] for check in evaluation["checks"]} & of_slices
    return list(dict.fromkeys((*METRICS[config["task"]], *sorted(gated))))


def _cell(score: Mapping[str, Any] | None) -> Text:
    if score is None or score["value"] is None:
        return Text("-")
    text = Text(f"{score['value']:.4f}")
    if score["low"] is not None:
        text.append(f" ±{(score['high'] - score['low']) / 2:.2f}", style="dim")
    return text


def _failed(check: Mapping[str, Any]) -> bool:
    return check["passed"] is False


def _message(finding: Any) -> str:
    return finding["message"] if isinstance(finding, dict) else str(finding)
