"""Mistakes that are answered before anything heavy is imported, and nothing is lost.

Each runs the real command in a process of its own, with a version in production.
"""

import json
import os
import subprocess
import sys

import pytest

from tests.e2e import jobs

USAGE, DATA_REFUSED = 2, 3
HEAVY = ("tensorflow", "tfx", "apache_beam", "transformers", "ml_metadata")


@pytest.fixture
def job(tmp_path):
    """A job whose production folder already holds version 7."""
    data = jobs.write_csv(tmp_path / "rows.csv", jobs.rows(12))
    checkpoint = jobs.write_bert(tmp_path / "bert")
    job = jobs.classification(tmp_path, data, checkpoint)
    version = tmp_path / "root" / "serving" / "tiny-intent" / "7"
    version.mkdir(parents=True)
    (version / "saved_model.pb").write_text("the model in production")
    return job


@pytest.fixture
def refused(tmp_path):
    """Runs a job that must be refused; checks what holds for every refusal."""

    def run(job, code, *arguments) -> str:
        outcome = jobs.run(tmp_path, job, *arguments)
        assert outcome.code == code, outcome.output
        assert "Traceback" not in outcome.output
        assert outcome.versions == ["7"]
        assert not (outcome.root / "runs").exists()
        return outcome.output

    return run


def test_missing_file_names_key_and_path(job, refused, tmp_path):
    job["data"]["train"] = str(tmp_path / "gone.csv")
    output = refused(job, USAGE)
    assert f"data.train: there is no file {tmp_path / 'gone.csv'}" in output


@pytest.mark.parametrize(
    "content, said",
    [("", "is empty"), ("message,intent,channel,id\n", "a header and no row")],
    ids=["empty", "header_only"],
)
def test_file_without_rows_is_refused_as_data(job, refused, tmp_path, content, said):
    (tmp_path / "rows.csv").write_text(content)
    output = refused(job, DATA_REFUSED)
    assert "Data refused." in output
    assert "rows.csv" in output and said in output


def test_missing_column_lists_the_columns_and_the_near_match(job, refused):
    job["data"]["text"] = "mesage"
    output = refused(job, DATA_REFUSED)
    assert "'mesage'" in output and "did you mean 'message'?" in output.lower()
    for column in ("id", "message", "intent", "channel", "summary"):
        assert column in output


def test_unknown_key_is_refused(job, refused):
    job["trian"] = {"epochs": 3}
    assert "trian: there is no such key. Did you mean `train`?" in refused(job, USAGE)


def test_wrong_type_is_refused(job, refused):
    job["train"]["epochs"] = "three"
    assert "Received: 'three'" in refused(job, USAGE)


def test_checkpoint_without_its_tokenizer_is_refused(job, refused, tmp_path):
    os.remove(tmp_path / "bert" / "vocab.txt")
    assert "lacks its tokenizer: a bert checkpoint needs vocab.txt" in refused(
        job, USAGE
    )


def test_root_that_cannot_be_written_is_refused(job, refused, tmp_path):
    # Below a file, since the superuser may write into any folder.
    (tmp_path / "a-file").write_text("")
    output = refused(job, USAGE, "--root", str(tmp_path / "a-file" / "root"))
    assert "cannot be written to: Not a directory" in output
    assert "--root" in output


def test_root_on_a_read_only_disk_is_refused(job, tmp_path, mounted):
    folder = mounted("ro")
    outcome = jobs.run(tmp_path, job, "--root", str(folder / "root"))
    assert outcome.code == USAGE
    assert "cannot be written to: Read-only file system" in outcome.output
    assert outcome.versions == ["7"]


def test_root_on_a_full_disk_is_refused(job, tmp_path, mounted):
    outcome = jobs.run(tmp_path, job, "--root", str(mounted("size=2m") / "root"))
    assert outcome.code == USAGE
    assert "MB of free space; a run needs at least 500 MB" in outcome.output


@pytest.mark.parametrize("name", ["runs", "schemas", "artifacts"])
def test_root_with_a_file_in_place_of_a_folder_is_refused(job, tmp_path, name):
    (tmp_path / "root" / name).write_text("")
    outcome = jobs.run(tmp_path, job)
    assert outcome.code == USAGE, outcome.output
    assert f"{name} is no folder" in outcome.output


@pytest.mark.parametrize("kind", ["junk", "folder"])
def test_metadata_that_is_no_database_is_refused(job, refused, tmp_path, kind):
    path = tmp_path / "root" / "metadata.sqlite"
    path.mkdir() if kind == "folder" else path.write_text("junk" * 100)
    assert "is not the metadata of earlier runs" in refused(job, USAGE)


