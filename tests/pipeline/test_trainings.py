"""Which training a run shows, and what is said if there is none."""

import json

import pytest

from pipeline import trainings
from pipeline.config import ConfigError


@pytest.fixture
def run(tmp_path):
    """Makes a run's folder below tmp_path/runs and gives its path."""

    def make(run_id, *, told=None, artifact=None, outcome="pushed", partial=False):
        folder = tmp_path / "runs" / run_id
        folder.mkdir(parents=True)
        events = [{"kind": "running"}]
        if told:
            events.append({"kind": "training", "tensorboard": str(told)})
        lines = "".join(f"{json.dumps(event)}\n" for event in events)
        (folder / "events.jsonl").write_text(lines)
        if outcome:
            made = {"Trainer": {"model_run": str(artifact)}} if artifact else {}
            record = {"run_id": run_id, "outcome": outcome, "partial": partial}
            record |= {"key": "k", "push": None, "config": {}, "evaluation": None}
            (folder / "summary.json").write_text(
                json.dumps({**record, "artifacts": made})
            )
        return folder

    return make


@pytest.fixture
def find(tmp_path):
    def found(*runs):
        return trainings.find([str(r) for r in runs], str(tmp_path / "runs"))

    return found


@pytest.fixture
def board(tmp_path):
    """Makes a folder of event files and gives its path."""

    def make(name):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        return folder

    return make


def test_finished_run_shows_the_artifact_of_its_trainer(run, find, board, tmp_path):
    board("artifact/tensorboard")
    run("1", told=board("elsewhere"), artifact=tmp_path / "artifact")
    (training,) = find("1")
    assert training == trainings.Training(
        "1", str(tmp_path / "artifact/tensorboard"), "pushed"
    )


def test_run_that_has_not_ended_shows_the_folder_it_told(run, find, board):
    there = board("there")
    run("1", told=there, outcome=None)
    assert find("1") == [trainings.Training("1", str(there), "not ended")]


def test_failed_run_without_artifact_shows_the_folder_it_told(
    run, find, board, tmp_path
):
    there = board("there")
    run("1", told=there, artifact=tmp_path / "removed", outcome="failed")
    assert find("1") == [trainings.Training("1", str(there), "failed")]


def test_folder_of_a_run_is_as_good_as_its_id(run, find, board):
    folder = run("1", told=board("there"))
    assert find(folder, "1", folder) == find("1")


def test_latest_is_the_newest_run_with_a_training(run, find, board, tmp_path):
    run("1", told=board("one"))
    run("2", told=board("two"))
    run("3", outcome="data refused")
    run("4", told=tmp_path / "gone")
    assert [t.run_id for t in find("latest")] == ["2"]


def test_runs_of_one_id_have_names_of_their_own():
    one, other = (trainings.Training("1", folder, "pushed") for folder in "ab")
    names = [name for name, _ in trainings.by_name([one, other])]
    assert names == ["1", "1 (2)"]


def test_unknown_run_lists_the_newest(run, find):
    for number in range(1, 8):
        run(str(number))
    with pytest.raises(ConfigError) as refused:
        find("nope")
    message = str(refused.value)
    assert "there is no run 'nope'" in message and "--root" in message
    assert "The newest: 7, 6, 5, 4, 3." in message


@pytest.mark.parametrize(
    "of_run, said",
    [
        ({"outcome": None}, "did not get to the Trainer yet"),
        ({"outcome": "data refused"}, "it ended (data refused) before the Trainer"),
        ({"partial": True}, "without the Trainer"),
        ({"told": "/gone/board"}, "/gone/board, and there is no such folder now"),
    ],
)
def test_run_without_training_says_why(run, find, of_run, said):
    run("1", **of_run)
    with pytest.raises(ConfigError) as refused:
        find("1")
    assert said in str(refused.value) and "run 1 " in str(refused.value)


def test_latest_without_runs_names_the_folder(find, tmp_path):
    with pytest.raises(ConfigError, match="there are no runs in .*/runs"):
        find("latest")


def test_latest_without_training_lists_the_runs(run, find):
    run("1")
    with pytest.raises(ConfigError, match="has a training to be shown. The newest: 1"):
        find("latest")
