"""The record of a run: summary.json, and what earlier ones say."""

import contextlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from typing import Any

import psutil

from pipeline import plan as plans
from pipeline import whole_file
from pipeline.config import Config
from pipeline.plan import Plan

Record = dict[str, Any]

PUSHED = "pushed"
INTERRUPTED = "The run was interrupted. Production is unchanged."
_FULL_BELOW_MB = 5.0


class PeakMemory:
    """The largest resident memory of a process and its children, as sampled."""

    def __init__(self, pid: int):
        self._process = psutil.Process(pid)
        self.megabytes = 0.0

    def sample(self) -> None:
        try:
            family = [self._process, *self._process.children(recursive=True)]
            total = sum(member.memory_info().rss for member in family)
        except psutil.Error:
            return  # One of them has just ended.
        self.megabytes = max(self.megabytes, total / 2**20)


def make(
    plan: Plan,
    *,
    run_id: str,
    run_dir: str,
    seconds: float,
    peak_memory_mb: float,
    worker_exit_code: int | None,
    interrupted: bool,
) -> Record:
    """Puts together what is known when the worker has ended, however it ended."""
    events = read_events(run_dir)
    result = _read_json(os.path.join(run_dir, plans.RESULT_FILE)) or {}
    run_nodes = result.get("run", {}).get("nodes", {})
    if plan.from_node or plan.to_node:
        # ML Metadata counts the other nodes' earlier results as this run's too.
        ran = {node["node"] for node in _nodes(events)}
        run_nodes = {name: found for name, found in run_nodes.items() if name in ran}
    failure = _failure(result, events, worker_exit_code, interrupted)
    if failure and (full := _full_disk(str(plan.config.runner.root))):
        failure["findings"].insert(0, full)

    artifacts = {
        node: {key: out["uri"] for key, out in found["outputs"].items()}
        for node, found in run_nodes.items()
    }
    push = run_nodes.get("Pusher", {}).get("outputs", {}).get("pushed_model")
    record = {
        "run_id": run_id,
        "name": plan.config.name,
        "key": plan.key,
        "pipeline_run_id": result.get("run", {}).get("run_id"),
        "partial": bool(plan.from_node or plan.to_node),
        "tuning": plan.tuning.model_dump(mode="json") if plan.tuning else None,
        "seconds": round(seconds, 1),
        "peak_memory_mb": round(peak_memory_mb),
        "config": plan.config.model_dump(mode="json"),
        "fingerprints": plan.fingerprints.model_dump(mode="json"),
        "spans": [span.model_dump(mode="json") for span in plan.spans],
        "span_notes": list(plan.span_notes),
        "data": written(artifacts, "ExampleGen", "account", "account.json")
        or _last(events, "data", "account"),
        "data_findings": _read_json(os.path.join(run_dir, plans.FINDINGS_FILE))
        or written(artifacts, "DataGate", "verdict", plans.FINDINGS_FILE),
        "text_statistics": written(
            artifacts, "DataGate", "verdict", plans.TEXT_STATISTICS_FILE
        )
        or _last(events, "text_statistics", "statistics"),
        "nodes": _nodes(events),
        "training": written(artifacts, "Trainer", "model_run", "history.json"),
        "evaluation": written(artifacts, "Evaluator", "evaluation", "evaluation.json"),
        "model_check": written(artifacts, "ModelCheck", "blessing", "check.json"),
        "failure": failure,
        "push": push["properties"] if push else None,
        "artifacts": artifacts,
        "log": os.path.join(run_dir, plans.LOG_FILE),
    }
    record["outcome"], record["exit_code"] = _outcome(record)
    _keep_files(record, run_dir)
    return record


def written(
    artifacts: dict[str, dict[str, str]], node: str, output: str, name: str
) -> Any:
    """The JSON in a file of an artifact.

    Args:
      artifacts: as in the record, {node: {output: folder}}.

    Returns:
      What the file holds; None if the node has not written it.
    """
    folder = artifacts.get(node, {}).get(output)
    return _read_json(os.path.join(folder, name)) if folder else None


def _outcome(record: Record) -> tuple[str, int]:
    failure, push = record["failure"], record["push"]
    evaluation = record["evaluation"]
    if failure and failure["kind"] == "interrupted":
        return "interrupted", 130
    if failure:
        return ("data refused", 3) if failure["data_refused"] else ("failed", 1)
    if push and push.get("pushed") == 1:
        return PUSHED, 0
    if push is not None or (evaluation and not evaluation["blessed"]):
        return "not blessed", 4
    return "done", 0  # A part of the DAG, without the Pusher.


def _failure(
    result: Record,
    events: list[Record],
    worker_exit_code: int | None,
    interrupted: bool,
) -> Record | None:
    failed = [e for e in events if e["kind"] == "node_failed"]
    stopped = [e for e in failed if e.get("stopped")]
    if interrupted or stopped:
        saved = stopped[0]["findings"] if stopped else []
        return {
            "kind": "interrupted",
            "node": _last(events, "node_started", "node"),
            "findings": [INTERRUPTED, *saved],
            "data_refused": False,
        }
    if failed:
        first = failed[0]
        return {
            "kind": "refused" if first["refused"] else "failed",
            "node": first["node"],
            "findings": first["findings"],
            "data_refused": first["data_refused"],
        }
    if result.get("failure"):
        return {"kind": "failed", "node": None, **result["failure"]}
    if worker_exit_code != 0:
        return {
            "kind": "died",
            "node": _last(events, "node_started", "node"),
            "findings": [_death(worker_exit_code)],
            "data_refused": False,
        }
    return None


