"""`texttune runs`: two runs compared, a root's runs listed, and what is refused."""

import json
import re
import shutil

import pytest

from pipeline import cli
from tests import evaluated

TARGETS = ["fee", "fee", "late", "lost"] * 10
WRONG = ["late", "late", "fee", "fee"] * 10
ROWS = evaluated.rows(TARGETS)


@pytest.fixture
def root(tmp_path):
    """Three runs: 1 is wrong everywhere, 2 right everywhere, 3 stopped early."""
    evaluated.write(tmp_path, "1", ROWS, evaluated.labelled(WRONG))
    evaluated.write(tmp_path, "2", ROWS, evaluated.labelled(TARGETS))
    stopped = {"outcome": "interrupted", "evaluation": None, "push": None}
    evaluated.write(tmp_path, "3", ROWS, evaluated.labelled(TARGETS), **stopped)
    return tmp_path


@pytest.fixture
def texttune(root, capsys):
    """Runs a command on the root; gives its exit code, output and messages."""

    def run(*arguments, on=root):
        rooted = [*arguments, "--root", str(on)]
        try:
            cli.exit_with(cli.texttune, rooted)
            code = 0
        except SystemExit as ended:
            code = ended.code
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return code, said.out, said.err

    return run


def summary(root, run_id):
    path = root / "runs" / run_id / "summary.json"
    return path, json.loads(path.read_text())


def predictions(root, run_id):
    return root / "artifacts" / run_id / "predictions.jsonl"


def test_verdict_metrics_and_page_are_told(texttune, root):
    code, out, err = texttune("runs", "compare", "1", "2")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[:2] == ["A: run 1", "B: run 2"]
    assert lines[3].startswith("B is better in accuracy by 1.0000 (1.0000 to 1.0000);")
    assert re.search(r"\naccuracy +0.0000  1.0000  \+1.0000 \(.*\) +B is better\n", out)
    assert lines[-1].endswith("compare-1-2.html")
    page = (root / "runs" / "compare-1-2.html").read_text()
    assert "B is better in accuracy by 1.0000" in page


def test_text_of_the_data_cannot_harm_the_terminal(texttune, root):
    # Worse in this slice alone, so that the verdict names it.
    rows = evaluated.rows(TARGETS, channels=["\x1b[31m\udce9"] * 10 + ["web"] * 30)
    evaluated.write(root, "4", rows, evaluated.labelled(TARGETS[:10] + WRONG[10:]))
    evaluated.write(root, "5", rows, evaluated.labelled(WRONG[:10] + TARGETS[10:]))
    code, out, _ = texttune("runs", "compare", "4", "5")
    assert code == 0
    assert "worse in 1 slice: channel: \\x1b[31m\\udce9 by 1.0000" in out


def test_text_of_the_data_forges_no_line_and_turns_none(texttune, root):
    channels = ["x\nA is better\u202e"] * 10 + ["web"] * 30
    rows = evaluated.rows(TARGETS, channels=channels)
    evaluated.write(root, "4", rows, evaluated.labelled(TARGETS[:10] + WRONG[10:]))
    evaluated.write(root, "5", rows, evaluated.labelled(WRONG[:10] + TARGETS[10:]))
    _, out, _ = texttune("runs", "compare", "4", "5")
    assert "worse in 1 slice: channel: x\\nA is better\\u202e by 1.0000" in out


def test_name_as_long_as_a_text_is_cut_in_the_verdict(texttune, root):
    rows = evaluated.rows(TARGETS, channels=["L" * 10_000] * 10 + ["web"] * 30)
    names = ("fee", "late", "lost", "N" * 10_000)
    evaluated.write(root, "4", rows, evaluated.labelled(TARGETS[:10] + WRONG[10:]))
    answers = evaluated.labelled(WRONG[:9] + [names[-1]] + TARGETS[10:], names)
    evaluated.write(root, "5", rows, answers)
    code, out, _ = texttune("runs", "compare", "4", "5")
    assert code == 0 and "worse in 1 slice: channel: LLL" in out and "L… by " in out
    assert len(out) < 3_000


