"""report.html of a run that did not come to its Report node. Pure."""

import os
from typing import Any

from components.pusher import run_facts
from pipeline import model_facts, run_record, whole_file
from pipeline import plan as plans
from pipeline.plan import Plan
from pipeline.run_record import Record


def write_if_missing(record: Record, plan: Plan, run_dir: str) -> None:
    """Writes the page, whole or not at all, unless the run has one of its Report node.

    Raises:
      OSError: if the disk does not take it.
    """
    path = os.path.join(run_dir, plans.REPORT_FILE)
    if os.path.exists(path):
        return
    from components.report import core  # Draws the page: not needed to start a run.

    page = core.render(facts(record, plan, run_dir))
    whole_file.write(path, page)


def facts(record: Record, plan: Plan, run_dir: str) -> dict[str, Any]:
    """What is known of the run, as `components.report.core.render` takes it."""
    pushed = run_record.written(
        record["artifacts"], "Pusher", "pushed_model", "pushed.json"
    )
    evaluation = record["evaluation"]
    return {
        "title": plan.config.name,
        "ended": _ended(record),
        "nodes": record["nodes"],
        "pushed": pushed,
        "model_blessed": evaluation["blessed"] if evaluation else None,
        "model_check": record["model_check"],
        "account": record["data"],
        "findings": (record["data_findings"] or {}).get("findings"),
        "text_statistics": record["text_statistics"],
        "evaluation": evaluation,
        # Of a training that did not end there are the epochs it told of.
        "history": record["training"] or _epochs(run_dir),
        "lineage": model_facts.of(plan.config, plan.fingerprints),
        "production": run_facts.before(plan.place.serving_dir, pushed),
    }


def _ended(record: Record) -> dict[str, Any]:
    failure = record["failure"] or {"node": None, "findings": []}
    return {
        "outcome": record["outcome"],
        "node": failure["node"],
        # The verdict of the page says that by itself.
        "reasons": [f for f in failure["findings"] if f != run_record.INTERRUPTED],
    }


def _epochs(run_dir: str) -> list[Record]:
    return [e for e in run_record.read_events(run_dir) if e["kind"] == "epoch"]
