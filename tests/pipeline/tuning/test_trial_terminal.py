"""A trial's run: quiet on the terminal, told in its log."""

import io

import pytest
from rich.console import Console

from pipeline.config import load
from pipeline.preparing import Options, prepare
from pipeline.tuning.terminal import TrialTerminal


@pytest.fixture
def plan(job, write, tmp_path):
    (tmp_path / "rows.csv").write_text("message,intent\na,b\n")
    return prepare(load(write(job)), Options(to_node="Trainer"))


STEP = ("epoch", "epochs", "loss", "examples_per_second", "seconds_left")
EPOCH = {
    "kind": "epoch",
    "epoch": 1,
    "epochs": 2,
    "loss": 0.5,
    "validation_loss": 0.25,
    "metrics": {"loss": 0.25},
    "seconds": 1.0,
}


def test_trial_is_quiet_and_its_log_has_all(plan, tmp_path):
    shown = io.StringIO()
    terminal = TrialTerminal("trial 3: epochs 2", shown)
    terminal.start(plan, "r1", str(tmp_path))
    terminal.show(EPOCH)
    terminal.show({"kind": "note", "message": "a note"})
    terminal.stop()
    terminal.finish({"run_id": "r1"})
    assert shown.getvalue() == ""
    log = (tmp_path / "log.txt").read_text()
    assert "epoch 1/2" in log and "a note" in log
    assert terminal.record == {"run_id": "r1"}


def test_warning_and_interrupt_are_shown(plan, tmp_path):
    shown = io.StringIO()
    terminal = TrialTerminal("trial 3", shown)
    terminal.start(plan, "r1", str(tmp_path))
    terminal.warn("The disk is slow.")
    terminal.show({"kind": "step", "step": 1, "steps": 2, **dict.fromkeys(STEP, 1)})
    terminal.ending()
    assert "The disk is slow." in shown.getvalue()
    assert "Interrupted: the trial's training is being saved" in shown.getvalue()


def test_live_line_names_the_trial_and_its_training():
    terminal = TrialTerminal("trial 3: epochs 2")
    terminal._running["Trainer"] = 0.0
    terminal.show({"kind": "step", "step": 1, "steps": 2, **dict.fromkeys(STEP, 1)})
    shown = io.StringIO()
    Console(file=shown, width=120).print(terminal._now())
    assert shown.getvalue().startswith("trial 3: epochs 2")
    assert "epoch 1/1, step 1/2" in shown.getvalue()
