"""Every run has its page: also one that did not come to its Report node."""

import json
import resource

import pytest

from pipeline import run_record, stopped_page
from tests.pipeline.test_run_record import make, plan, result

__all__ = ["make", "plan"]  # Fixtures.

STARTED = {"kind": "node_started", "node": "Trainer"}
EPOCH = {
    **{"kind": "epoch", "epoch": 1, "epochs": 4, "loss": 2.25, "seconds": 20.0},
    **{"validation_loss": 1.75, "metrics": {"loss": 1.75, "accuracy": 0.25}},
}
FINISHED = {"kind": "node_finished", "node": "Transform", "seconds": 5, "cached": True}
FAILED = {
    **{"kind": "node_failed", "node": "DataGate", "seconds": 1.5, "stopped": False},
    **{"refused": True, "data_refused": True, "findings": ["<b>Too few rows.</b>"]},
}


@pytest.fixture
def page(make, plan, tmp_path):
    """Makes the record of a run and its page, and returns the page."""

    def written(**left):
        run_dir = tmp_path / "runs" / "r1"
        stopped_page.write_if_missing(make(**left), plan, str(run_dir))
        return (run_dir / "report.html").read_text()

    return written


@pytest.mark.parametrize(
    "left, sentence",
    [
        (
            {"events": [FAILED], "code": 1},
            "The data was refused in DataGate: nothing was trained. "
            "Production is unchanged.",
        ),
        (
            {"events": [{**FAILED, "data_refused": False}], "code": 1},
            "The run failed in DataGate. Production is unchanged.",
        ),
        (
            {"events": [STARTED], "code": -9},
            "The run failed in Trainer. Production is unchanged.",
        ),
        ({"code": 1}, "The run failed. Production is unchanged."),
        (
            {"events": [STARTED], "interrupted": True},
            "The run was interrupted in Trainer. Production is unchanged.",
        ),
        (
            {"result": result()},
            "The chosen part of the DAG has run. Production is unchanged.",
        ),
    ],
    ids=["data_refused", "failed", "killed", "before_any_node", "ctrl_c", "part"],
)
def test_the_page_says_first_how_the_run_ended(page, left, sentence):
    assert f"<p>{sentence}</p>" in page(**left)


def test_reasons_are_told_and_escaped(page):
    text = page(events=[FAILED], code=1)
    assert '<li dir="auto">&lt;b&gt;Too few rows.&lt;/b&gt;</li>' in text
    assert "<b>Too few" not in text


def test_nodes_that_ended_are_listed_with_their_state(page):
    text = page(events=[FINISHED, FAILED], code=1)
    assert '<th scope="row">Transform</th><td>reused</td><td class="n">5.0</td>' in text
    assert '<th scope="row">DataGate</th><td class="failed">failed</td>' in text


def test_node_that_was_running_is_named(page):
    text = page(events=[FINISHED, STARTED], interrupted=True)
    assert "Trainer was running, and has no result." in text


def test_epochs_of_a_training_that_did_not_end_are_drawn(page):
    text = page(events=[STARTED, EPOCH], interrupted=True)
    assert "<svg" in text and '<td class="n">2.2500</td>' in text


def test_promoted_before_the_report_failed_is_told(page, tmp_path):
    left = result(pushed=1)
    left["run"]["nodes"]["Pusher"]["outputs"]["pushed_model"]["uri"] = str(tmp_path)
    pushed = {"pushed": True, "version": 3, "destination": "/models/a/3"}
    (tmp_path / "pushed.json").write_text(json.dumps(pushed))
    failed = {**FAILED, "node": "Report", "data_refused": False}
    assert (
        "<p>The run failed in Report. Before that, version 3 was promoted.</p>"
        in page(events=[failed], result=left, code=1)
    )


def test_page_of_the_report_node_stays(make, plan, tmp_path):
    record = make(events=[FAILED], code=1)
    own = tmp_path / "runs" / "r1" / "report.html"
    own.write_text("of the Report")
    stopped_page.write_if_missing(record, plan, str(own.parent))
    assert own.read_text() == "of the Report"


def test_full_disk_leaves_no_torn_page(make, plan, tmp_path):
    record = make(events=[FAILED], code=1)
    run_dir = tmp_path / "runs" / "r1"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, before[1]))
    try:
        with pytest.raises(OSError):
            stopped_page.write_if_missing(record, plan, str(run_dir))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list(run_dir.glob("report.html*"))


def test_written_of_a_damaged_file_is_none(tmp_path):
    (tmp_path / "check.json").write_text("{")
    artifacts = {"ModelCheck": {"blessing": str(tmp_path)}}
    find = run_record.written
    assert find(artifacts, "ModelCheck", "blessing", "check.json") is None
    assert find(artifacts, "Trainer", "model_run", "history.json") is None