def test_eval_split_of_too_few_rows_gives_no_verdict(texttune, root):
    rows = evaluated.rows(["fee"], channels=["app"])
    evaluated.write(root, "4", rows, evaluated.labelled(["late"]))
    evaluated.write(root, "5", rows, evaluated.labelled(["fee"]))
    code, out, _ = texttune("runs", "compare", "4", "5")
    assert code == 0 and out.splitlines()[3] == (
        "B has the better accuracy, by 1.0000 (1.0000 to 1.0000), but 1 eval rows are "
        "too few to judge by: less than 2, the `gate.min_slice_rows` of the runs."
    )


def test_parts_of_rouge_are_left_to_the_page(texttune, root):
    rows = evaluated.rows(["a b", "c d"])
    for run_id in ("4", "5"):
        evaluated.write(root, run_id, rows, evaluated.written(["a b", "x"]))
    _, out, _ = texttune("runs", "compare", "4", "5")
    assert "\nrouge2 " in out and "rouge2_recall" not in out
    page = (root / "runs" / "compare-4-5.html").read_text()
    assert "rouge2_recall" in page and "the same</span>" in page


def test_page_beside_the_runs_is_no_run(texttune):
    texttune("runs", "compare", "1", "2")
    _, out, _ = texttune("runs", "list")
    assert [line.split()[0] for line in out.splitlines()] == ["run", "3", "2", "1"]
    code, out, _ = texttune("runs", "compare", "previous", "latest")
    assert (code, out.splitlines()[:2]) == (0, ["A: run 1", "B: run 2"])


def test_page_goes_where_it_is_told_to(texttune, root, tmp_path):
    page = tmp_path / "page.html"
    code, out, _ = texttune("runs", "compare", "1", "2", "--output", str(page))
    assert code == 0 and page.exists()
    assert not (root / "runs" / "compare-1-2.html").exists()
    assert [path.name for path in tmp_path.glob("*.incomplete")] == []


def test_answers_that_are_gone_leave_the_records(texttune, root):
    predictions(root, "1").unlink()
    code, out, _ = texttune("runs", "compare", "1", "2")
    assert code == 0
    assert "Which is better cannot be told row by row: the answers of run 1 are " in out
    assert "B minus A" not in out


def test_run_that_has_no_folder_is_refused(texttune):
    code, out, err = texttune("runs", "compare", "1", "7")
    assert (code, out) == (2, "")
    assert "there is no run '7'" in err and "The newest: 3, 2, 1." in err


def test_run_without_an_evaluation_is_refused(texttune):
    code, out, err = texttune("runs", "compare", "1", "3")
    assert (code, out) == (2, "")
    assert "run 3 ended (interrupted) without an evaluation" in err
    assert "`texttune runs list`" in err


@pytest.mark.parametrize("other", ["1", "runs/../runs/1"])
def test_same_run_twice_is_refused(texttune, root, monkeypatch, other):
    monkeypatch.chdir(root)
    code, _, err = texttune("runs", "compare", "1", other)
    assert code == 2 and "both are run 1. Name two runs" in err


def test_other_task_is_refused(texttune, root):
    rows = evaluated.rows(["a b", "c d"])
    evaluated.write(root, "4", rows, evaluated.written(["a b", "x"]))
    code, _, err = texttune("runs", "compare", "1", "4")
    assert code == 2
    assert "run 1 is one of classification, and run 4 one of summarization" in err


def test_runs_of_two_roots_need_a_place_for_the_page(texttune, root, tmp_path):
    other = evaluated.write(tmp_path / "b", "9", ROWS, evaluated.labelled(TARGETS))
    code, _, err = texttune("runs", "compare", "1", str(other))
    assert code == 2
    assert "the runs lie in different roots" in err and "`--output FILE`" in err
    page = str(tmp_path / "page.html")
    assert texttune("runs", "compare", "1", str(other), "--output", page)[0] == 0


