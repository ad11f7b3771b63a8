"""From `runner.strategy` to a tf.distribute strategy."""

import contextlib
import json
import os
import socket
import urllib.parse

import tensorflow as tf

from trainer_module.progress import Refusal
from trainer_module.settings import Strategy

_CONNECT_SECONDS = 30


def build(name: Strategy, *, tpu: str | None = None) -> tf.distribute.Strategy:
    """Call it before anything else of TensorFlow: later, several workers cannot meet.

    Args:
      name: `auto` takes every GPU there is, and the default strategy without one.
      tpu: address of a remote TPU; None is the one of this machine.

    Raises:
      Refusal: if what the strategy needs is not there.
    """
    gpus = tf.config.list_physical_devices("GPU")
    for gpu in gpus:
        # An earlier node of the same process may have started it already.
        with contextlib.suppress(RuntimeError):
            tf.config.experimental.set_memory_growth(gpu, True)
    if name == "tpu":
        return _tpu(tpu)
    if name == "multi_worker_mirrored":
        return _multi_worker()
    if name == "mirrored" or (name == "auto" and len(gpus) > 1):
        return tf.distribute.MirroredStrategy()
    return tf.distribute.get_strategy()


def on_cpu() -> bool:
    """Whether no accelerator is there: then nothing is compiled for each shape."""
    return not any(tf.config.list_logical_devices(kind) for kind in ("GPU", "TPU"))


def has_workers(strategy: tf.distribute.Strategy) -> bool:
    """Whether other processes take part: what one of them computes, all must."""
    return isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy)


def is_chief(strategy: tf.distribute.Strategy) -> bool:
    """Whether this process writes what is written once."""
    resolver = strategy.cluster_resolver
    if not has_workers(strategy):
        return True
    return (resolver.task_type, resolver.task_id) in (
        ("chief", 0),
        *([] if "chief" in resolver.cluster_spec().jobs else [("worker", 0)]),
    )


def _tpu(address: str | None) -> tf.distribute.Strategy:
    where = address or "local"
    try:
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu=where)
        if address:
            _knock_at(resolver.master())
            tf.config.experimental_connect_to_cluster(resolver)
        tf.tpu.experimental.initialize_tpu_system(resolver)
    except (ValueError, RuntimeError, OSError, tf.errors.OpError) as error:
        raise Refusal(
            f"runner.strategy: tpu finds no TPU at {where!r}: {_first_line(error)}. "
            "`runner.tpu` names a remote one, by its name or as grpc://HOST:PORT; "
            "without it the machine itself must have one. Or set "
            "`runner.strategy=auto`."
        ) from error
    return tf.distribute.TPUStrategy(resolver)


def _knock_at(address: str) -> None:
    """TensorFlow itself waits for ever where nobody answers.

    Args:
      address: grpc://HOST:PORT.

    Raises:
      OSError: if nobody does.
    """
    found = urllib.parse.urlsplit(address)
    where = (found.hostname, found.port)
    socket.create_connection(where, timeout=_CONNECT_SECONDS).close()


def _multi_worker() -> tf.distribute.Strategy:
    raw = os.environ.get("TF_CONFIG")
    example = (
        '{"cluster": {"worker": ["host-a:2222", "host-b:2222"]}, '
        '"task": {"type": "worker", "index": 0}}'
    )
    try:
        found = json.loads(raw or "")
        index, kind = found["task"]["index"], found["task"]["type"]
        found["cluster"][kind][index]
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise Refusal(
            "runner.strategy: multi_worker_mirrored reads the environment variable "
            f"TF_CONFIG of each worker, which is {raw!r} here. It must be like "
            f"{example}. Set it, or set `runner.strategy=auto`."
        ) from error
    try:
        return tf.distribute.MultiWorkerMirroredStrategy()
    except RuntimeError as error:
        raise Refusal(
            "runner.strategy: multi_worker_mirrored needs a process in which "
            f"TensorFlow has not run yet: {_first_line(error)}. Run the Trainer as a "
            "node of its own, as a cluster does."
        ) from error


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
