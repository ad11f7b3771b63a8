"""The page of a comparison. Pure."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from components.evaluator import slices
from components.report import changes, core, curves, evaluation_shown, pages
from components.report.comparison import conclusions
from components.report.comparison.core import Comparison, Row, Side
from components.report.comparison.pairing import A, B
from components.report.pages import NONE, count, number

TEMPLATE = "compare.html.j2"
_GROUPS = (("gained", "B much better than A"), ("lost", "A much better than B"))
_HASH_SHOWN = 12  # Digits; summary.json has all.
_EMPTY = {changes.NOT_SET, "{}", "[]"}  # All the same to a reader.
_LEFT_OUT = ("runner", "serving", "tune")  # They do not make the model.

Line = tuple[str, str, str]  # (what, of A, of B)


def render(found: Comparison) -> str:
    """The page. Text of the data is escaped, wherever it turns up."""
    return pages.render(
        TEMPLATE,
        found=found,
        verdict=conclusions.verdict(found),
        runs=run_rows(found),
        **_changes(found),
        meaning=evaluation_shown.meaning,
        labels_by_chance=conclusions.by_chance(
            conclusions.with_enough_rows(found, found.labels), found.confidence
        ),
        gains=[row for row in found.labels if _value(row) > 0],
        losses=[row for row in reversed(found.labels) if _value(row) < 0],
        examples=example_groups(found.examples),
        evaluation={"examples": found.examples},
        titles={"baseline": A, "candidate": B},
        costs=cost_rows(found),
        curves=curves.draw_both(
            {A: found.a.record.get("training"), B: found.b.record.get("training")},
            metric=found.main,
        ),
    )


def run_rows(found: Comparison) -> list[Line]:
    """Which runs these are."""
    return [
        ("run", found.a.run_id, found.b.run_id),
        *_lines(found, "job", lambda record: record.get("name")),
        *_lines(found, "outcome", outcome),
        *_lines(found, "version", version),
        *_lines(found, "eval rows", _eval_rows),
    ]


def outcome(record: Mapping[str, Any]) -> str:
    """How a run ended, as its summary.json has it."""
    return str(record["outcome"]) + (" (a part)" if record.get("partial") else "")


def version(record: Mapping[str, Any]) -> str | None:
    """The version that a run has promoted; None if it promoted none."""
    push = record.get("push") or {}
    return push.get("pushed_version") if push.get("pushed") == 1 else None


def cost_rows(found: Comparison) -> list[Line]:
    """Time, size and latency of both, as far as they are recorded."""
    of_a, of_b = (
        dict(core.figure_rows(side.record.get("model_check"), "figures"))
        for side in (found.a, found.b)
    )
    names = dict.fromkeys([*of_a, *of_b])
    return [
        *_lines(found, "epochs trained", _epochs),
        *_lines(found, "training, all epochs", _training_seconds),
        *_lines(found, "whole run", lambda record: _seconds(record.get("seconds"))),
        *_lines(found, "peak memory of the run", _memory),
        *((f"served: {n}", of_a.get(n, NONE), of_b.get(n, NONE)) for n in names),
    ]


def example_groups(
    examples: Mapping[str, Any] | None,
) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """(heading, rows) as `sections/examples.html.j2` takes them."""
    return [
        (heading, examples[kind])
        for kind, heading in _GROUPS
        if examples and examples.get(kind)
    ]


def _lines(
    found: Comparison, what: str, of: Callable[[Mapping[str, Any]], Any]
) -> Iterator[Line]:
    """Yields a line if one of the two has it recorded."""
    values = [of(side.record) for side in (found.a, found.b)]
    if any(value is not None for value in values):
        first, second = (NONE if value is None else str(value) for value in values)
        yield what, first, second


def _eval_rows(record: Mapping[str, Any]) -> str:
    return count(record["evaluation"]["rows"].get(slices.OVERALL))


def _epochs(record: Mapping[str, Any]) -> str | None:
    history = record.get("training")
    if not history:
        return None
    best = [epoch["epoch"] for epoch in history if epoch.get("best")]
    return f"{len(history)}" + (f", the best is {best[-1]}" if best else "")


def _training_seconds(record: Mapping[str, Any]) -> str | None:
    history = record.get("training")
    if not history or any(epoch.get("seconds") is None for epoch in history):
        return None
    return _seconds(sum(epoch["seconds"] for epoch in history))


def _seconds(seconds: float | None) -> str | None:
    return None if seconds is None else f"{number(seconds, digits=0)} s"


def _memory(record: Mapping[str, Any]) -> str | None:
    megabytes = record.get("peak_memory_mb")
    return None if megabytes is None else f"{number(megabytes, digits=0)} MB"


def _value(row: Row) -> float:
    """How much more B has; 0 if that is not known."""
    return (row.difference["value"] or 0.0) if row.difference else 0.0


def _changes(found: Comparison) -> dict[str, list[Line]]:
    """ "config", "model" and "data": what both were made of."""
    of_both = changes.since(_facts(found.a), _facts(found.b))
    assert of_both is not None
    return {
        "config": [row for row in of_both.config or () if not _EMPTY >= {*row[1:]}],
        "model": [_with_short_hash(row) for row in of_both.model],
        "data": [_with_short_hash(row) for row in of_both.data],
    }


def _with_short_hash(row: Line) -> Line:
    what, *hashes = row
    if not what.endswith("hash"):
        return row
    a, b = (h if len(h) <= _HASH_SHOWN else f"{h[:_HASH_SHOWN]}…" for h in hashes)
    return what, a, b


def _facts(side: Side) -> dict[str, Any]:
    """The record as `changes.since` takes a model in production, and a run."""
    record = side.record
    prints = record.get("fingerprints") or {}
    code = prints.get("code") or {}
    hashes = {"data": prints.get("data"), "checkpoint": prints.get("checkpoint")}
    for name, node in (("training", "Trainer"), ("evaluation", "Evaluator")):
        hashes[f"{name} code"] = code.get(node)
    config = {k: v for k, v in record["config"].items() if k not in _LEFT_OUT}
    checkpoint = (config.get("model") or {}).get("checkpoint")
    return {
        "account": record.get("data"),
        "lineage": {"checkpoint": checkpoint, "hashes": hashes, "config": config},
        "config": config,
    }