@pytest.mark.parametrize("text", ["", '{"run_id": "2", ', "[1]", '{"run_id": "2"}'])
def test_damaged_record_is_named(texttune, root, text):
    summary(root, "2")[0].write_text(text)
    code, _, err = texttune("runs", "compare", "1", "2")
    assert code == 2
    assert re.search(r"run 2 has a record .* \S*/2/summary.json is damaged", err)


def test_run_that_has_not_ended_is_told_from_a_damaged_one(texttune, root):
    (root / "runs" / "2" / "plan.json").write_text("{}")
    summary(root, "2")[0].unlink()
    code, _, err = texttune("runs", "compare", "1", "2")
    assert code == 2 and "run 2 has not ended, or was killed" in err


@pytest.mark.parametrize(
    "part, value, where",
    [
        ("evaluation", {"metrics": []}, "evaluation.rows"),
        ("evaluation", [1], "evaluation"),
        ("config", {"task": "poetry", "model": {}, "gate": {}}, "config.task"),
        ("config", "x", "config"),
        ("training", [{"loss": 1.0}], "training.0.epoch"),
        ("data", {"files": [{}], "splits": {}}, "data.files.0.rows_read"),
        ("model_check", {"figures": {"x": "y"}}, "model_check.figures.x"),
        ("artifacts", {"Evaluator": 3}, "artifacts.Evaluator"),
        ("push", [], "push"),
        ("nodes", None, None),
    ],
)
def test_part_of_a_record_that_is_not_one_is_named(texttune, root, part, value, where):
    path, record = summary(root, "2")
    path.write_text(json.dumps({**record, part: value}))
    code, _, err = texttune("runs", "compare", "1", "2")
    if where is None:  # A part that nothing here is made of.
        assert code == 0
        return
    assert code == 2
    assert "2/summary.json is damaged, or of another release: " in err
    assert f"`{where}" in err
    # The list tells of it, and of the others all the same.
    code, out, err = texttune("runs", "list")
    assert (code, err) == (0, "") and "1    tiny" in out


@pytest.mark.parametrize(
    "where, value",
    [
        ("seconds", "60"),
        ("peak_memory_mb", "700"),
        ("evaluation.confidence", "0.95"),
        ("evaluation.confidence", 95),
        ("evaluation.confidence", float("nan")),
        ("evaluation.rows.Overall", "40"),
        ("evaluation.metrics.0.value", "0.5"),
        ("evaluation.labels.0.rows", "5"),
        ("config.gate.min_slice_rows", "5"),
        ("data.splits.eval", "5"),
        ("training.0.epoch", 10**400),
        ("training.0.validation_loss", "0.5"),
        ("model_check.figures.requests", 10**400),
    ],
)
def test_number_that_is_none_is_named(texttune, root, where, value):
    path, record = summary(root, "2")
    *above, last = (int(key) if key.isdigit() else key for key in where.split("."))
    part = record
    for key in above:
        part = part[key]
    part[last] = value
    path.write_text(json.dumps(record))
    code, _, err = texttune("runs", "compare", "1", "2")
    assert code == 2 and f"is damaged, or of another release: `{where}" in err
    assert "Received: " in err and len(err) < 500
    code, _, err = texttune("runs", "list")
    assert (code, err) == (0, "")


def test_model_that_gave_no_answers_has_no_scores(texttune, root):
    path, record = summary(root, "2")
    nothing = {**record["evaluation"], "metrics": [], "refused": "It gave 3 answers."}
    path.write_text(json.dumps({**record, "evaluation": nothing}))
    code, _, err = texttune("runs", "compare", "1", "2")
    assert code == 2 and "run 2 has no scores: It gave 3 answers." in err


