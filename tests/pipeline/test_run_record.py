"""The record of a run: one outcome and exit code for each way that a run can end."""

import json
import os
import pathlib
import resource

import pytest

from pipeline import checkpoints, place, run_record
from pipeline.config import load
from pipeline.plan import Plan
from tests.pipeline.conftest import ROOT

NOT_FAILED = {"refused": False, "data_refused": False}


@pytest.fixture
def plan(tmp_path):
    config = load(str(ROOT / "configs" / "intent.yaml"), [f"runner.root={tmp_path}"])
    here = place.local(config, checkpoints.locate(config))
    return Plan(config=config, place=here, fingerprints=place.fingerprint(config, here))


@pytest.fixture
def make(plan, tmp_path):
    """Writes what a worker left behind, and makes the record of it."""

    def record(
        *, events=(), result=None, blessed=None, code=0, interrupted=False, of=plan
    ):
        run_dir = tmp_path / "runs" / "r1"
        run_dir.mkdir(parents=True, exist_ok=True)
        lines = "".join(json.dumps({"time": 0, **e}) + "\n" for e in events)
        (run_dir / "events.jsonl").write_text(lines + '{"kind": "half a li')
        if blessed is not None:
            (tmp_path / "evaluation.json").write_text(json.dumps({"blessed": blessed}))
            outputs = {"evaluation": {"uri": str(tmp_path), "id": 2, "properties": {}}}
            result["run"]["nodes"]["Evaluator"] = {"outputs": outputs}
        if result is not None:
            (run_dir / "result.json").write_text(json.dumps(result))
        return run_record.make(
            of,
            run_id="r1",
            run_dir=str(run_dir),
            seconds=1.0,
            peak_memory_mb=10.0,
            worker_exit_code=code,
            interrupted=interrupted,
        )

    return record


def result(pushed=None):
    """What the worker writes; `pushed` None means that the Pusher did not run."""
    nodes = {}
    if pushed is not None:
        properties = {"pushed": pushed, "pushed_version": "3"}
        outputs = {"pushed_model": {"uri": "/x", "id": 1, "properties": properties}}
        nodes["Pusher"] = {"state": "COMPLETE", "outputs": outputs}
    return {"failure": None, "run": {"run_id": "x", "nodes": nodes}}


@pytest.mark.parametrize(
    "left, outcome, code",
    [
        ({"result": result(pushed=1)}, "pushed", 0),
        ({"result": result(pushed=0)}, "not blessed", 4),
        ({"result": result(), "blessed": False}, "not blessed", 4),
        ({"result": result(), "blessed": True}, "done", 0),
        ({"interrupted": True}, "interrupted", 130),
        ({"code": 1}, "failed", 1),
        ({"code": -9}, "failed", 1),
    ],
    ids=["pushed", "refused", "refused_in_part", "part", "ctrl_c", "died", "killed"],
)
def test_each_end_has_its_outcome_and_exit_code(make, left, outcome, code):
    record = make(**left)
    assert (record["outcome"], record["exit_code"]) == (outcome, code)


def test_part_of_a_run_takes_no_credit_for_what_ran_before(make, plan):
    event = {
        "kind": "node_finished",
        "node": "Transform",
        "seconds": 1,
        "cached": False,
    }
    part = plan.model_copy(update={"to_node": "Transform"})
    record = make(events=[event], result=result(pushed=1), blessed=True, of=part)
    assert (record["outcome"], record["exit_code"]) == ("done", 0)
    assert record["push"] is None and record["evaluation"] is None


@pytest.mark.parametrize(
    "data_refused, outcome, code", [(True, "data refused", 3), (False, "failed", 1)]
)
def test_failed_node_is_named_with_its_findings(make, data_refused, outcome, code):
    event = {
        "kind": "node_failed",
        "node": "DataGate",
        "seconds": 1.0,
        "refused": True,
        "data_refused": data_refused,
        "findings": ["row 7 is bad"],
    }
    record = make(events=[event], code=1)
    assert (record["outcome"], record["exit_code"]) == (outcome, code)
    assert record["failure"]["node"] == "DataGate"
    assert record["failure"]["findings"] == ["row 7 is bad"]


@pytest.mark.parametrize("torn", ['{"kind": "ste', "[1]", "{}", "\udcff", "[" * 10_000])
def test_torn_event_in_the_middle_is_passed_over(tmp_path, torn):
    lines = f'{{"kind": "a"}}\n{torn}\n{{"kind": "b"}}\n'
    path = tmp_path / "events.jsonl"
    path.write_bytes(lines.encode("utf-8", "surrogateescape"))
    assert [e["kind"] for e in run_record.read_events(str(tmp_path))] == ["a", "b"]


def test_full_disk_costs_a_copy_and_not_the_record(make, tmp_path):
    (tmp_path / "report.html").write_text("x" * 100_000)
    left = result(pushed=1)
    outputs = {"report": {"uri": str(tmp_path), "id": 3, "properties": {}}}
    left["run"]["nodes"]["Report"] = {"state": "COMPLETE", "outputs": outputs}
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    try:
        record = make(result=left)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert record["outcome"] == "pushed"
    assert not list((tmp_path / "runs" / "r1").glob("report.html*"))


