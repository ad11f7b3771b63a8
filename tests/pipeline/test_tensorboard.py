"""`texttune tensorboard`: a real server in its own process, asked as a browser asks."""

import contextlib
import gzip
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

import numpy as np
import pytest

from tests.pipeline.conftest import ROOT
from tests.trainer_module.monitoring.updates import update
from trainer_module.loop.events import Epoch, Sample

pytestmark = pytest.mark.slow

COMMAND = [sys.executable, "-m", "pipeline.cli", "tensorboard"]


def record_of(run_id: str, model_run: pathlib.Path) -> dict:
    record = {"run_id": run_id, "outcome": "pushed", "partial": False, "key": "k"}
    record |= {"push": None, "config": {}, "evaluation": None}
    return {**record, "artifacts": {"Trainer": {"model_run": str(model_run)}}}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A root with two trainings: one that ended, and one that goes on after a kill."""
    root = tmp_path_factory.mktemp("root")
    for run_id in ("20260101-1", "20260102-1"):
        (root / "runs" / run_id).mkdir(parents=True)
    ended, going_on = root / "artifact", root / "training" / "tensorboard"
    train(
        ended / "tensorboard", "20260101-1", rate=0.1, numbers=range(1, 11), ends=True
    )
    train(going_on, "20260102-1", rate=0.2, numbers=range(1, 9))
    train(going_on, "20260102-1", rate=0.2, numbers=range(6, 9), loss=7.0, resumed_at=5)
    (root / "runs/20260101-1/summary.json").write_text(
        json.dumps(record_of("20260101-1", ended))
    )
    told = {"kind": "training", "tensorboard": str(going_on)}
    (root / "runs/20260102-1/events.jsonl").write_text(f"{json.dumps(told)}\n")
    return root


def train(
    folder, trial, *, rate, numbers, loss=1.0, resumed_at=0, ends=False, updates=10
):
    """What a training of a tiny model writes."""
    import tensorflow as tf

    from trainer_module.monitoring import hyperparameters
    from trainer_module.monitoring.board import Board
    from trainer_module.monitoring.profile import Profile
    from trainer_module.monitoring.projector import Embedding
    from trainer_module.settings import ModelSettings, TrainerSettings, TrainSettings

    settings = TrainerSettings(
        task="classification",
        checkpoint_dir="path",
        checkpoint_hash="hash",
        code="code",
        model=ModelSettings(checkpoint="path"),
        train=TrainSettings(learning_rate=rate, tensorboard={"histograms": True}),
    )
    weight = tf.Variable([[1.0, 2.0]], name="kernel")

    @tf.function
    def step():
        weight.assign_add([[0.1, -0.1]])
        return tf.reduce_sum(weight, name="total")

    board = Board(str(folder), settings=settings, resumed_at=resumed_at, trial=trial)
    board.started(hyperparameters.of(settings))
    board.graph(lambda: step.get_concrete_function().graph)
    profile = Profile(str(folder), updates=2)
    for number in numbers:
        step()
        board.updated(update(number, updates=updates, loss=loss))
        profile.updated(update(number, updates=updates))
    board.histograms("weights", [(weight.name, weight.numpy())])
    samples = (Sample("a <b>|</b>", "fee", "late"),)
    board.validated(
        Epoch(1, 1, number, 0.5, {"accuracy": 0.75}, True, 1.0, samples=samples)
    )
    board.embeddings([Embedding("labels", np.eye(3), {"label": ["fee", "late", "é"]})])
    if ends:
        board.finished({"accuracy": 0.5})
    board.close()
    profile.close()


@contextlib.contextmanager
def serving(*arguments, root):
    """Runs the command, and gives its process and address once it tells that."""
    with tempfile.TemporaryDirectory() as temporary:
        process = subprocess.Popen(
            [*COMMAND, *arguments, "--root", str(root), "--port", "0"],
            cwd=ROOT,
            env={**os.environ, "TMPDIR": temporary},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            said = [process.stdout.readline() for _ in range(3)]
            if not said[1]:
                pytest.fail(process.communicate()[1])
            yield process, said, temporary
        finally:
            process.kill()
            process.communicate()


@pytest.fixture(scope="module")
def ask(root):
    """Asks the server of both trainings for a plugin's route."""
    with serving("latest", "20260101-1", root=root) as (_, said, _):
        address = said[1].strip()

        def get(route: str, **query):
            url = f"{address}data/plugin/{route}?{urllib.parse.urlencode(query)}"
            with urllib.request.urlopen(url, timeout=60) as answer:
                zipped = answer.headers.get("Content-Encoding") == "gzip"
                return gzip.decompress(answer.read()) if zipped else answer.read()

        def post(route: str, body: dict):
            request = urllib.request.Request(
                f"{address}data/plugin/{route}",
                json.dumps(body).encode(),
                {"Content-Type": "application/json"},
            )
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.loads(answer.read())

        get.post = post
        # The data server reads the files while it already answers.
        deadline = time.monotonic() + 60
        while not _all_read(json.loads(get("scalars/tags"))):
            assert time.monotonic() < deadline
            time.sleep(0.2)
        yield get


