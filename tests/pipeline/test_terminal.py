"""What a person reads: escaped, complete, and never a success that is none."""

import io

import pytest
import rich.console

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
        "evaluation": None,
        "model_check": None,
        "push": None,
        "seconds": 1.0,
        "peak_memory_mb": 10,
        "log": "runs/r1/log.txt",
        **fields,
    }


def failure(*findings, node="DataGate"):
    return {"failure": {"node": node, "findings": list(findings)}}


def metric(value, *, where="Overall", model="candidate", name="accuracy"):
    low, high = (None, None) if value is None else (value - 0.02, value + 0.04)
    numbers = {"value": value, "low": low, "high": high}
    return {"metric": name, "slice": where, "model": model, **numbers}


def evaluation(**fields):
    return {
        "metrics": [],
        "differences": [],
        "rows": {},
        "checks": [],
        "confidence": 0.95,
        "notes": [],
        "incomparable": {},
        "left_out": {},
        "refused": None,
        **fields,
    }


def test_promoted_run_names_version_metrics_and_how_to_ask(said):
    push = {"pushed": 1, "pushed_version": "3", "pushed_destination": "served/job/3"}
    found = evaluation(
        metrics=[metric(0.9), metric(None, where="c: 1"), metric(2.0, name="log_loss")],
        rows={"Overall": 10, "c: 1": 4},
    )
    said.finish(record("pushed", push=push, evaluation=found))
    text = said.text()
    assert "Promoted: version 3 is the model to serve." in text
    assert "0.9000 ±0.03" in text
    assert "Half of the interval is behind ± (95% confidence)." in text
    assert "log_loss" not in text
    assert text.index("Overall") < text.index("c: 1")
    assert "ask --model served/job 'my card" in text


def test_promoted_model_is_told_with_the_bounds_that_hold(said):
    push = {"pushed": 1, "pushed_version": "3", "pushed_destination": "served/job/3"}
    of = {"metric": "accuracy", "passed": True, "in_words": "accuracy 0.9 reaches 0.5"}
    more = {**of, "in_words": "accuracy for c: 1 reaches 0.4"}
    found = evaluation(checks=[of, *[more] * 6])
    said.finish(record("pushed", push=push, evaluation=found))
    assert (
        "is the model to serve.\n  - accuracy 0.9 reaches 0.5\n"
        + "  - accuracy for c: 1 reaches 0.4\n" * 4
        + "  - 2 more bounds hold; the report has all.\n"
    ) in said.text()


def test_bounds_that_were_not_judged_are_noted_and_cut(said):
    check = {"metric": "accuracy", "passed": None}
    checks = [{**check, "in_words": f"c: {n} was not judged: 3 rows"} for n in range(5)]
    found = evaluation(metrics=[metric(0.9)], rows={"Overall": 9}, checks=checks)
    said.finish(record("done", evaluation=found))
    assert [line for line in said.text().splitlines() if line.startswith("note")] == [
        "note c: 0 was not judged: 3 rows.",
        "note c: 1 was not judged: 3 rows.",
        "note c: 2 was not judged: 3 rows.",
        "note 2 more bounds were not judged; the report has all.",
    ]


def test_refused_model_is_said_with_every_reason_and_offers_no_question(said):
    checks = [
        {"passed": False, "in_words": "accuracy 0.1 is below the floor 0.5"},
        {"passed": True, "in_words": "macro_f1 is fine"},
    ]
    problems = [{"message": "the answer took 9 s"}]
    found = evaluation(checks=[{**check, "metric": "accuracy"} for check in checks])
    check = {"problems": problems}
    said.finish(record("not blessed", evaluation=found, model_check=check))
    text = said.text()
    assert "Not promoted. Production is unchanged." in text
    assert "  - accuracy 0.1 is below the floor 0.5" in text
    assert "  - ModelCheck: the answer took 9 s" in text
    assert "macro_f1 is fine" not in text
    assert "Ask it" not in text


def test_candidate_that_did_not_answer_is_refused_in_words(said):
    found = evaluation(refused="The candidate gave 2 answers to 3 texts.")
    said.finish(record("not blessed", evaluation=found))
    assert "  - The candidate gave 2 answers to 3 texts." in said.text()


def test_metric_of_the_gate_is_shown_beside_the_main_ones(said):
    of_label = {"metric": "recall", "passed": True, "in_words": ""}
    checks = [of_label | {"metric": "log_loss"}] * 2 + [of_label]
    found = evaluation(
        metrics=[metric(2.0, name="log_loss")], rows={"Overall": 9}, checks=checks
    )
    said.finish(record("done", evaluation=found))
    assert "log_loss" in said.text()
    assert said.text().count("2.0000") == 1
    assert "recall" not in said.text()


def test_very_many_reasons_are_cut_and_counted(said):
    check = {"metric": "recall", "passed": False, "in_words": "recall is low"}
    found = evaluation(checks=[check] * 25)
    said.finish(record("not blessed", evaluation=found))
    assert said.text().count("recall is low") == 20
    assert "  - 5 more bounds are missed; the report has all." in said.text()


def test_difference_to_the_other_models_is_told_with_its_interval(said):
    found = evaluation(
        metrics=[metric(0.9)],
        rows={"Overall": 9},
        differences=[
            metric(0.1, model="baseline"),
            metric(0.2, model="untuned"),
            metric(0.3, model="baseline", where="c: 1"),
            metric(None, model="baseline", name="macro_f1"),
        ],
    )
    said.finish(record("done", evaluation=found))
    assert (
        "Against the model blessed last: accuracy +0.1000 (+0.0800 to +0.1400)\n"
        "Against the untuned checkpoint: accuracy +0.2000 (+0.1800 to +0.2400)\n"
    ) in said.text()


def test_what_a_reader_of_the_scores_has_to_know_is_noted(said):
    found = evaluation(
        metrics=[metric(0.9)],
        rows={"Overall": 9},
        notes=["The model blessed last was not asked."],
        incomparable={"baseline": "It lacks the label 'x'."},
        left_out={"product": 1200},
        unknown_labels={"candidate": {"new": 3}, "baseline": {"old": 1}},
    )
    said.finish(record("done", evaluation=found))
    assert [line for line in said.text().splitlines() if line.startswith("note")] == [
        "note The model blessed last was not asked.",
        "note It lacks the label 'x'.",
        "note 1,200 slices of few rows by product are not shown.",
        "note Eval rows have labels that training never saw, so wrong: 'new' (3).",
    ]


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
    said.finish(record("done", config=config, evaluation=evaluation()))
    assert "with random weights" in said.text()


def test_evaluation_shows_batches_and_time_left():
    shown = terminal.Terminal(io.StringIO())
    shown.show({"kind": "node_started", "node": "Evaluator"})
    for batch, second in ((2, 10.0), (0, 12.0), (1, 14.0)):
        event = {"kind": "evaluating", "batch": batch, "batches": 33, "time": second}
        shown.show(event)
    out = io.StringIO()
    rich.console.Console(file=out, width=100).print(shown._now())
    assert "batch 3/33, 1:00 left" in out.getvalue()


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
