"""The options of the command line, on runs that stop before the training."""

import pytest

from tests.e2e import jobs

pytestmark = pytest.mark.slow


@pytest.fixture
def job(tmp_path, bert, rows_file):
    return jobs.classification(tmp_path, rows_file, bert)


def test_data_and_set_replace_file_eval_and_column(tmp_path, job, rows_file):
    table = [
        {"body": row["message"], "intent": row["intent"], "channel": row["channel"]}
        for row in jobs.rows(70)
    ]
    other = jobs.write_csv(tmp_path / "other.csv", table)
    job["data"]["eval"] = rows_file
    outcome = jobs.run(
        tmp_path,
        job,
        *("--data", other, "--set", "data.text=body", "--set", "data.id=null"),
        *("--to", "ExampleGen"),
    )
    assert outcome.code == 0, outcome.output
    (file,) = outcome.summary["data"]["files"]
    assert file["path"] == other
    assert sum(outcome.summary["data"]["splits"].values()) == 70
    assert list(outcome.states) == ["ExampleGen"]


def test_data_may_be_a_glob_over_several_files(tmp_path, job):
    table = jobs.rows(80)
    jobs.write_csv(tmp_path / "week-1.csv", table[:50])
    jobs.write_csv(tmp_path / "week-2.csv", table[50:])
    (tmp_path / "week-3.csv.tmp").write_text("half a download")
    outcome = jobs.run(tmp_path, job, "--data", "week-*", "--to", "ExampleGen")
    assert outcome.code == 0, outcome.output
    files = outcome.summary["data"]["files"]
    assert [(f["path"], f["kept"]) for f in files] == [
        (str(tmp_path / "week-1.csv"), 50),
        (str(tmp_path / "week-2.csv"), 30),
    ]


def test_limits_take_a_stable_sample_and_account_for_the_rest(tmp_path, job):
    limits = ("--max-train-examples", "20", "--max-eval-examples", "10")
    outcome = jobs.run(tmp_path, job, *limits, "--to", "ExampleGen")
    assert outcome.code == 0, outcome.output
    assert outcome.summary["data"]["splits"] == {"train": 20, "eval": 10}
    assert "90 rows read, 30 kept, 20 train, 10 eval, 60 left out" in outcome.output


def test_root_takes_everything_that_a_run_writes(tmp_path, job):
    elsewhere = tmp_path / "elsewhere"
    outcome = jobs.run(tmp_path, job, "--root", str(elsewhere), "--to", "ExampleGen")
    assert outcome.code == 0, outcome.output
    assert not outcome.root.exists()
    assert (elsewhere / "metadata.sqlite").exists()
    assert list((elsewhere / "runs").iterdir())


def test_part_says_that_nothing_was_promoted(tmp_path, job):
    outcome = jobs.run(tmp_path, job, "--to", "ExampleGen")
    assert "Done: the chosen part of the DAG has run." in outcome.output
    assert outcome.summary["outcome"] == "done"
    assert outcome.versions == []


def test_no_cache_runs_again_what_would_have_been_reused(tmp_path, job):
    jobs.run(tmp_path, job, "--to", "ExampleGen")
    again = jobs.run(tmp_path, job, "--to", "ExampleGen")
    assert again.states == {"ExampleGen": "reused"}
    anew = jobs.run(tmp_path, job, "--to", "ExampleGen", "--no-cache")
    assert anew.states == {"ExampleGen": "executed"}