def _all_read(tags) -> bool:
    return "final/accuracy" in tags.get("20260101-1", {}) and "eval/accuracy" in (
        tags.get("20260102-1", {})
    )


def test_curves_of_both_runs_are_there(ask):
    tags = json.loads(ask("scalars/tags"))
    assert set(tags) == {"20260101-1", "20260102-1"}
    assert set(tags["20260101-1"]) == {
        *("train/loss", "train/learning_rate", "train/gradient_norm"),
        *("speed/examples_per_second", "speed/real_tokens_per_second"),
        *("speed/padding_share", "speed/input_wait_share"),
        *("eval/accuracy", "final/accuracy"),
    }


def test_curve_of_a_resumed_training_does_not_go_back(ask):
    points = json.loads(ask("scalars/scalars", run="20260102-1", tag="train/loss"))
    assert [(step, loss) for _, step, loss in points] == [
        *((n, 1.0) for n in range(1, 6)),
        *((n, 7.0) for n in range(6, 9)),
    ]


def test_samples_are_a_table_of_plain_text(ask):
    (shown,) = json.loads(ask("text/text", run="20260101-1", tag="samples"))
    assert (
        "<td>a &lt;b&gt;|&lt;/b&gt;</td>\n<td>fee</td>\n<td>late</td>"
        in (shown["text"])
    )


def test_hyperparameters_and_metrics_of_both_runs_are_in_one_table(ask):
    statuses = [f"STATUS_{s}" for s in ("UNKNOWN", "SUCCESS", "RUNNING", "FAILURE")]
    wanted = {"startIndex": 0, "sliceSize": 10, "allowedStatuses": statuses}
    groups = ask.post("hparams/session_groups", {**wanted, "colParams": []})
    rows = {group["name"]: group for group in groups["sessionGroups"]}
    rates = {name: row["hparams"]["train.learning_rate"] for name, row in rows.items()}
    assert rates == {"20260101-1": 0.1, "20260102-1": 0.2}
    metrics = {
        metric["name"]["tag"]: metric["value"]
        for metric in rows["20260101-1"]["metricValues"]
    }
    assert metrics["final/accuracy"] == 0.5


def test_projector_has_the_vectors_and_their_names(ask):
    of_labels = {"run": "20260101-1", "name": "labels"}
    assert "20260101-1" in json.loads(ask("projector/runs"))
    tensor = np.frombuffer(ask("projector/tensor", **of_labels), np.float32)
    assert tensor.tolist() == np.eye(3).ravel().tolist()
    assert ask("projector/metadata", **of_labels).decode().split() == [
        "fee",
        "late",
        "é",
    ]


def test_histogram_and_graph_are_there(ask):
    histograms = json.loads(
        ask("histograms/histograms", run="20260101-1", tag="weights/kernel")
    )
    (_, step, buckets) = histograms[0]
    assert step == 10 and sum(count for *_, count in buckets) == 2
    assert b'name: "total"' in ask("graphs/graph", run="20260101-1", conceptual="false")


def test_profile_is_listed_and_read(ask):
    runs = json.loads(ask("profile/runs"))
    (run,) = [name for name in runs if name.startswith("20260101-1/")]
    hosts = json.loads(ask("profile/hosts", run=run, tag="overview_page^"))
    page = ask("profile/data", run=run, tag="overview_page^", host=hosts[0])
    assert "steptime_ms" in page.decode()


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_it_in_order_and_in_silence(root, sign):
    with serving("latest", root=root) as (process, said, temporary):
        assert said[0] == "Starting TensorBoard for 20260102-1 (not ended) ...\n"
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\n", said[1])
        assert said[2] == "Ctrl-C ends it.\n"
        process.send_signal(sign)
        output, errors = process.communicate(timeout=30)
        assert (process.returncode, output, errors) == (0, "", "")
        assert os.listdir(temporary) == []


def test_port_in_use_is_refused(root):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = subprocess.run(
            [*COMMAND, "latest", "--root", root, "--port", str(port)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert done.returncode == 2
    assert done.stderr == (
        f"cli.py: --port: TensorBoard could not bind to port {port}, it was already in "
        "use. Another TensorBoard may run there; `--port 0` takes a free one.\n"
    )


def test_help_comes_without_tensorflow():
    code = (
        "import sys; from pipeline import cli\n"
        "try: cli.main(['tensorboard', '--help'])\n"
        "finally: assert not {'tensorflow', 'tensorboard'} & set(sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "RUN is the id of a run" in done.stdout
