"""The compiled spec: the local DAG's nodes, fed by the same config, portable."""

import importlib.util
import json
import os
import subprocess
import sys

import pytest

from pipeline import nodes
from pipeline.config import ConfigError, load
from tests.pipeline.conftest import ROOT

pytestmark = pytest.mark.slow
CONFIG = str(ROOT / "configs" / "intent.yaml")


@pytest.fixture(scope="module")
def compiler():
    # By path: a published package has the import name `kubeflow` too.
    path = ROOT / "kubeflow" / "compile.py"
    spec = importlib.util.spec_from_file_location("compile_for_kubeflow", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def spec_text(compiler, tmp_path_factory):
    path = compiler.compile_spec(load(CONFIG), str(tmp_path_factory.mktemp("build")))
    with open(path, encoding="utf-8") as f:
        return f.read()


@pytest.fixture(scope="module")
def tasks(spec_text):
    return json.loads(spec_text)["pipelineSpec"]["root"]["dag"]["tasks"]


def test_spec_has_exactly_the_local_nodes(tasks):
    # A resolver of blessed models compiles to two tasks.
    expected = {*nodes.of_dag(reviewed_schema=True)} - {"Baseline"}
    expected |= {"Baseline-model-resolver", "Baseline-model-blessing-resolver"}
    assert set(tasks) == expected


def test_local_dag_has_the_nodes_that_are_announced(tmp_path):
    from pipeline import checkpoints, dag, place

    for overrides in ([], ["data.reviewed_schema=null"]):
        config = load(CONFIG, [*overrides, f"runner.root={tmp_path}"])
        here = place.local(config, checkpoints.locate(config))
        pipeline = dag.create_pipeline(
            config, place=here, fingerprints=place.fingerprint(config, here)
        )
        announced = nodes.of_dag(reviewed_schema=here.schema_file is not None)
        assert {c.id for c in pipeline.components} == set(announced)


def test_own_nodes_run_their_own_executors(spec_text):
    executors = json.loads(spec_text)["pipelineSpec"]["deploymentSpec"]["executors"]
    commands = {name: json.dumps(executor) for name, executor in executors.items()}
    for node, module in (
        ("ExampleGen", "components.example_gen.component"),
        ("DataGate", "components.data_gate.component"),
        ("ModelCheck", "components.model_check.component"),
        ("Pusher", "components.pusher.component"),
        ("Report", "components.report.component"),
    ):
        assert module in commands[f"{node}_executor"]


def test_spec_names_no_path_of_this_machine(spec_text):
    for path in (str(ROOT), os.path.expanduser("~"), sys.prefix):
        assert path not in spec_text


def test_the_gates_bounds_reach_the_spec_from_the_config(compiler, tmp_path):
    config = load(CONFIG, ["gate.floors.accuracy=0.4321", "train.epochs=7"])
    with open(compiler.compile_spec(config, str(tmp_path)), encoding="utf-8") as f:
        text = f.read()
    assert "0.4321" in text
    assert '\\"epochs\\": 7' in text


def test_the_data_gate_comes_before_the_transform(tasks):
    assert "DataGate" in tasks["Transform"]["dependentTasks"]


def test_data_gate_is_never_reused_for_what_is_served_is_not_known_here(tasks):
    cached = {
        name: task.get("cachingOptions", {}).get("enableCache", False)
        for name, task in tasks.items()
    }
    assert cached.pop("DataGate") is False
    assert cached["Transform"] and cached["Trainer"] and cached["Pusher"]
    inputs = tasks["DataGate"]["inputs"]["parameters"]
    assert inputs["served_hash"]["runtimeValue"]["constant"] == (
        "not known when the spec was compiled"
    )


def test_the_verdict_on_the_data_reaches_the_pusher(tasks):
    verdict = tasks["Pusher"]["inputs"]["artifacts"]["verdict"]
    assert verdict["taskOutputArtifact"] == {
        "producerTask": "DataGate",
        "outputArtifactKey": "verdict",
    }


def test_data_outside_the_image_is_refused(compiler, tmp_path):
    rows = tmp_path / "rows.csv"
    rows.write_text("message,intent\na,b\n")
    with pytest.raises(ConfigError, match="data.train: a cluster cannot read"):
        compiler.compile_spec(load(CONFIG, [f"data.train={rows}"]), str(tmp_path))


def test_command_compiles_without_credentials_and_network(tmp_path):
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        # Any call that leaves the machine would fail at this address.
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "HTTP_PROXY": "http://127.0.0.1:9",
        "PYTHONPATH": str(ROOT),
    }
    done = subprocess.run(
        [
            *(sys.executable, str(ROOT / "kubeflow" / "compile.py")),
            *("--config", CONFIG, "--output", str(tmp_path / "build")),
        ],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "support-intent.json: 13 nodes" in done.stdout
    assert "runner.kubeflow.pipeline_root is still the placeholder" in done.stdout


def test_file_that_is_missing_is_refused(compiler, tmp_path):
    missing = f"data.train={ROOT / 'data' / 'none.csv'}"
    with pytest.raises(ConfigError, match="data.train: there is no file"):
        compiler.compile_spec(load(CONFIG, [missing]), str(tmp_path))


def test_checkpoint_that_would_be_created_is_refused(compiler, tmp_path):
    config = load(str(ROOT / "configs" / "summarization.yaml"))
    with pytest.raises(ConfigError, match="a cluster reads the one in its image"):
        compiler.compile_spec(config, str(tmp_path))


def test_output_that_cannot_be_made_is_refused(compiler, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="--output .*: there can be no such folder"):
        compiler.compile_spec(load(CONFIG), str(tmp_path / "file" / "build"))


def test_address_of_data_is_refused_with_what_to_do(compiler, tmp_path):
    config = load(CONFIG, ["data.train=gs://bucket/rows.csv"])
    with pytest.raises(ConfigError, match="data.train: .*address.*Copy the file below"):
        compiler.compile_spec(config, str(tmp_path))
