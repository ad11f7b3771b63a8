"""What a person reads: escaped, complete, and never a success that is none."""

import io

import pytest

from components.example_gen.account import Account, FileAccount
from pipeline import terminal


@pytest.fixture
def said():
    """A terminal that is no screen, and what was said on it so far."""
    out = io.StringIO()
    shown = terminal.Terminal(out)
    shown.text = out.getvalue
    return shown


def record(outcome, **fields):
    return {
        "outcome": outcome,
        "config": {"task": "classification", "model": {"checkpoint": "package:x"}},
        "failure": None,
        "metrics": [],
        "examples": {},
        "checks": [],
        "refused_by_tfma": [],
        "model_check": None,
        "push": None,
        "seconds": 1.0,
        "peak_memory_mb": 10,
        "log": "runs/r1/log.txt",
        **fields,
    }


def failure(*findings, node="DataGate"):
    return {"failure": {"node": node, "findings": list(findings)}}


def metric(value, *, where="Overall", model="candidate"):
    return {"metric": "accuracy", "slice": where, "model": model, "value": value}


def test_promoted_run_names_version_metrics_and_how_to_ask(said):
    push = {"pushed": 1, "pushed_version": "3", "pushed_destination": "served/job/3"}
    metrics = [metric(0.9), metric(0.8, model="baseline"), metric(None, where="c: 1")]
    said.finish(
        record(
            "pushed", push=push, metrics=metrics, examples={"Overall": 10, "c: 1": 4}
        )
    )
    text = said.text()
    assert "Promoted: version 3 is the model to serve." in text
    assert "0.9000 (+0.1000)" in text
    assert "In brackets: the change against the baseline." in text
    assert text.index("Overall") < text.index("c: 1")
    assert "ask --model served/job 'my card" in text


def test_refused_model_is_said_with_every_reason_and_offers_no_question(said):
    checks = [
        {"passed": False, "in_words": "accuracy 0.1 is below the floor 0.5"},
        {"passed": True, "in_words": "macro_f1 is fine"},
    ]
    problems = [{"message": "the answer took 9 s"}]
    said.finish(
        record("not blessed", checks=checks, model_check={"problems": problems})
    )
    text = said.text()
    assert "Not promoted. Production is unchanged." in text
    assert "  - accuracy 0.1 is below the floor 0.5" in text
    assert "  - ModelCheck: the answer took 9 s" in text
    assert "macro_f1 is fine" not in text
    assert "Ask it" not in text


def test_refusal_that_no_bound_explains_is_in_tfmas_words(said):
    refused = [{"metric": "", "slice": "c: 1", "message": "no row  is\nin this slice"}]
    said.finish(record("not blessed", refused_by_tfma=refused))
    assert "  - a metric for c: 1: no row is in this slice" in said.text()


def test_refusal_without_any_reason_is_still_said(said):
    said.finish(record("not blessed"))
    assert "did not bless the model, without a reason" in said.text()


@pytest.mark.parametrize(
    "outcome, verdict",
    [
        ("data refused", "Data refused by DataGate. Production is unchanged."),
        ("failed", "Failed in DataGate."),
        ("interrupted", "Interrupted in DataGate."),
    ],
)
def test_run_that_stopped_says_where_and_why(said, outcome, verdict):
    said.finish(record(outcome, **failure("row 7 is bad")))
    assert verdict in said.text()
    assert "  - row 7 is bad" in said.text()


@pytest.mark.parametrize(
    "text", ["'[red]x[/red]' [/] [bold]", r"C:\[new]\x", "ends with \\", ":smile:"]
)
def test_text_of_the_data_is_shown_as_it_is(said, text):
    said.finish(record("data refused", **failure(text)))
    assert f"  - {text}\n" in said.text()


def test_unchanged_run_names_the_run_and_version_that_stand(said):
    push = {"pushed": 1, "pushed_version": "3", "pushed_destination": "served/job/3"}
    said.nothing_to_do(record("pushed", push=push, run_id="r1"))
    assert said.text().startswith(
        "Nothing to do. Data, configuration, code and checkpoint are those of run r1, "
        "whose model is version 3.\nAsk it:"
    )


def test_part_of_a_run_is_not_called_promoted(said):
    said.finish(record("done"))
    assert "part of the DAG has run. Production is unchanged." in said.text()


def test_random_weights_are_never_presented_as_a_success_alone(said):
    config = {"task": "summarization", "model": {"checkpoint": "create"}}
    said.finish(record("done", config=config, metrics=[metric(0.3)]))
    assert "with random weights" in said.text()


