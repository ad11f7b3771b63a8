"""`texttune tune` but for the training: what is told, recorded, and refused."""

import csv

import click
import pytest

from pipeline.cli import texttune
from pipeline.config import ConfigError, load
from pipeline.lock import RootLock
from pipeline.preparing import Options, prepare
from pipeline.tuning.running import Asked, key_of, tune
from pipeline.tuning.space import Space, override

SPACE = {"train.epochs": {"low": 1, "high": 8}, "train.dropout": {"choices": [0, 0.1]}}


@pytest.fixture
def asked(job, write, tmp_path):
    """What a command line says of a small job, with overrides."""
    (tmp_path / "rows.csv").write_text("message,intent\na,b\n")
    path = write({**job, "tune": {"trials": 3, "space": SPACE}})

    def of(*overrides, **more) -> Asked:
        def with_values(values):
            typed = [override(key, value) for key, value in values.items()]
            return load(path, [*overrides, *typed])

        same = ["--config", path]
        return Asked(with_values, ["run", *same], ["tune", *same], **more)

    return of


def finished(config, options, terminal, *, failure=None, code=0, data=None) -> int:
    """Ends as a run does whose loss is least after four epochs."""
    plan = prepare(config, options)
    history = [{"epoch": 1, "metrics": {"loss": abs(config.train.epochs - 4.0)}}]
    terminal.finish(
        {
            "exit_code": code,
            "seconds": 1.0,
            "run_id": f"run-{options.tuning.trial}",
            "fingerprints": {"data": data or plan.fingerprints.data},
            "failure": failure,
            "training": history,
        }
    )
    return code


def test_search_tells_the_best_and_how_to_use_it(asked, tmp_path, capsys):
    assert tune(asked(), finished) == 0
    told = capsys.readouterr().out
    assert "tiny-" in told and "3 trials, compared by loss of the eval split" in told
    assert "the first trial is that of the configuration's own settings" in told
    assert "a little flattered" in told
    (line,) = [line for line in told.splitlines() if line.startswith("Use it:")]
    assert f"run --config {tmp_path / 'job.yaml'} --set train.epochs=" in line
    (table,) = (tmp_path / "workspace" / "tiny" / "tuning").glob("tiny-*.csv")
    with open(table, newline="", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    assert [(r["trial"], r["state"], r["run"]) for r in rows] == [
        (str(n), "done", f"run-{n}") for n in range(3)
    ]
    assert (rows[0]["train.epochs"], rows[0]["value"]) == ("3", "1.0")


def test_trial_runs_as_far_as_the_trainer_and_knows_its_study(asked):
    seen = []

    def run(config, options, terminal):
        seen.append((options.to_node, options.tuning, config.train.epochs))
        return finished(config, options, terminal)

    tune(asked(study="mine"), run)
    assert [(to, of.study, of.trial) for to, of, _ in seen] == [
        ("Trainer", "mine", n) for n in range(3)
    ]
    assert len({epochs for *_, epochs in seen}) > 1


def test_same_command_goes_on_and_then_has_nothing_to_do(asked, capsys):
    def interrupted(config, options, terminal):
        if options.tuning.trial == 1:
            failure = {"node": "Trainer", "findings": ["Interrupted."]}
            return finished(config, options, terminal, failure=failure, code=130)
        return finished(config, options, terminal)

    assert tune(asked(), interrupted) == 130
    assert "Go on with:  " in capsys.readouterr().out
    assert tune(asked(), finished) == 0
    assert "1 of 3 are done already; the best so far is 1." in capsys.readouterr().out

    def never(config, options, terminal):
        raise AssertionError("There is nothing left to run.")

    assert tune(asked(), never) == 0
    assert "All are done already; --trials 6 adds as many." in capsys.readouterr().out


def test_data_refused_by_each_run_ends_the_search_with_its_code(asked, capsys):
    failure = {"node": "DataGate", "findings": ["Too few rows."]}

    def refused(config, options, terminal):
        return finished(config, options, terminal, failure=failure, code=3)

    assert tune(asked(trials=9), refused) == 3
    told = capsys.readouterr().out
    assert told.count("DataGate: Too few rows. (run run-") == 3
    assert "No trial ended with a value" in told


def test_combination_that_is_refused_fails_its_trial_alone(asked, capsys):
    def picky(config, options, terminal):
        if options.tuning.trial == 1:
            raise ConfigError("train: these two do not go together.")
        return finished(config, options, terminal)

    assert tune(asked(), picky) == 0
    assert "train: these two do not go together." in capsys.readouterr().out


def test_data_that_changes_meanwhile_ends_the_search(asked):
    def changed(config, options, terminal):
        return finished(config, options, terminal, data="other")

    with pytest.raises(ConfigError, match="the data has changed since the search"):
        tune(asked(), changed)


def test_own_settings_outside_of_the_space_are_told(asked, capsys):
    tune(asked("train.dropout=0.5", trials=1), finished)
    assert "outside of the space: train.dropout is 0.5." in capsys.readouterr().out


def test_second_search_in_a_root_is_refused(asked, tmp_path):
    folder = tmp_path / "workspace" / "tiny" / "tuning"
    folder.mkdir(parents=True)
    other = RootLock(str(folder))
    other.acquire()
    with pytest.raises(ConfigError, match="another `texttune tune` is at work"):
        tune(asked(), finished)
    other.release()


def test_data_without_its_column_is_refused_before_any_trial(asked, tmp_path, capsys):
    (tmp_path / "rows.csv").write_text("other,intent\na,b\n")
    assert tune(asked(), finished) == 3
    assert "Data refused." in capsys.readouterr().out


def test_study_is_another_for_what_changes_its_values(asked, tmp_path):
    def key(*overrides):
        config = asked(*overrides).with_values({})
        return key_of(prepare(config, Options(to_node="Trainer")), Space.of(config))

    first = key()
    # What is searched, shown, gated and how much of it: no value changes by it.
    for same in ("train.epochs=7", "tune.trials=9", "gate.floors.accuracy=0.9"):
        assert key(same) == first, same
    for other in ("train.weight_decay=0.1", "tune.space.train.epochs.high=9"):
        assert key(other) != first, other
    (tmp_path / "rows.csv").write_text("message,intent\na,c\n")
    assert key() != first


@pytest.mark.parametrize("name", ["a b", "../x", "", "-x"])
def test_study_name_that_is_no_file_name_is_refused(name):
    command = texttune.get_command(None, "tune")
    with pytest.raises(click.BadParameter, match="letters, digits"):
        command.main([f"--study={name}"], standalone_mode=False)
