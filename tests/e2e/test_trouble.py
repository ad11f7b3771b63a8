"""Trouble while a run is under way: the exit code, the words, and what stays."""

import json
import os
import re
import signal
import subprocess
import time

import pytest
import yaml

from pipeline import trainings
from tests.e2e import jobs

pytestmark = pytest.mark.slow
FAILED, DATA_REFUSED, INTERRUPTED = 1, 3, 130


def start(folder, job) -> subprocess.Popen:
    path = folder / "job.yaml"
    path.write_text(yaml.safe_dump(job, allow_unicode=True), encoding="utf-8")
    return subprocess.Popen(
        jobs.command("--config", str(path)),
        env=jobs.environment(),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def read_until(process: subprocess.Popen, word: str) -> str:
    """What is printed up to the line with `word`."""
    read = ""
    for line in process.stdout:
        read += line
        if word in line:
            return read
    raise AssertionError(f"{word!r} was never printed:\n{read}")


def workers_of(root) -> list[str]:
    found = subprocess.run(
        ["pgrep", "-f", f"pipeline.worker {root}"], capture_output=True, text=True
    )
    return found.stdout.split()


def test_label_with_one_example_is_refused_and_named(tmp_path, bert):
    table = jobs.rows(60)
    table[7]["intent"] = "once only"
    data = jobs.write_csv(tmp_path / "rows.csv", table)
    outcome = jobs.run(tmp_path, jobs.classification(tmp_path, data, bert))
    assert outcome.code == DATA_REFUSED, outcome.output
    assert "Data refused by DataGate" in outcome.output
    assert "once only" in outcome.output
    (rare,) = [
        finding
        for finding in outcome.summary["data_findings"]["findings"]
        if finding["rule"] == "rare_label"
    ]
    assert rare["severity"] == "stop"
    assert outcome.versions == []
    assert outcome.summary["outcome"] == "data refused"
    page = report_of(outcome.root)
    assert "The data was refused in DataGate: nothing was trained." in page
    assert "once only" in page


def report_of(root) -> str:
    """The page of the one run."""
    (page,) = (root / "runs").glob("*/report.html")
    return page.read_text(encoding="utf-8")


def test_empty_texts_are_counted_and_stop_the_run_unless_allowed(tmp_path, bert):
    table = jobs.rows(90)
    table[3]["message"] = ""
    table[9]["message"] = "  \n "
    data = jobs.write_csv(tmp_path / "rows.csv", table)
    job = jobs.classification(tmp_path, data, bert)
    refused = jobs.run(tmp_path, job)
    assert refused.code == DATA_REFUSED, refused.output
    assert "max_rejected_share" in refused.output
    (run,) = (tmp_path / "root" / "runs").iterdir()
    rejected = (run / "rejected.jsonl").read_text().splitlines()
    assert [json.loads(row)["line"] for row in rejected] == [5, 11]
    assert f"Rejected rows:  root/runs/{run.name}/rejected.jsonl" in refused.output
    assert refused.versions == []
    allowed = jobs.run(tmp_path, job, "--set", "data.gate.max_rejected_share=0.05")
    assert allowed.code == 0, allowed.output
    assert "90 rows read, 88 kept" in allowed.output
    (file,) = allowed.summary["data"]["files"]
    assert file["rejected"] == {"empty text": 2}


def test_part_of_the_dag_without_what_it_needs_is_refused(tmp_path, bert, rows_file):
    job = jobs.classification(tmp_path, rows_file, bert)
    assert jobs.run(tmp_path, job, "--to", "ExampleGen").code == 0
    outcome = jobs.run(tmp_path, job, "--from", "Evaluator")
    assert outcome.code == 1
    assert "Run the whole DAG first, without `--from`." in outcome.output
    assert "Traceback" not in outcome.output


def test_interrupt_ends_the_run_and_the_next_one_succeeds(tmp_path, bert, rows_file):
    job = jobs.classification(tmp_path, rows_file, bert)
    process = start(tmp_path, job)
    read_until(process, "ExampleGen")
    process.send_signal(signal.SIGINT)
    output = process.communicate(timeout=30)[0]
    assert process.returncode == INTERRUPTED, output
    assert "interrupted" in output.lower() and "Traceback" not in output
    assert workers_of(job["runner"]["root"]) == []
    assert "The run was interrupted" in report_of(tmp_path / "root")
    again = jobs.run(tmp_path, job)
    assert again.code == 0, again.output
    assert again.versions == ["1"]
    assert again.states["ExampleGen"] == "reused"


def test_training_that_is_ended_is_saved_and_the_same_command_goes_on(
    tmp_path, bert, rows_file
):
    job = jobs.classification(tmp_path, rows_file, bert)
    job["train"]["epochs"] = 150
    process = start(tmp_path, job)
    read_until(process, "epoch 3/150")
    asked = time.monotonic()
    process.send_signal(signal.SIGTERM)
    output = process.communicate(timeout=60)[0]
    assert time.monotonic() - asked < 30
    assert process.returncode == INTERRUPTED, output
    assert "the training is being saved" in output and "Traceback" not in output
    (done,) = re.findall(r"Update (\d+) of \d+ is saved; the same command", output)
    (run,) = trainings.find(["latest"], str(tmp_path / "root" / "runs"))
    assert os.path.isdir(run.folder)  # What TensorBoard shows of it.
    again = jobs.run(tmp_path, job, "--to", "Trainer")
    assert again.code == 0, again.output
    assert f"going on at update {done} of" in again.output
    assert len(again.summary["training"]) == 150
    assert again.states["Transform"] == "reused"
    (run,) = trainings.find(["latest"], str(tmp_path / "root" / "runs"))
    assert run.folder.endswith("tensorboard") and "artifacts" in run.folder


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGHUP], ids=lambda s: s.name)
def test_orderly_kill_ends_the_run_as_ctrl_c_does(tmp_path, bert, rows_file, sign):
    job = jobs.classification(tmp_path, rows_file, bert)
    process = start(tmp_path, job)
    read_until(process, "log:")
    process.send_signal(sign)
    output = process.communicate(timeout=30)[0]
    assert process.returncode == INTERRUPTED, output
    assert workers_of(job["runner"]["root"]) == []
    (run,) = (tmp_path / "root" / "runs").iterdir()
    assert '"outcome": "interrupted"' in (run / "summary.json").read_text()


