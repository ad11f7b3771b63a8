"""Which run's gate is tested, with which gate, and what is said if there is none."""

import json

import pytest

from pipeline import evaluated_runs
from pipeline.config import ConfigError

CONFIG = {
    "task": "classification",
    "data": {"slices": ["channel"]},
    "gate": {"floors": {"accuracy": 0.7}},
}


@pytest.fixture
def run(tmp_path):
    """Makes a run's folder with its artifacts, and gives the path of the folder."""

    def make(run_id, *, without=(), evaluation=True, **changed):
        folder = tmp_path / "runs" / run_id
        folder.mkdir(parents=True)
        nodes = {
            "ExampleGen": ["examples"],
            "Trainer": ["model", "model_run"],
            "Evaluator": ["evaluation"],
        }
        artifacts = {}
        for node, keys in nodes.items():
            for key in keys:
                path = tmp_path / run_id / node / key
                (path / "Format-Serving").mkdir(parents=True)
                if node not in without:
                    artifacts.setdefault(node, {})[key] = str(path)
        record = {"run_id": run_id, "outcome": "pushed", "partial": False, "key": "k"}
        record |= {"push": None, "config": CONFIG, "artifacts": artifacts}
        record["evaluation"] = {"blessed": True} if evaluation else None
        (folder / "summary.json").write_text(json.dumps({**record, **changed}))
        return folder

    return make


@pytest.fixture
def find(tmp_path):
    def found(name):
        return evaluated_runs.find(str(name), str(tmp_path / "runs"))

    return found


def test_run_is_found_by_its_id_or_folder(run, find, tmp_path):
    folder = run("1")
    assert find("1") == find(folder)
    found = find("1")
    assert (found.run_id, found.task) == ("1", "classification")
    assert found.examples == str(tmp_path / "1/ExampleGen/examples")
    assert found.serving_model == str(tmp_path / "1/Trainer/model/Format-Serving")


def test_latest_is_the_newest_with_an_evaluation(run, find):
    run("1")
    run("2", without=["Evaluator"], evaluation=False)
    assert find("latest").run_id == "1"


def test_latest_without_any_evaluation_names_the_runs(run, find):
    run("1", without=["Evaluator"], evaluation=False)
    with pytest.raises(ConfigError, match="no run in .* Evaluator. The newest: 1"):
        find("latest")


def test_latest_where_no_run_is_names_the_options(find):
    with pytest.raises(ConfigError, match="there are no runs .*`--root DIR`"):
        find("latest")


def test_unknown_run_is_told_with_the_newest(run, find):
    run("1")
    with pytest.raises(ConfigError, match="there is no run '3': .* The newest: 1"):
        find("3")


def test_run_that_has_not_ended_is_to_be_waited_for(run, find):
    (run("1") / "summary.json").unlink()
    (run("2") / "summary.json").write_text("{")
    with pytest.raises(ConfigError, match="run 2 has not ended, or"):
        find("2")


@pytest.mark.parametrize(
    "changed, said",
    [
        ({"outcome": "data refused"}, "it ended \\(data refused\\) before that"),
        ({"partial": True}, "Name the whole run that it starts from"),
    ],
)
def test_run_without_a_training_says_how_far_it_got(run, find, changed, said):
    run("1", without=["Trainer", "Evaluator"], evaluation=False, **changed)
    with pytest.raises(ConfigError, match=said) as error:
        find("1")
    assert "It lacks Trainer.model, Trainer.model_run, Evaluator" in str(error.value)


def test_evaluator_that_failed_is_no_evaluation(run, find):
    run("1", evaluation=False, outcome="failed")
    with pytest.raises(ConfigError, match="It lacks Evaluator.evaluation"):
        find("1")


def test_artifact_that_is_gone_is_named_with_the_way_out(run, find, tmp_path):
    run("1")
    (tmp_path / "1/ExampleGen/examples/Format-Serving").rmdir()
    (tmp_path / "1/ExampleGen/examples").rmdir()
    with pytest.raises(ConfigError, match="ExampleGen/examples, .*--no-cache"):
        find("1")


def test_gate_is_that_of_the_run(run, find):
    run("1")
    assert evaluated_runs.gate_of(find("1"), None).floors == {"accuracy": 0.7}


def test_gate_of_a_file_is_taken_instead(run, find, job, write):
    run("1")
    found = evaluated_runs.gate_of(find("1"), write(job))
    assert found.floors == {"accuracy": 0.5}


def test_gate_in_a_record_that_is_no_gate_now_is_told(run, find):
    run("1", config={**CONFIG, "gate": {"floor": 1}})
    with pytest.raises(ConfigError, match="of another release: .*`--config FILE`"):
        evaluated_runs.gate_of(find("1"), None)


def test_file_of_another_task_is_refused(run, find, job, write):
    run("1", config={**CONFIG, "task": "summarization"})
    with pytest.raises(ConfigError, match="job.yaml: this is a job of classification"):
        evaluated_runs.gate_of(find("1"), write(job))


def test_gate_of_columns_that_the_run_lacks_is_refused(run, find, job, write):
    run("1")
    job["data"]["slices"] = ["product"]
    job["gate"]["slices"] = {"product": {"floors": {"accuracy": 0.5}}}
    with pytest.raises(ConfigError, match=r"does not suit run 1: .*\['product'\]"):
        evaluated_runs.gate_of(find("1"), write(job))