def test_torn_line_is_named_with_its_file(texttune, root):
    path = predictions(root, "2")
    path.write_text(path.read_text()[:-30])
    code, out, err = texttune("runs", "compare", "1", "2")
    assert (code, out) == (2, "")
    assert f"the answers in {path} cannot be read: line 40: it is no JSON" in err
    assert not (root / "runs" / "compare-1-2.html").exists()


def test_answers_that_are_no_text_are_named(texttune, root):
    predictions(root, "2").write_bytes(b"\xff\xfe")
    code, _, err = texttune("runs", "compare", "1", "2")
    assert code == 2
    assert "2/predictions.jsonl cannot be read: byte 0 is no UTF-8. " in err


def test_folder_in_place_of_the_answers_is_named(texttune, root):
    predictions(root, "2").unlink()
    predictions(root, "2").mkdir()
    code, _, err = texttune("runs", "compare", "1", "2")
    assert code == 2
    assert "2/predictions.jsonl cannot be read: Is a directory. " in err


def test_place_that_takes_no_page_is_told(texttune, tmp_path):
    place = str(tmp_path / "no" / "page.html")
    code, _, err = texttune("runs", "compare", "1", "2", "--output", place)
    assert code == 2 and f"{place}: cannot be written: No such file" in err
    code, _, err = texttune("runs", "compare", "1", "2", "--output", str(tmp_path))
    assert code == 2 and "cannot be written: Is a directory" in err
    assert not (tmp_path.parent / f"{tmp_path.name}.incomplete").exists()


def test_page_to_a_device_leaves_the_device(texttune, tmp_path):
    link = tmp_path / "page.html"
    link.symlink_to("/dev/null")
    assert texttune("runs", "compare", "1", "2", "--output", str(link))[0] == 0
    assert link.is_symlink() and link.is_char_device()


def test_previous_of_a_single_run_is_told(texttune, root):
    shutil.rmtree(root / "runs" / "1")
    code, _, err = texttune("runs", "compare", "previous", "latest")
    assert code == 2
    assert "previous: 1 of 2 runs in" in err and "The newest: 3, 2." in err


def test_root_without_runs_is_told(texttune, tmp_path):
    for arguments in (["list"], ["compare", "previous", "latest"]):
        code, _, err = texttune("runs", *arguments, on=tmp_path / "elsewhere")
        assert code == 2 and "`--root DIR` or `--config FILE`" in err


def test_root_and_configuration_are_not_both_taken(texttune):
    code, _, err = texttune("runs", "list", "--config", "configs/intent.yaml")
    assert code == 2 and "--root and --config both name a root" in err


def test_runs_are_listed_newest_first(texttune):
    code, out, _ = texttune("runs", "list")
    assert code == 0
    assert out.splitlines() == [
        "run  job   outcome      metric           version  seconds",
        "3    tiny  interrupted  –                      –       60",
        "2    tiny  pushed       accuracy 1.0000        2       60",
        "1    tiny  pushed       accuracy 0.0000        1       60",
    ]


def test_damaged_and_unfinished_runs_are_listed_and_said(texttune, root):
    summary(root, "3")[0].write_text("{")
    (root / "runs" / "4").mkdir()
    (root / "runs" / "4" / "plan.json").write_text("{}")
    (root / "runs" / "notes").mkdir()  # Whatever somebody has put there.
    code, out, _ = texttune("runs", "list")
    lines = out.splitlines()
    assert code == 0
    assert re.fullmatch(r"4 +– +not ended +– +– +–", lines[1])
    assert re.fullmatch(r"3 +– +damaged +– +– +–", lines[2])
    assert lines[5].startswith("4 has not ended, or was killed: there is no ")
    assert lines[6].startswith("3 has a record that cannot be read: ")
    assert len(lines) == 7


def test_older_runs_are_counted(texttune):
    _, out, _ = texttune("runs", "list", "--most", "1")
    assert out.splitlines()[1:] == [
        "3    tiny  interrupted  –             –       60",
        "2 older runs are not shown.",
    ]