def _death(exit_code: int | None) -> str:
    if exit_code == -9:
        return (
            "The worker process was killed (signal 9), which the system does when "
            "memory runs out. Free some; in the Trainer a lower train.batch_size or "
            "model.max_source_tokens needs less."
        )
    how = f"signal {-exit_code}" if exit_code and exit_code < 0 else f"code {exit_code}"
    return f"The worker process ended with {how} before it was done."


def _full_disk(root: str) -> str | None:
    free_mb = shutil.disk_usage(root).free / 2**20
    if free_mb >= _FULL_BELOW_MB:
        return None
    return (
        f"The disk of {root} is full ({free_mb:.1f} MB left). Make room and run again: "
        "finished nodes are reused."
    )


def write(record: Record, run_dir: str) -> None:
    """Writes summary.json, whole or not at all.

    Raises:
      OSError: if the disk does not take it.
    """
    path = os.path.join(run_dir, plans.SUMMARY_FILE)
    # Bytes of data that are no UTF-8 are lone surrogates, which JSON can write escaped.
    text = json.dumps(record, indent=1, ensure_ascii=False)
    whole_file.write(path, text, errors="backslashreplace")


def unchanged_since(plan: Plan) -> Record | None:
    """The newest full run, if it pushed and this one would compute the same."""
    for record in newest_first(plan.config):
        if record["partial"]:
            continue
        same = record["key"] == plan.key and record["outcome"] == PUSHED
        return record if same and _still_served(plan, record) else None
    return None


def newest_first(config: Config) -> Iterator[Record]:
    """Yields the records of the root's runs; passes over what is damaged."""
    root = plans.runs_dir(config)
    for run_id in sorted(os.listdir(root), reverse=True) if os.path.isdir(root) else ():
        record = read_summary(os.path.join(root, run_id))
        if record:
            yield record


def ids(config: Config) -> dict[str, str]:
    """{id in ML Metadata: run id} of the root's runs, where the record has it."""
    return {
        str(record["pipeline_run_id"]): str(record["run_id"])
        for record in newest_first(config)
        if record.get("pipeline_run_id")  # Another release may not have written it.
    }


def _is_record(found: Any) -> bool:
    """Whether it is what `make` writes; another release may have written less."""
    needed = {"partial", "key", "outcome", "push", "run_id", "config", "evaluation"}
    return isinstance(found, dict) and needed <= set(found)


def _still_served(plan: Plan, record: Record) -> bool:
    version = os.path.join(plan.place.serving_dir, record["push"]["pushed_version"])
    return os.path.exists(os.path.join(version, "saved_model.pb"))


def read_summary(run_dir: str) -> Record | None:
    """The record of a run; None if it has not ended, or its record is damaged."""
    record = _read_json(os.path.join(run_dir, plans.SUMMARY_FILE))
    return record if _is_record(record) else None


def read_events(run_dir: str) -> list[Record]:
    path = os.path.join(run_dir, plans.EVENTS_FILE)
    if not os.path.exists(path):
        return []
    with open(path, "rb") as f:
        lines = f.read().split(b"\n")
    return list(events_of(lines[:-1]))  # The last may be half written.


def events_of(lines: Iterable[bytes]) -> Iterator[Record]:
    """Yields the events; passes over a line that a full disk has cut off."""
    for line in lines:
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict) and "kind" in event:
            yield event


def _nodes(events: list[Record]) -> list[Record]:
    return [
        {
            "node": e["node"],
            "seconds": round(e["seconds"], 2),
            "state": "failed"
            if e["kind"] == "node_failed"
            else ("reused" if e["cached"] else "executed"),
        }
        for e in events
        if e["kind"] in ("node_finished", "node_failed")
    ]


def _last(events: list[Record], kind: str, field: str) -> Any:
    for event in reversed(events):
        if event["kind"] == kind:
            return event.get(field)
    return None


def _keep_files(record: Record, run_dir: str) -> None:
    """Puts what a person looks for into the run's folder, also if it was reused."""
    for node, output, name in (
        ("Report", "report", plans.REPORT_FILE),
        ("Report", "report", plans.MODEL_CARD_FILE),
        ("ExampleGen", "account", plans.REJECTED_FILE),
        ("DataGate", "verdict", plans.FINDINGS_FILE),
    ):
        folder = record["artifacts"].get(node, {}).get(output)
        kept = os.path.join(run_dir, name)
        if folder and os.path.exists(os.path.join(folder, name)):
            # A full disk must not keep the run's verdict from being told.
            with contextlib.suppress(OSError):
                whole_file.copy(os.path.join(folder, name), kept)


def _read_json(path: str) -> Any:
    """What the file holds; None if it is missing, incomplete or damaged."""
    if not os.path.isfile(path):
        return None  # To read a pipe would never end.
    try:
        with open(path, encoding="utf-8") as f:
            return json.load(f)
    except (OSError, ValueError, RecursionError):
        return None
