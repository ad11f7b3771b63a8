"""Two processes that train one model together, over gRPC on this machine."""

import json
import socket

import numpy as np
import pytest
from safetensors.numpy import load_file

from tests.trainer_module.jobs import Job

pytestmark = pytest.mark.slow

ROWS = 21  # The last batch leaves the second worker without a row.


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("localhost", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def start_both(job: Job):
    addresses = [f"localhost:{port}" for port in free_ports(2)]
    return [
        job.start(
            TF_CONFIG=json.dumps(
                {
                    "cluster": {"worker": addresses},
                    "task": {"type": "worker", "index": index},
                }
            )
        )
        for index in range(2)
    ]


@pytest.fixture(scope="module")
def make_job(
    tmp_path_factory, settings_for, tiny_bert_dir, label_names_path, write_records
):
    folder = tmp_path_factory.mktemp("workers")
    rows = [(f"r{n}", [2, *[5 + n % 9] * (n % 5 + 1), 3], n % 3) for n in range(ROWS)]
    targets = [["fee", "late", "lost"][label] for _, _, label in rows]
    train = write_records(folder / "train.gz", rows, targets)
    held_out = write_records(folder / "eval.gz", rows[:5], targets[:5])

    def make(name: str, **changes) -> Job:
        train_settings = {"epochs": 2, "batch_size": 4, "checkpoint_minutes": 0.002}
        train_settings["head_start"] = "probe"  # On which all workers must agree.
        settings = settings_for(
            "classification",
            tiny_bert_dir,
            model={"pooling": "mean"},
            train={**train_settings, **changes.pop("train", {})},
            **changes,
        )
        config = settings.to_custom_config()
        return Job(folder / name, config, train, held_out, label_names_path)

    return make


def weights_of(job: Job) -> dict[str, np.ndarray]:
    return load_file(str(job.folder / "model/Format-HF/model.safetensors"))


def test_two_workers_train_as_one_device_and_the_chief_alone_writes(make_job):
    alone = make_job("alone").finish()
    # The chief alone writes histograms, which must not make it wait for the other.
    watched = {"tensorboard": {"histograms": True}}
    both = make_job("both", strategy="multi_worker_mirrored", train=watched)
    processes = start_both(both)
    assert [process.wait(600) for process in processes] == [0, 0], both.log
    expected, found = weights_of(alone), weights_of(both)
    assert expected.keys() == found.keys()
    # A bias on every key has no gradient: Adam learns the noise of its sums.
    exact = [name for name in expected if not name.endswith(".key.bias")]
    assert len(exact) == len(expected) - 1
    for name in exact:
        np.testing.assert_allclose(found[name], expected[name], atol=1e-6, err_msg=name)
    for one, other in zip(alone.history, both.history, strict=True):
        assert one["loss"] == pytest.approx(other["loss"], rel=1e-5)
        assert one["metrics"] == pytest.approx(other["metrics"], rel=1e-5)
    assert len(both.events("exporting")) == 1
    notes = [event["message"] for event in both.events("note")]
    assert sum("several workers" in note for note in notes) == 1
    assert sum("linear probe" in note for note in notes) == 1
    assert len(both.events("memory")) == 1


def test_worker_that_is_asked_to_end_ends_both_and_both_go_on(make_job):
    train = {"epochs": 10}
    strategy = "multi_worker_mirrored"
    through = make_job("through", strategy=strategy, train=train)
    for process in start_both(through):
        assert process.wait(600) == 0, through.log
    stopped = make_job("stopped", strategy=strategy, train=train)
    processes = start_both(stopped)
    stopped.wait_until_saved(processes[0])
    processes[1].terminate()
    assert all(process.wait(60) != 0 for process in processes)
    saved = stopped.saved
    for process in start_both(stopped):
        assert process.wait(600) == 0, stopped.log
    assert [e["updates_before"] for e in stopped.events("training")] == [0, saved]
    assert stopped.weights == through.weights
