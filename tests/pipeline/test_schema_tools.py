"""`texttune schema`, as a person runs it: what is written, said and returned.

The job's checkpoint is one that is not there yet, so that no tokens are counted and
TensorFlow is not loaded.
"""

import os

import pytest

from pipeline import cli, schema_tools
from pipeline.config import ConfigError, load
from tests.e2e import jobs
from tests.pipeline.conftest import ROOT

OK, USAGE, STOPPED = 0, 2, 3


@pytest.fixture
def table():
    return jobs.rows(60)


@pytest.fixture
def job(job, tmp_path, table):
    """Summaries of 60 rows, with a closed slice."""
    job["task"] = "summarization"
    job["data"] = {
        "train": jobs.write_csv(tmp_path / "rows.csv", table),
        **{"text": "message", "target": "summary", "id": "id"},
        "slices": ["intent", "channel"],
        "eval_share": 0.3,
    }
    job["model"] = {"checkpoint": "create"}
    job["gate"] = {"floors": {"rouge_l": 0.1}}
    return job


@pytest.fixture
def schema(job, write, tmp_path, monkeypatch, capsys):
    """Runs `texttune schema ...` with the job; gives (exit code, output)."""
    monkeypatch.chdir(tmp_path)

    def schema(command, *arguments) -> tuple[int, str]:
        arguments = ["schema", command, "--config", write(job), *map(str, arguments)]
        code = OK
        try:
            cli.exit_with(cli.texttune, arguments)
        except SystemExit as ended:
            code = ended.code
        said = capsys.readouterr()
        return code, said.out + said.err

    return schema


@pytest.fixture
def inferred(schema, tmp_path):
    """The schema of the job's own rows, and what was said when it was made."""
    code, output = schema("infer", "--output", tmp_path / "made.pbtxt")
    assert code == OK, output
    return tmp_path / "made.pbtxt", output


def test_infer_says_what_it_wrote_and_what_comes_next(inferred):
    path, output = inferred
    assert output.startswith(f"{path}: written.\n  60 rows (")
    assert "intent: closed list of 3" in output and "target: any value" in output
    assert output.endswith(f"then set `data.reviewed_schema: {path}`.\n")


def test_data_that_made_the_schema_changes_nothing(schema, inferred):
    path, _ = inferred
    code, output = schema("diff", "--schema", path)
    assert (code, output) == (
        OK,
        "rows.csv against made.pbtxt: nothing would change.\n",
    )


def test_diff_takes_the_schema_of_the_job(schema, inferred, job):
    job["data"]["reviewed_schema"] = str(inferred[0])
    assert schema("diff")[0] == OK


def test_new_value_is_shown_with_its_row_and_stops(schema, inferred, tmp_path, table):
    table[7]["channel"] = "fax"
    new = jobs.write_csv(tmp_path / "new.csv", table)
    code, output = schema("diff", "--data", new, "--schema", inferred[0])
    assert code == STOPPED
    assert "new.csv against made.pbtxt: a run would be stopped." in output
    assert "Values of 'channel' that the schema does not list:\n  'fax': 1 row:" in (
        output
    )
    assert "(r7)" in output


def test_value_that_is_gone_is_told_and_stops_nothing(
    schema, inferred, tmp_path, table
):
    for row in table:
        row["channel"] = "app"
    new = jobs.write_csv(tmp_path / "new.csv", table)
    code, output = schema("diff", "--data", new, "--schema", inferred[0])
    assert code == OK
    assert "no run would be stopped" in output and "'phone'" in output


def test_slice_column_that_is_missing_is_a_difference(
    schema, inferred, tmp_path, table
):
    for row in table:
        del row["channel"]
    new = jobs.write_csv(tmp_path / "new.csv", table)
    code, output = schema("diff", "--data", new, "--schema", inferred[0])
    assert code == STOPPED
    assert "Columns that are missing:\n  'channel': `data.slices` names it" in output


def test_fewer_rows_are_a_difference(schema, inferred, tmp_path, table):
    new = jobs.write_csv(tmp_path / "new.csv", table[:12])
    code, output = schema("diff", "--data", new, "--schema", inferred[0])
    assert code == STOPPED and "Fewer rows than the schema asks for" in output


