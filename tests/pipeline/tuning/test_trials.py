"""What a run's record says about its settings."""

import csv
import math

from pipeline.tuning import table
from pipeline.tuning.trials import Trial, best_first, result_of


def record(*losses, failure=None, exit_code=0):
    history = [
        {"epoch": n, "metrics": {"loss": loss, "accuracy": loss}}
        for n, loss in enumerate(losses, start=1)
    ]
    return {
        "exit_code": exit_code,
        "seconds": 2.0,
        "run_id": "r1",
        "fingerprints": {"data": "d"},
        "failure": failure,
        "training": history,
    }


def test_value_is_that_of_the_best_epoch():
    losses = record(0.5, 0.2, math.nan, 0.3)
    least = result_of(losses, metric="loss", direction="min")
    most = result_of(losses, metric="accuracy", direction="max")
    assert (least.value, least.epoch) == (0.2, 2)
    assert (most.value, most.epoch) == (0.5, 1)
    assert (least.run_id, least.data, least.reason) == ("r1", "d", None)


def test_metric_that_was_never_a_number_fails_the_trial():
    result = result_of(record(math.nan), metric="loss", direction="min")
    assert (result.value, result.exit_code) == (None, 1)
    assert result.reason == "loss was not a number after any epoch."


def test_failed_run_gives_its_node_and_findings():
    failure = {"node": "Trainer", "findings": ["It diverged.", "Lower it."]}
    failed = record(failure=failure, exit_code=1)
    result = result_of(failed, metric="loss", direction="min")
    assert (result.value, result.exit_code) == (None, 1)
    assert result.reason == "Trainer: It diverged. Lower it."


def trial(number, value, state="done"):
    return Trial(number, state, {"train.epochs": number}, value=value)


def test_best_comes_first_and_of_equal_ones_the_earlier():
    trials = [trial(0, 0.4), trial(1, None, "failed"), trial(2, 0.2), trial(3, 0.2)]
    assert [t.number for t in best_first(trials, direction="min")] == [2, 3, 0]
    assert [t.number for t in best_first(trials, direction="max")] == [0, 2, 3]


def test_table_has_a_line_for_each_trial(tmp_path):
    failed = Trial(1, "failed", {}, reason='a "b", c')
    path = tmp_path / "t.csv"
    table.write(str(path), [trial(0, 0.4), failed], keys=["train.epochs"])
    with open(path, newline="", encoding="utf-8") as f:
        done, not_done = csv.DictReader(f)
    assert (done["trial"], done["value"], done["train.epochs"]) == ("0", "0.4", "0")
    assert (not_done["state"], not_done["reason"]) == ("failed", 'a "b", c')
    assert not_done["train.epochs"] == ""
