"""Which strategy a name gives, by the GPUs that are there."""

import pytest
import tensorflow as tf

from trainer_module.loop import strategies
from trainer_module.progress import Refusal

pytestmark = pytest.mark.slow


@pytest.fixture
def machine(monkeypatch):
    """Pretends that there are GPUs; gives the calls that were made of TensorFlow."""
    calls = []

    def have(gpus, *, started=False):
        def grow(gpu, enable):
            if started:
                raise RuntimeError("Physical devices cannot be modified")
            calls.append((gpu, enable))

        monkeypatch.setattr(tf.config, "list_physical_devices", lambda _kind: gpus)
        monkeypatch.setattr(tf.config.experimental, "set_memory_growth", grow)
        monkeypatch.setattr(tf.distribute, "MirroredStrategy", lambda: "mirrored")
        return calls

    return have


@pytest.mark.parametrize(
    "name, gpus, mirrored",
    [
        ("auto", [], False),
        ("auto", ["a"], False),
        ("auto", ["a", "b"], True),
        ("one_device", ["a", "b"], False),
        ("mirrored", [], True),
        ("mirrored", ["a"], True),
    ],
)
def test_strategy_follows_from_name_and_gpus(machine, name, gpus, mirrored):
    calls = machine(gpus)
    strategy = strategies.build(name)
    assert (strategy == "mirrored") is mirrored
    assert mirrored or strategy.num_replicas_in_sync == 1
    assert calls == [(gpu, True) for gpu in gpus]


def test_gpu_that_an_earlier_node_started_is_used_as_it_is(machine):
    machine(["a", "b"], started=True)
    assert strategies.build("auto") == "mirrored"


@pytest.mark.parametrize(
    "address, said",
    [
        (None, "finds no TPU at 'local': "),
        (
            "grpc://127.0.0.1:1",
            "at 'grpc://127.0.0.1:1': [Errno 111] Connection refused",
        ),
    ],
)
def test_tpu_that_is_not_there_is_refused_without_waiting(address, said):
    with pytest.raises(Refusal) as refused:
        strategies.build("tpu", tpu=address)
    assert said in str(refused.value)
    assert "Or set `runner.strategy=auto`." in str(refused.value)


@pytest.mark.parametrize(
    "found",
    [
        None,
        "{",
        "{}",
        '{"cluster": {"worker": []}, "task": {"type": "worker", "index": 0}}',
    ],
    ids=["unset", "no JSON", "empty", "no such worker"],
)
def test_worker_without_its_place_in_the_cluster_is_refused(monkeypatch, found):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    if found is not None:
        monkeypatch.setenv("TF_CONFIG", found)
    with pytest.raises(Refusal, match="reads the environment variable TF_CONFIG") as no:
        strategies.build("multi_worker_mirrored")
    assert repr(found) in str(no.value)