@pytest.mark.parametrize("command", ["infer", "diff"])
def test_data_that_cannot_be_used_is_refused(
    schema, inferred, tmp_path, table, command
):
    del table[0]["message"]
    new = tmp_path / "new.csv"
    new.write_text("id,summary,channel,intent\nr1,s,app,x\n")
    to = {"infer": ["--output", tmp_path / "other.pbtxt"], "diff": []}[command]
    named = {"infer": [], "diff": ["--schema", inferred[0]]}[command]
    code, output = schema(command, "--data", new, *to, *named)
    assert (
        code == STOPPED and "names the column 'message', which is not there" in output
    )
    assert not (tmp_path / "other.pbtxt").exists()


def test_too_many_rejected_rows_make_no_schema(schema, tmp_path, table):
    for row in table[:30]:
        row["summary"] = ""
    new = jobs.write_csv(tmp_path / "new.csv", table)
    path = tmp_path / "made.pbtxt"
    code, output = schema("infer", "--data", new, "--output", path)
    assert code == STOPPED and "30 of 60 rows" in output and "empty target" in output
    assert not path.exists()
    share = "data.gate.max_rejected_share=0.5"
    code, output = schema("infer", "--data", new, "--output", path, "--set", share)
    assert code == OK and "30 more were rejected and have no part in it" in output


def test_file_that_is_there_is_kept_without_force(schema, inferred):
    path, _ = inferred
    path.write_text("reviewed by a person")
    code, output = schema("infer", "--output", path)
    assert code == USAGE and "replace it with --force" in output
    assert path.read_text() == "reviewed by a person"
    code, output = schema("infer", "--output", path, "--force")
    assert code == OK and path.read_text().startswith("# Schema of the raw features")


@pytest.mark.parametrize(
    "output, said",
    [
        ("none/a.pbtxt", "there is no folder none"),
        ("a.csv", "ends in .pbtxt"),
        ("folder.pbtxt", "this is a folder"),
        ("file/a.pbtxt", "there is no folder file"),
    ],
)
def test_output_that_cannot_be_written_is_refused(
    job, write, tmp_path, monkeypatch, output, said
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.pbtxt").mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=f"^--output {output}: .*{said}"):
        schema_tools.infer(load(write(job)), job="job", output=output, force=False)


def test_full_disk_leaves_the_reviewed_file(job, write, mounted):
    folder = mounted("size=8k")
    path = folder / "a.pbtxt"
    path.write_text("reviewed")
    (folder / "filler").write_bytes(b"x" * 4096)
    with pytest.raises(ConfigError, match="it cannot be written: No space left"):
        schema_tools.infer(load(write(job)), job="job", output=str(path), force=True)
    assert path.read_text() == "reviewed"


def test_diff_without_any_schema_is_refused(schema):
    code, output = schema("diff")
    assert code == USAGE and "Pass one with --schema" in output


def test_schema_that_is_not_there_or_none_is_refused(schema, tmp_path):
    code, output = schema("diff", "--schema", "nmae")
    assert code == USAGE and "--schema: there is no schema 'nmae'" in output
    code, output = schema("diff", "--schema", tmp_path / "rows.csv")
    assert code == USAGE and "rows.csv, line 1: " in output


def test_lengths_that_cannot_be_compared_yet_are_told(schema, inferred):
    path, _ = inferred
    limit = "sequence_length_constraints { max_sequence_length: 3 }"
    shape = "  shape { dim { size: 1 } }\n"
    limited = f"{shape}  natural_language_domain {{ {limit} }}\n"
    path.write_text(path.read_text().replace(shape, limited, 1))
    code, output = schema("diff", "--schema", path)
    assert (
        code == OK and "Lengths are not compared:\n  The checkpoint is made" in output
    )


def test_schema_in_schemas_goes_by_its_name():
    config = load(str(ROOT / "configs" / "intent.yaml"))
    path = schema_tools.default_output(config)
    assert schema_tools.name_of(path) == "support_intent"
    assert schema_tools.schema_to_compare(config, None)[0] == os.path.abspath(path)
