"""`texttune gate selftest` on real runs: a gate that closes, and gates that do not.

The tests build on one another, in the order of the file; the last ones remove what an
earlier run has left.
"""

import json
import shutil

import pytest
import yaml

from tests.e2e import jobs

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("gates")


@pytest.fixture(scope="module")
def job(folder, bert):
    table = jobs.rows(90)
    # A row of the eval split with a wrong label: no model gets all of them right.
    table[0]["intent"] = "login_problem"
    return jobs.classification(folder, jobs.write_csv(folder / "rows.csv", table), bert)


@pytest.fixture(scope="module")
def first(folder, job):
    outcome = jobs.run(folder, job)
    assert outcome.code == 0, outcome.output
    return outcome


@pytest.fixture(scope="module")
def selftest(folder, first):
    def run(*arguments):
        return jobs.selftest(*arguments, "--root", str(first.root))

    return run


def with_gate(folder, job, **gate):
    path = folder / "other.yaml"
    path.write_text(yaml.safe_dump({**job, "gate": gate}, allow_unicode=True))
    return str(path)


def run_dir(outcome):
    return outcome.root / "runs" / outcome.summary["run_id"]


def test_gate_that_closes_is_proven(first, selftest):
    done = selftest("latest")
    assert (done.returncode, done.stderr) == (0, "")
    *_, verdict, record = done.stdout.splitlines()
    assert verdict.startswith("Proven: ")
    path = run_dir(first) / "gate-selftest.json"
    assert record.endswith("gate-selftest.json")
    found = json.loads(path.read_text(encoding="utf-8"))
    assert {t["name"]: t["blessed"] for t in found["trials"]} == {
        "identical copy": True,
        "constant answer": False,
        "swapped labels": False,
        "one answer missing": False,
        "shuffled output layer": False,
    }
    assert found["proven"]
    assert (found["task"], found["gate"]) == ("classification", "the run")
    assert all(t["reasons"] for t in found["trials"] if not t["blessed"])
    assert first.versions == ["1"]  # Nothing was promoted.


def test_lax_gate_is_exposed(first, job, folder, selftest):
    lax = with_gate(folder, job, floors={"accuracy": 0.0001})
    done = selftest(first.summary["run_id"], "--config", lax)
    assert (done.returncode, done.stderr) == (4, "")
    assert "Not proven: the gate lets damaged models pass: constant answer." in (
        done.stdout
    )
    assert "  - constant answer: `gate.floors.accuracy` is 0.0001; set it above" in (
        done.stdout
    )
    found = json.loads((run_dir(first) / "gate-selftest.json").read_text("utf-8"))
    assert not found["proven"]
    passed = [t["name"] for t in found["trials"] if t["blessed"]]
    assert passed == ["identical copy", "constant answer"]


def test_gate_of_columns_that_the_run_lacks_is_refused(job, folder, selftest):
    other = {**job, "data": {**job["data"], "slices": ["channel", "summary"]}}
    bounds = {"summary": {"floors": {"accuracy": 0.5}}}
    path = with_gate(folder, other, floors={"accuracy": 0.5}, slices=bounds)
    done = selftest("latest", "--config", path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "other.yaml: its gate does not suit run" in done.stderr
    assert "names columns that `data.slices` does not: ['summary']" in done.stderr


def test_unknown_run_names_the_newest(first, selftest):
    done = selftest("20200101-1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no run '20200101-1'" in done.stderr
    assert f"The newest: {first.summary['run_id']}" in done.stderr


def test_run_that_stopped_before_the_evaluator_has_nothing_to_test(
    first, folder, job, selftest
):
    evaluated = first.summary["run_id"]
    stopped = jobs.run(folder, job, "--to", "DataGate").summary["run_id"]
    done = selftest(stopped)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"run {stopped} has no evaluation of its own" in done.stderr
    assert "It lacks Trainer.model" in done.stderr
    latest = selftest("latest")
    assert f"of run {evaluated} ..." in latest.stdout


def test_run_whose_model_was_refused_proves_nothing(folder, job, selftest):
    strict = {**job, "gate": {"floors": {"accuracy": 0.99}}}
    assert jobs.run(folder, strict).code == 4
    done = selftest("latest")
    assert (done.returncode, done.stderr) == (4, "")
    assert "In its run this model was refused." in done.stdout
    assert "Not proven: the model itself does not pass." in done.stdout
    (line,) = (x for x in done.stdout.splitlines() if x.startswith("identical copy"))
    assert "refused, wrongly" in line
    assert "below the floor 0.9900" in line


def test_artifact_that_was_deleted_is_named_with_the_way_out(first, selftest):
    run_id = sorted(p.name for p in (first.root / "runs").iterdir())[0]
    record = json.loads(
        (first.root / "runs" / run_id / "summary.json").read_text("utf-8")
    )
    model = record["artifacts"]["Trainer"]["model"]
    shutil.rmtree(model)
    done = selftest(run_id)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"run {run_id} left {model}, and there is no such folder now" in done.stderr
    assert "`texttune run --no-cache`" in done.stderr
