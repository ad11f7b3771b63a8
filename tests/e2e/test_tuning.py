"""A search for settings, as a user runs it: killed twice, and gone on with."""

import csv
import json
import shlex
import signal
import subprocess
import sys
import time

import pytest
import yaml

from tests.e2e import jobs

pytestmark = pytest.mark.slow
INTERRUPTED = 130


def tune(folder) -> subprocess.Popen:
    return texttune(folder, "tune", "--config", str(folder / "job.yaml"))


def texttune(folder, *arguments: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "pipeline.cli", *arguments],
        env={**jobs.environment(), "PYTHONPATH": str(jobs.ROOT)},
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def events(root, kind: str, *, run: int) -> list[dict]:
    """Those of a run, counted from 0."""
    runs = sorted((root / "runs").glob("*"))
    file = runs[run] / "events.jsonl" if len(runs) > run else root / "none"
    lines = file.read_text().split("\n")[:-1] if file.exists() else []
    return [e for e in map(json.loads, lines) if e["kind"] == kind]


def wait_for_epoch(process, root, *, run: int) -> None:
    """Until the run has ended an epoch."""
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline and process.poll() is None:
        if events(root, "epoch", run=run):
            return
        time.sleep(0.05)
    process.kill()
    raise AssertionError(f"no epoch ended: {process.communicate()[0]}")


def test_search_that_was_killed_goes_on_with_its_trial(tmp_path, bert, rows_file):
    job = jobs.classification(tmp_path, rows_file, bert)
    job["train"]["epochs"] = 20
    space = {"train.learning_rate": {"choices": [5e-3, 1e-2, 2e-2]}}
    job["tune"] = {"trials": 2, "space": space}
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(job, allow_unicode=True))
    root = tmp_path / "root"

    process = tune(tmp_path)
    wait_for_epoch(process, root, run=0)
    process.send_signal(signal.SIGTERM)
    output = process.communicate(timeout=60)[0]
    assert process.returncode == INTERRUPTED, output
    assert "Go on with:  " in output and "tune --config" in output

    process = tune(tmp_path)
    wait_for_epoch(process, root, run=1)
    process.kill()
    process.communicate()
    assert events(root, "training", run=1)[0]["updates_before"] > 0

    process = tune(tmp_path)
    output = process.communicate(timeout=300)[0]
    assert process.returncode == 0, output
    assert "trial 1 was interrupted, and is run again with its settings." in output
    (table,) = (root / "tuning").glob("*.csv")
    with open(table, newline="", encoding="utf-8") as f:
        trials = list(csv.DictReader(f))
    states = ["interrupted", "interrupted", "done", "done"]
    assert [trial["state"] for trial in trials] == states
    assert len({trial["train.learning_rate"] for trial in trials[:3]}) == 1
    assert trials[3]["train.learning_rate"] != trials[2]["train.learning_rate"]
    assert events(root, "training", run=2)[0]["updates_before"] > 0
    last = jobs.Outcome(0, output, root)
    assert last.summary["tuning"]["trial"] == 3
    assert last.states["Transform"] == "reused"
    assert not (root / "serving" / "tiny-intent").exists()

    (way_on,) = (line for line in output.split("\n") if line.startswith("Use it:"))
    process = texttune(tmp_path, *shlex.split(way_on)[3:])
    output = process.communicate(timeout=300)[0]
    assert process.returncode == 0, output
    assert jobs.Outcome(0, output, root).states["Trainer"] == "reused"
