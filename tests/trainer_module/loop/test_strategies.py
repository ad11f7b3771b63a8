"""Which strategy a name gives, by the GPUs that are there."""

import pytest
import tensorflow as tf

from trainer_module.loop import strategies

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
