"""The search, through Optuna itself, with a formula in place of the training."""

import contextlib
import itertools
import logging
import math
import signal
import subprocess
import sys

import pytest
import sqlalchemy

from pipeline.config import ConfigError
from pipeline.tuning import search as searches
from pipeline.tuning.search import Search
from pipeline.tuning.settings import Dimension
from pipeline.tuning.space import Space
from pipeline.tuning.study import opened
from pipeline.tuning.trials import Result
from tests.pipeline.conftest import ROOT

SPACE = Space(
    {
        "train.learning_rate": Dimension(low=1e-5, high=1e-1, log=True),
        "train.epochs": Dimension(low=1, high=8),
        "train.decay": Dimension(choices=("linear", "cosine")),
    }
)


def loss(number, settings) -> Result:
    """Least for a rate of 1e-3 and four epochs."""
    rate, epochs = settings["train.learning_rate"], settings["train.epochs"]
    value = (math.log10(rate) + 3) ** 2 + 0.1 * (epochs - 4) ** 2
    return Result(0, value=value, epoch=1, seconds=1.0, run_id=f"r{number}")


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk():
    """SQLite waits for the disk at each change, some dozens a trial."""

    def hurry(connection, record):
        connection.execute("PRAGMA synchronous = OFF")

    sqlalchemy.event.listen(sqlalchemy.Engine, "connect", hurry)
    yield
    sqlalchemy.event.remove(sqlalchemy.Engine, "connect", hurry)


@pytest.fixture
def study(tmp_path):
    """Opens the study of this folder, as each new process would."""

    @contextlib.contextmanager
    def open_study(name="s", key="k", direction="min", file="tuning.sqlite"):
        with opened(
            str(tmp_path / file),
            name=name,
            key=key,
            direction=direction,
            seed=7,
            log=str(tmp_path / "log.txt"),
        ) as found:
            yield found

    return open_study


def go_on(found, run=loss, *, trials, space=SPACE, told=None, **more) -> Search:
    tell = (lambda trial: None) if told is None else told.append
    search = Search(found, space, run=run, tell=tell, trials=trials, **more)
    search.code = search.go_on()
    return search


def tried(found):
    return [t.settings for t in found.trials() if t.counts]


def test_search_records_each_trial(study):
    told = []
    with study() as found:
        assert go_on(found, trials=3, told=told).code == searches.FOUND
        trials = found.trials()
    assert told == trials
    assert [t.number for t in trials] == [0, 1, 2]
    assert (trials[1].run_id, trials[1].seconds, trials[1].epoch) == ("r1", 1.0, 1)


@pytest.mark.parametrize("direction", ["min", "max"])
def test_search_turns_to_what_is_better(study, direction):
    with study(direction=direction) as found:
        go_on(found, trials=24)
        values = [trial.value for trial in found.trials()]
    at_random, chosen = sum(values[:10]) / 10, sum(values[14:]) / 10
    assert chosen < at_random if direction == "min" else chosen > at_random


def test_same_study_in_another_folder_tries_the_same(study):
    found_there = []
    for file in ("a.sqlite", "b.sqlite"):
        with study(file=file) as found:
            go_on(found, trials=3)
            found_there.append(tried(found))
    assert found_there[0] == found_there[1]


def test_search_in_two_parts_tries_what_one_would(study):
    with study(file="whole.sqlite") as found:
        go_on(found, trials=12)
        whole = tried(found)
    with study(file="parts.sqlite") as found:
        go_on(found, trials=5)
    with study(file="parts.sqlite") as found:
        go_on(found, trials=12)
        assert tried(found) == whole


def test_interrupted_trial_comes_again_with_its_settings(study):
    def interrupted(number, settings):
        if number == 2:
            return Result(searches.INTERRUPTED, run_id="cut", seconds=0.5)
        return loss(number, settings)

    with study(file="whole.sqlite") as found:
        go_on(found, trials=4)
        whole = tried(found)
    with study() as found:
        assert go_on(found, interrupted, trials=4).code == searches.INTERRUPTED
        assert [t.state for t in found.trials()] == ["done", "done", "interrupted"]
    with study() as found:
        assert found.take_over() == []
        assert go_on(found, trials=4).code == searches.FOUND
        cut, again = found.trials()[2:4]
        assert tried(found) == whole
    assert (cut.run_id, again.again, again.settings) == ("cut", 2, cut.settings)


def test_ctrl_c_between_the_steps_of_a_trial_puts_it_back(study):
    def ctrl_c(number, settings):
        raise KeyboardInterrupt

    with study() as found:
        assert go_on(found, ctrl_c, trials=2).code == searches.INTERRUPTED
        go_on(found, trials=2)
        states = [t.state for t in found.trials()]
    assert states == ["interrupted", "done", "done"]


