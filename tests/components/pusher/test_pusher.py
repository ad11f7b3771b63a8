"""The real executor on real artifacts: who is pushed, and what is recorded."""

import json
import os

import pytest

from components.pusher import run_facts

pytestmark = pytest.mark.slow


@pytest.fixture
def artifacts():
    from tfx.types import standard_artifacts

    return standard_artifacts


def make_artifact(artifact_type, folder, **int_properties):
    artifact = artifact_type()
    artifact.uri = str(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in int_properties.items():
        artifact.set_int_custom_property(name, value)
    return artifact


def make_model(artifacts, folder, content):
    model = make_artifact(artifacts.Model, folder)
    (folder / "Format-Serving" / "variables").mkdir(parents=True)
    (folder / "Format-Serving" / "saved_model.pb").write_text(content)
    (folder / "Format-Serving" / "variables" / "variables.index").write_text(content)
    return model


def make_verdict(folder, profile):
    from components.artifacts import DataVerdict

    verdict = make_artifact(DataVerdict, folder)
    if profile is not None:
        (folder / "profile.json").write_text(profile)
    return verdict


EVALUATED = {"rows": {"Overall": 2}, "metrics": [], "blessed": True}
ACCOUNT = {"files": [], "splits": {"train": 7}}


def make_with(artifact_type, folder, name, content):
    artifact = make_artifact(artifact_type, folder)
    (folder / name).write_text(json.dumps(content))
    return artifact


def push(
    artifacts, tmp_path, *, name="a", model_blessed=1, infra_blessed=1, profile="{}"
):
    """Runs the executor on a new model; a blessing given as None is left out.

    So is a profile of the data that is None.

    Returns:
      (the PushedModel artifact, its pushed.json)
    """
    from components.artifacts import DataAccount
    from components.pusher import component

    folder = tmp_path / name
    evaluation = make_with(
        artifacts.ModelEvaluation, folder / "e", "evaluation.json", EVALUATED
    )
    inputs = {
        "evaluation": [evaluation],
        "account": [make_with(DataAccount, folder / "c", "account.json", ACCOUNT)],
        "model": [make_model(artifacts, tmp_path / name / "model", name)],
        "verdict": [make_verdict(tmp_path / name / "verdict", profile)],
    }
    for key, artifact_type, blessed in (
        ("model_blessing", artifacts.ModelBlessing, model_blessed),
        ("infra_blessing", artifacts.InfraBlessing, infra_blessed),
    ):
        if blessed is not None:
            folder = tmp_path / name / key
            inputs[key] = [make_artifact(artifact_type, folder, blessed=blessed)]
    pushed = make_artifact(artifacts.PushedModel, tmp_path / name / "pushed")
    component.Executor().Do(
        inputs,
        {"pushed_model": [pushed]},
        {
            "push_destination": destination(tmp_path),
            "custom_config": "null",
            "title": "intents",
            "facts": json.dumps({"task": "classification", "config": {"name": "x"}}),
        },
    )
    recorded = json.loads((tmp_path / name / "pushed" / "pushed.json").read_text())
    return pushed, recorded


def destination(tmp_path):
    base_directory = str(tmp_path / "serving")
    return json.dumps({"filesystem": {"base_directory": base_directory}})


def assert_not_pushed(tmp_path, pushed, recorded, *reasons):
    assert pushed.get_int_custom_property("pushed") == 0
    assert not pushed.has_custom_property("pushed_version")
    assert recorded == {"pushed": False, "reasons": list(reasons)}
    assert not (tmp_path / "serving").exists()


def test_blessed_by_both_is_pushed_and_recorded(artifacts, tmp_path, monkeypatch):
    monkeypatch.setenv("TEXTTUNE_EVENTS", str(tmp_path / "events"))
    pushed, recorded = push(artifacts, tmp_path)

    served = tmp_path / "serving" / "1"
    assert (served / "saved_model.pb").read_text() == "a"
    assert (served / "variables" / "variables.index").read_text() == "a"
    assert pushed.get_int_custom_property("pushed") == 1
    assert pushed.get_string_custom_property("pushed_version") == "1"
    assert pushed.get_string_custom_property("pushed_destination") == str(served)
    assert recorded == {
        "pushed": True,
        "reasons": [],
        "version": 1,
        "created": True,
        "destination": str(served),
    }
    assert os.listdir(pushed.uri) == ["pushed.json"]  # No second copy of the model.
    event = json.loads((tmp_path / "events").read_text())
    assert (event["kind"], event["pushed"], event["version"]) == ("push", True, 1)


PROFILE = "assets.extra/data_profile.json"


def test_profile_of_the_data_is_in_the_version(artifacts, tmp_path):
    push(artifacts, tmp_path, profile='{"rows": 7}')
    assert (tmp_path / "serving" / "1" / PROFILE).read_text() == '{"rows": 7}'


def test_same_model_of_other_data_is_another_version(artifacts, tmp_path):
    push(artifacts, tmp_path, name="a", profile='{"rows": 7}')
    (tmp_path / "a").rename(tmp_path / "first")
    _, recorded = push(artifacts, tmp_path, name="a", profile='{"rows": 8}')
    assert (recorded["version"], recorded["created"]) == (2, True)
    assert (tmp_path / "serving" / "1" / PROFILE).read_text() == '{"rows": 7}'
    assert (tmp_path / "serving" / "2" / PROFILE).read_text() == '{"rows": 8}'


def test_facts_of_the_run_are_in_the_version(artifacts, tmp_path, monkeypatch):
    events = tmp_path / "runs" / "20260101-1" / "events.jsonl"
    events.parent.mkdir(parents=True)
    monkeypatch.setenv("TEXTTUNE_EVENTS", str(events))
    push(artifacts, tmp_path)
    found = run_facts.before(str(tmp_path / "serving"), None)
    assert (found["run_id"], found["title"]) == ("20260101-1", "intents")
    assert found["account"] == ACCOUNT
    assert found["evaluation"]["rows"] == {"Overall": 2}
    assert found["lineage"]["task"] == "classification"
    assert found["pushed"]["version"] == 1


def test_verdict_without_a_profile_fails_the_node_and_pushes_nothing(
    artifacts, tmp_path
):
    with pytest.raises(RuntimeError, match="verdict/profile.json.*--from DataGate"):
        push(artifacts, tmp_path, profile=None)
    assert not (tmp_path / "serving").exists()


def test_two_pushes_are_two_versions(artifacts, tmp_path):
    first, _ = push(artifacts, tmp_path, name="a")
    second, _ = push(artifacts, tmp_path, name="b")
    assert first.get_string_custom_property("pushed_version") == "1"
    assert second.get_string_custom_property("pushed_version") == "2"
    assert (tmp_path / "serving" / "2" / "saved_model.pb").read_text() == "b"


def test_the_model_that_is_served_already_keeps_its_version(artifacts, tmp_path):
    push(artifacts, tmp_path, name="a")
    (tmp_path / "a").rename(tmp_path / "first")
    pushed, recorded = push(artifacts, tmp_path, name="a")
    assert pushed.get_int_custom_property("pushed") == 1
    assert (recorded["version"], recorded["created"]) == (1, False)


GATE = "not blessed by the gate (Evaluator)"
CHECK = "not blessed by the check of the export (ModelCheck)"
NO_GATE = "no verdict of the gate (Evaluator): `model_blessing` is missing"
NO_CHECK = (
    "no verdict of the check of the export (ModelCheck): `infra_blessing` is missing"
)


@pytest.mark.parametrize(
    "blessed, reasons",
    [
        ((0, 1), [GATE]),
        ((1, 0), [CHECK]),
        ((0, 0), [GATE, CHECK]),
        ((None, 1), [NO_GATE]),
        ((1, None), [NO_CHECK]),
        ((None, None), [NO_GATE, NO_CHECK]),
    ],
    ids=["model", "infra", "neither", "no_model", "no_infra", "none_at_all"],
)
def test_without_both_blessings_nothing_is_pushed(
    artifacts, tmp_path, blessed, reasons
):
    model_blessed, infra_blessed = blessed
    pushed, recorded = push(
        artifacts, tmp_path, model_blessed=model_blessed, infra_blessed=infra_blessed
    )
    assert_not_pushed(tmp_path, pushed, recorded, *reasons)


def test_a_blessing_artifact_without_the_property_is_no_blessing(artifacts, tmp_path):
    from components.pusher import component

    executor = component.Executor()
    silent = make_artifact(artifacts.ModelBlessing, tmp_path / "silent")
    yes = make_artifact(artifacts.InfraBlessing, tmp_path / "yes", blessed=1)
    inputs = {"model_blessing": [silent], "infra_blessing": [yes]}
    assert executor._reasons_not_to_push(inputs) == [GATE]


def test_a_push_that_cannot_be_done_fails_the_node(artifacts, tmp_path):
    from serving import promotion

    (tmp_path / "serving").write_text("a file where the folder should be")
    with pytest.raises(promotion.DestinationNotWritable, match="serving"):
        push(artifacts, tmp_path)


# The component


def channel(artifact_type):
    from tfx.types import channel_utils

    return channel_utils.as_channel([artifact_type()])


def make_component(artifacts, base_directory, **changes):
    from tfx.proto import pusher_pb2

    from components.artifacts import DataAccount, DataVerdict
    from components.pusher import component

    arguments = {
        "model": channel(artifacts.Model),
        "model_blessing": channel(artifacts.ModelBlessing),
        "infra_blessing": channel(artifacts.InfraBlessing),
        "verdict": channel(DataVerdict),
        "evaluation": channel(artifacts.ModelEvaluation),
        "account": channel(DataAccount),
        "title": "intents",
        "facts": "{}",
        "push_destination": pusher_pb2.PushDestination(
            filesystem=pusher_pb2.PushDestination.Filesystem(
                base_directory=base_directory
            )
        ),
        "custom_config": {"code": "abc"},
    }
    return component.Pusher(**{**arguments, **changes})


def test_component_runs_our_executor_and_carries_the_code_hash(artifacts):
    from components.pusher import component

    pusher = make_component(artifacts, "/served").with_id("Pusher")
    assert pusher.id == "Pusher"
    assert pusher.executor_spec.executor_class is component.Executor
    assert json.loads(pusher.exec_properties["custom_config"]) == {"code": "abc"}
    assert component._base_directory(pusher.exec_properties) == "/served"


@pytest.mark.parametrize(
    "name",
    [
        *("model_blessing", "infra_blessing", "model", "verdict"),
        *("evaluation", "account"),
    ],
)
def test_component_without_a_channel_is_refused(artifacts, name):
    with pytest.raises(ValueError, match=rf"not checked\. Missing: \['{name}'\]"):
        make_component(artifacts, "/served", **{name: None})


def test_destination_without_a_folder_is_refused(artifacts):
    from components.pusher import component

    with pytest.raises(ValueError, match="base_directory"):
        component._base_directory({"push_destination": '{"filesystem": {}}'})