def test_single_label_is_refused(tmp_path, bert):
    table = [{**row, "intent": "same"} for row in jobs.rows(60)]
    data = jobs.write_csv(tmp_path / "rows.csv", table)
    outcome = jobs.run(tmp_path, jobs.classification(tmp_path, data, bert))
    assert outcome.code == DATA_REFUSED, outcome.output
    assert "there is nothing to tell apart" in outcome.output


def test_worker_leaves_when_its_terminal_is_killed(tmp_path, bert, rows_file):
    job = jobs.classification(tmp_path, rows_file, bert)
    process = start(tmp_path, job)
    read_until(process, "log:")
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    deadline = time.monotonic() + 20
    while workers_of(job["runner"]["root"]) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert workers_of(job["runner"]["root"]) == []


def test_disk_that_fills_up_fails_the_run_in_words(tmp_path, bert, rows_file, mounted):
    disk = mounted("size=560m")
    job = jobs.classification(tmp_path, rows_file, bert)
    job["runner"]["root"] = str(disk / "root")
    process = start(tmp_path, job)
    read_until(process, "ExampleGen")
    with open(disk / "filler", "wb", buffering=0) as filler:
        block = b"\0" * 2**20
        try:
            while True:
                filler.write(block)
        except OSError:
            pass
    output = process.communicate(timeout=300)[0]
    assert process.returncode == FAILED, output
    assert f"The disk of {disk / 'root'} is full" in output
    assert "Traceback" not in output
    os.remove(disk / "filler")
    again = jobs.run(tmp_path, job)
    assert again.code == 0, again.output
    assert again.versions == ["1"]