def test_record_without_the_id_in_the_metadata_is_passed_over(plan):
    needed = ("partial", "key", "outcome", "push", "config", "evaluation")
    for run_id, more in (("1", {}), ("2", {"pipeline_run_id": "x"})):
        folder = pathlib.Path(str(plan.config.runner.root)) / "runs" / run_id
        folder.mkdir(parents=True)
        record = {**dict.fromkeys(needed), "run_id": run_id, **more}
        (folder / "summary.json").write_text(json.dumps(record))
    assert run_record.ids(plan.config) == {"x": "2"}


def test_pipe_in_place_of_a_record_is_no_record(tmp_path):
    os.mkfifo(tmp_path / "summary.json")
    assert run_record.read_summary(str(tmp_path)) is None


def test_stopped_training_is_an_interruption_that_says_what_is_saved(make):
    event = {
        "kind": "node_failed",
        "node": "Trainer",
        "seconds": 1.0,
        "refused": False,
        "stopped": True,
        "data_refused": False,
        "findings": ["Update 7 of 20 is saved."],
    }
    record = make(events=[{"kind": "node_started", "node": "Trainer"}, event], code=1)
    assert (record["outcome"], record["exit_code"]) == ("interrupted", 130)
    assert record["failure"]["findings"][-1] == "Update 7 of 20 is saved."


def test_worker_killed_by_the_system_is_explained(make):
    record = make(events=[{"kind": "node_started", "node": "Trainer"}], code=-9)
    assert record["failure"]["node"] == "Trainer"
    assert "memory runs out" in record["failure"]["findings"][0]


def test_nodes_tell_what_was_reused(make):
    events = [
        {"kind": "node_finished", "node": "A", "seconds": 1.234, "cached": True},
        {"kind": "node_finished", "node": "B", "seconds": 2.0, "cached": False},
    ]
    assert make(events=events, result=result(pushed=1))["nodes"] == [
        {"node": "A", "seconds": 1.23, "state": "reused"},
        {"node": "B", "seconds": 2.0, "state": "executed"},
    ]


@pytest.fixture
def promoted(make, plan, tmp_path):
    """A run of `plan` that promoted version 3."""
    run_record.write(make(result=result(pushed=1)), str(tmp_path / "runs" / "r1"))
    version = tmp_path / "serving" / "support-intent" / "3"
    version.mkdir(parents=True)
    (version / "saved_model.pb").write_text("")
    return version


def test_unchanged_plan_has_nothing_to_do(plan, promoted):
    assert run_record.unchanged_since(plan)["run_id"] == "r1"


def test_changed_plan_has_something_to_do(plan, promoted):
    train = plan.config.train.model_copy(update={"seed": 1})
    config = plan.config.model_copy(update={"train": train})
    changed = plan.model_copy(update={"config": config})
    assert run_record.unchanged_since(changed) is None


def test_plan_whose_version_is_gone_has_something_to_do(plan, promoted):
    (promoted / "saved_model.pb").unlink()
    assert run_record.unchanged_since(plan) is None


def test_plan_of_a_refused_run_runs_again(plan, make, tmp_path):
    run_record.write(make(result=result(pushed=0)), str(tmp_path / "runs" / "r1"))
    assert run_record.unchanged_since(plan) is None


@pytest.mark.parametrize(
    "content", [b"[]", b"{}", b"caf\xe9", b"{", b'{"partial": false}'], ids=repr
)
def test_damaged_record_of_an_earlier_run_is_passed_over(
    plan, promoted, tmp_path, content
):
    later = tmp_path / "runs" / "r9"
    later.mkdir()
    (later / "summary.json").write_bytes(content)
    (tmp_path / "runs" / "notes.txt").write_text("not a run")
    assert run_record.unchanged_since(plan)["run_id"] == "r1"


def test_what_is_served_is_no_part_of_the_key_and_known_after_a_push(plan):
    assert plan.fingerprints.served == ""
    version = pathlib.Path(plan.place.serving_dir) / "1"
    version.mkdir(parents=True)
    (version / "saved_model.pb").write_text("")
    contents = place.with_served(plan.fingerprints, plan.place)
    after = plan.model_copy(update={"fingerprints": contents})
    assert after.fingerprints.served != ""
    assert after.fingerprints == place.fingerprint(plan.config, plan.place)
    assert after.key == plan.key


STATISTICS = {"train": {"rows": 3, "text": {}}}


@pytest.mark.parametrize("cached", [False, True], ids=["executed", "reused"])
def test_text_statistics_are_read_from_the_artifact(make, tmp_path, cached):
    (tmp_path / "verdict").mkdir()
    path = tmp_path / "verdict" / "text_statistics.json"
    path.write_text(json.dumps(STATISTICS))
    outputs = {"verdict": {"uri": str(path.parent), "id": 1, "properties": {}}}
    left = result()
    left["run"]["nodes"]["DataGate"] = {"state": "COMPLETE", "outputs": outputs}
    event = {"kind": "node_finished", "node": "DataGate", "seconds": 1}
    record = make(events=[{**event, "cached": cached}], result=left)
    assert record["text_statistics"] == STATISTICS


def test_text_statistics_of_refused_data_are_those_of_the_event(make):
    event = {"kind": "text_statistics", "statistics": STATISTICS}
    assert make(events=[event], code=1)["text_statistics"] == STATISTICS


def test_record_takes_any_text_and_gives_it_back(make, tmp_path):
    text = "a label \udcff of bytes that are no UTF-8, 卡"
    events = [{"kind": "data", "account": {"labels": [text]}}]
    record = make(events=events, result=result(), blessed=True)
    run_record.write(record, str(tmp_path))
    read = run_record.read_summary(str(tmp_path))
    assert read["data"] == {"labels": [text]}