def test_lock_that_is_a_folder_is_refused(job, refused, tmp_path):
    (tmp_path / "root" / ".lock").mkdir()
    assert ".lock: cannot be used: Is a directory" in refused(job, USAGE)


def test_folder_without_data_is_refused(job, refused, tmp_path):
    job["data"]["train"] = str(tmp_path / "nothing")
    (tmp_path / "nothing").mkdir()
    (tmp_path / "nothing" / "_SUCCESS").write_text("")
    assert "no data file, only ['_SUCCESS']" in refused(job, DATA_REFUSED)


def test_deliveries_without_a_complete_one_are_refused(job, refused, tmp_path):
    job["data"]["train"] = str(tmp_path / "span-{SPAN}")
    (tmp_path / "span-1").mkdir()
    output = refused(job, DATA_REFUSED)
    assert f"no span is complete: span 1 (no _SUCCESS in {tmp_path}/span-1)" in output


def test_file_in_place_of_deliveries_needs_no_word_on_spans(job, refused, tmp_path):
    job["data"]["train"] = str(tmp_path / "span-{SPAN}")
    job["data"]["spans"] = {"window": 2}
    output = refused(job, USAGE, "--data", str(tmp_path / "gone.csv"))
    assert f"data.train: there is no file {tmp_path / 'gone.csv'}" in output


def test_spans_on_the_command_line_are_those_of_the_job(job, refused, tmp_path):
    job["data"]["train"] = str(tmp_path / "none-{SPAN}.csv")
    job["data"]["spans"] = {"marker": "done"}
    for number in (1, 2):
        (tmp_path / f"t-{number}.csv").write_text("")
    output = refused(job, DATA_REFUSED, "--data", str(tmp_path / "t-{SPAN}.csv"))
    assert "span 2 (no t-2.csv.done in" in output


def test_pipe_as_data_is_refused_and_not_waited_for(job, refused, tmp_path):
    job["data"]["train"] = str(tmp_path / "pipe.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    assert "this is no regular file" in refused(job, DATA_REFUSED)


def test_address_as_data_says_what_to_do(job, refused):
    job["data"]["train"] = "gs://bucket/rows.csv"
    assert "copy the file here, or mount the bucket" in refused(job, USAGE)


def test_empty_root_is_refused(job, refused):
    assert "runner.root: " in refused(job, USAGE, "--root", "")


@pytest.mark.parametrize(
    "override",
    [
        *("gate.floors.accuracy=-1", "train.clip_norm=.inf"),
        *("gate.floors.accuracy=.nan", "serving.max_latency_seconds=.inf"),
        *("runner.root=a[1]", "train.seed=99999999999", "data.eval=''"),
    ],
)
def test_value_that_could_never_work_is_refused(job, refused, override):
    key = override.partition("=")[0]
    assert f": {key}: " in refused(job, USAGE, "--set", override)


def test_unknown_node_lists_the_nodes(job, refused):
    output = refused(job, USAGE, "--from", "Trainr")
    assert "Allowed: Checkpoint, ExampleGen" in output


def test_part_that_ends_before_it_begins_is_refused(job, refused):
    output = refused(job, USAGE, "--from", "Evaluator", "--to", "Trainer")
    assert "Trainer comes before Evaluator" in output


def test_part_without_an_earlier_run_is_refused(job, refused):
    assert "there is no earlier run" in refused(job, USAGE, "--from", "Trainer")


def test_second_run_in_a_root_is_refused_with_the_holders_pid(job, refused):
    from pipeline.lock import RootLock

    lock = RootLock(job["runner"]["root"])
    lock.acquire()
    assert f"Another run (pid {os.getpid()})" in refused(job, USAGE)
    lock.release()


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["--set", "train.epochs=x"], ["--config", "gone.yaml"]],
    ids=["help", "wrong_type", "missing_config"],
)
def test_answer_needs_no_heavy_import(arguments):
    code = (
        "import json, sys\n"
        "from pipeline.cli import run_main\n"
        "try:\n    run_main(sys.argv[1:])\n"
        "except SystemExit:\n    pass\n"
        f"print(json.dumps([m for m in {HEAVY!r} if m in sys.modules]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=jobs.ROOT,
        capture_output=True,
        text=True,
    )
    assert json.loads(done.stdout.splitlines()[-1]) == []


def test_reviewed_schema_that_is_none_names_file_and_line(job, refused, tmp_path):
    schema = tmp_path / "broken.pbtxt"
    schema.write_text('feature {\n  name: "text"\n  typ: BYTES\n}\n')
    job["data"]["reviewed_schema"] = str(schema)
    output = refused(job, USAGE)
    assert f"data.reviewed_schema: {schema}, line 3: " in output