STEP = {
    "kind": "step",
    "epoch": 1,
    "epochs": 2,
    "step": 5,
    "steps": 20,
    "loss": 1.25,
    "examples_per_second": 31.6,
    "seconds_left": 125.2,
}


def test_training_lines_are_told_only_so_often(said):
    said.show(STEP)
    said.show({**STEP, "step": 6})
    (line,) = said.text().splitlines()
    assert line.split() == (
        "Trainer epoch 1/2, step 5/20, loss 1.250, 32 examples/s, 2:05 left".split()
    )


def test_epoch_is_told_with_both_losses(said):
    found = {"loss": 1.25, "validation_loss": 2.5, "metrics": {"loss": 2.5}}
    said.show({"kind": "epoch", "epoch": 1, "epochs": 2, "seconds": 9.6, **found})
    assert said.text() == "  epoch 1/2: loss 1.250, on the eval split 2.500, 10 s\n"


def test_epoch_is_told_with_the_metrics_it_has(said):
    metrics = {"loss": 2.5, "accuracy": 0.5}
    found = {"loss": 1.25, "validation_loss": 2.5, "metrics": metrics}
    said.show({"kind": "epoch", "epoch": 1, "epochs": 2, "seconds": 9.6, **found})
    assert "on the eval split 2.500, accuracy 0.500, 10 s" in said.text()


TRAINING = {
    "kind": "training",
    "updates": 20,
    "updates_before": 0,
    "resumed": False,
    "parameters": 1000,
    "trainable_parameters": 1000,
}


def test_training_that_goes_on_says_from_where(said):
    said.show({**TRAINING, "updates_before": 7, "resumed": True})
    assert said.text() == "  going on at update 7 of 20\n"


def test_training_of_some_weights_says_how_many(said):
    said.show({**TRAINING, "trainable_parameters": 25})
    assert said.text() == "  25 of 1,000 parameters learn (2.5%)\n"


def test_note_is_told(said):
    said.show({"kind": "note", "message": "update-7 is damaged"})
    assert said.text() == "  note update-7 is damaged\n"


def test_interrupted_training_is_said_to_be_saved_and_other_nodes_are_not(said):
    said.ending()
    assert said.text() == ""
    said.show(TRAINING)
    said.ending()
    assert "the training is being saved" in said.text()


def test_first_training_line_waits_until_the_time_left_is_no_guess(said):
    said.show(TRAINING)
    said.show(STEP)
    assert said.text() == ""


def test_log_holds_what_was_said(said, tmp_path):
    said._log = str(tmp_path / "log.txt")
    said.finish(record("data refused", **failure("row 7 is bad")))
    lines = (tmp_path / "log.txt").read_text().splitlines()
    assert lines[1].endswith(" texttune: - row 7 is bad")


def test_rows_read_so_far_are_shown_while_the_files_are_read():
    shown = terminal.Terminal(io.StringIO())
    shown.show({"kind": "node_started", "node": "ExampleGen"})
    for portion, rows in ((0, 1000), (1, 4000), (0, 3000)):
        shown.show({"kind": "reading", "portion": portion, "rows": rows})
    (line,) = shown._now().renderables
    assert line.text.plain == "ExampleGen 7,000 rows read"


def test_example_gen_shows_the_account(said):
    first, second = (FileAccount(name, "CSV", "", 0) for name in ("a.csv", "b.csv"))
    first.rows_read, first.kept, first.rejected = 1200, 1190, {"empty text": 4}
    first.left_out_by = {"max_train_examples": 6}
    second.rows_read, second.kept, second.rejected = 3, 2, {"empty text": 1}
    for number, lines in ((2, 3), (9, 7)):
        first.count_lines(number, lines)
    account = Account([first, second], {"train": 1000, "eval": 192})
    said.show({"kind": "data", "account": account.as_json()})
    finished = {"node": "ExampleGen", "cached": False, "seconds": 0.25}
    said.show({"kind": "node_finished", **finished})
    assert said.text().endswith(
        "1,203 rows read, 1,192 kept, 1,000 train, 192 eval, "
        "5 rejected (empty text), 6 left out, 2 over several lines (at most 7)\n"
    )


def test_control_characters_of_the_data_do_not_reach_the_terminal(said):
    said.finish(record("data refused", **failure("a\x1b[2Jb\x07\rc")))
    assert r"  - a\x1b[2Jb\x07\rc" in said.text()


def test_unknown_event_is_ignored(said):
    said.show({"kind": "from a later release"})
    assert said.text() == ""


def test_deliveries_have_a_line_each(said):
    said.spans(["spans 1 and 2 of 2", "span 3 is not complete yet: left out"])
    assert said.text() == (
        "  data: spans 1 and 2 of 2\n  data: span 3 is not complete yet: left out\n"
    )