KILLED = """
import sys, time
from tests.pipeline.tuning.test_search import SPACE, go_on, loss
from pipeline.tuning.study import opened

def run(number, settings):
    if number == 1:
        print(settings, flush=True)
        time.sleep(60)
    return loss(number, settings)

folder = sys.argv[1]
with opened(f"{folder}/tuning.sqlite", name="s", key="k", direction="min", seed=7,
            log=f"{folder}/log.txt") as study:
    go_on(study, run, trials=3)
"""


def test_killed_trial_is_taken_over_with_its_settings(study, tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    settings = process.stdout.readline().strip()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    with study() as found:
        assert [t.state for t in found.trials()] == ["done", "running"]
        assert found.take_over() == [1]
        go_on(found, trials=3)
        states = [t.state for t in found.trials()]
        again = found.trials()[2]
    assert states == ["done", "interrupted", "done", "done"]
    assert str(again.settings) == settings


def test_failed_trial_is_recorded_and_the_search_goes_on(study):
    def diverges(number, settings):
        if number == 1:
            return Result(1, reason="It diverged.", run_id="r1")
        return loss(number, settings)

    with study() as found:
        assert go_on(found, diverges, trials=3).code == searches.FOUND
        failed = found.trials()[1]
    assert (failed.state, failed.reason, failed.value) == (
        "failed",
        "It diverged.",
        None,
    )


def test_three_failures_alike_end_the_search_with_their_code(study):
    with study() as found:
        search = go_on(found, lambda *_: Result(3, reason="Too few."), trials=9)
        assert len(found.trials()) == 3
    assert search.code == 3
    assert "failed for the same reason" in search.ended_because


def test_failures_that_differ_do_not_end_the_search(study):
    numbers = itertools.count()
    with study() as found:
        search = go_on(
            found, lambda *_: Result(1, reason=f"Update {next(numbers)}."), trials=5
        )
        assert len(found.trials()) == 5
    assert search.code == searches.ALL_FAILED


def test_settings_tried_before_are_not_run_again(study):
    space = Space({"train.decay": Dimension(choices=("linear", "cosine"))})
    runs = []

    def run(number, settings):
        runs.append(settings["train.decay"])
        return Result(0, value=len(runs) * 1.0, epoch=1, run_id=f"r{number}")

    with study() as found:
        search = go_on(found, run, trials=50, space=space)
        values = {t.settings["train.decay"]: t.value for t in found.trials()}
    assert sorted(runs) == ["cosine", "linear"]
    assert search.ended_because == "The whole space has been tried."
    assert values == {decay: runs.index(decay) + 1.0 for decay in runs}


def test_no_trial_begins_after_the_deadline(study):
    times = iter([0.0, 10.0, 20.0])
    with study() as found:
        search = go_on(found, trials=9, deadline=15.0, clock=lambda: next(times))
        assert len(found.trials()) == 2
    assert search.ended_because == "The time is up."


def test_own_settings_come_first_in_a_new_study_only(study):
    own = {"train.learning_rate": 0.01, "train.epochs": 2, "train.decay": "cosine"}
    with study() as found:
        found.try_first(SPACE.parameters(own))
        go_on(found, trials=2)
        found.try_first(SPACE.parameters(own))
        go_on(found, trials=3)
        assert tried(found)[0] == own
        assert own not in tried(found)[1:]


def test_importance_waits_for_ten_trials_and_names_the_rate(study):
    with study() as found:
        go_on(found, trials=9)
        assert found.importances() == {}
        go_on(found, trials=12)
        shares = found.importances()
    assert next(iter(shares)) == "train.learning_rate"
    assert sum(shares.values()) == pytest.approx(1.0)


def test_study_of_another_key_is_refused(study):
    with study():
        pass
    with pytest.raises(ConfigError, match="--study s: there is a study of this name"):
        with study(key="other"):
            pass


def test_file_that_is_no_database_is_refused_in_words(study, tmp_path):
    (tmp_path / "tuning.sqlite").write_text("no database" * 100)
    with pytest.raises(ConfigError, match=r"tuning\.sqlite: the trials of searches"):
        with study():
            pass


def test_folder_with_odd_characters_holds_a_study(study, tmp_path):
    (tmp_path / "a b%20#ü").mkdir()
    with study(file="a b%20#ü/tuning.sqlite") as found:
        go_on(found, trials=1)
    assert (tmp_path / "a b%20#ü" / "tuning.sqlite").stat().st_size > 0


def test_optuna_writes_to_its_log_and_not_to_the_terminal(study, tmp_path, capfd):
    with study() as found:
        go_on(found, trials=1)
    assert capfd.readouterr() == ("", "")
    assert "A new study created" in (tmp_path / "log.txt").read_text()
    assert logging.getLogger("optuna").handlers == []
