"""Asks an exported model in a fresh process, and writes down what it answers.

  python -m components.model_check.probe REQUEST.json RESULT.json

Fresh, so that nothing which training happened to import or register can help; without
network, so that nothing can be fetched. It judges nothing: `core` does.

REQUEST: {"saved_model_dir": str, "texts": [str]}
RESULT, see `core.problems`:
  texts            the texts asked: those of the request, then `core.EDGE_TEXTS`
  request_count    how many of them came with the request
  load_seconds, peak_memory_mb, model_mb
  signatures       {name: {"inputs": {name: "dtype[shape]"}, "outputs": {name: dtype}}}
  single           one call of serving_default for each text
  batched          one call of serving_default for all texts
  examples         one call of serving_examples for all texts
  empty            {signature: a call with no rows}
A call is {"seconds": float, "outputs": {name: values}} or {"error": str}. Bytes that
are not UTF-8 travel as lone surrogates ("surrogateescape"), in both directions.
"""

import json
import os
import resource
import socket
import sys
import time
from collections.abc import Callable
from typing import Any

from components.model_check import core
from trainer_module import features, signatures

MAX_ERROR_CHARACTERS = 300


def main(request_path: str, result_path: str) -> None:
    os.environ["HF_HUB_OFFLINE"] = "1"
    forbid_network()
    with open(request_path, encoding="utf-8") as file:
        request = json.load(file)
    record = probe(request["saved_model_dir"], request["texts"])
    with open(result_path, "w", encoding="utf-8") as file:
        json.dump({**record, "peak_memory_mb": peak_memory_mb()}, file)


def forbid_network() -> None:
    """Makes every connection of this process fail, so that a need for one shows."""

    def refuse(_socket: socket.socket, address: Any) -> None:
        raise PermissionError(
            f"Something tried to connect to {address!r}. A served model must work "
            "without network."
        )

    socket.socket.connect = refuse  # type: ignore[assignment,method-assign]
    socket.socket.connect_ex = refuse  # type: ignore[assignment,method-assign]


def peak_memory_mb() -> float:
    """The most memory that this process has had resident so far."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) / 1024
    except FileNotFoundError:  # Not Linux.
        pass
    # Second choice: on Linux it would start at what the parent process had.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def size_mb(folder: str) -> float:
    """Of all files below a folder."""
    import tensorflow as tf

    found = (
        tf.io.gfile.stat(os.path.join(place, name)).length
        for place, _, names in tf.io.gfile.walk(folder)
        for name in names
    )
    return sum(found) / 2**20


def probe(saved_model_dir: str, requested: list[str]) -> dict[str, Any]:
    import tensorflow as tf
    import tensorflow_text  # noqa: F401  Registers the ops of the tokenizers.

    started = time.perf_counter()
    loaded = tf.saved_model.load(saved_model_dir)
    load_seconds = time.perf_counter() - started

    texts = [*requested, *core.EDGE_TEXTS]
    rows = [text.encode("utf-8", "surrogateescape") for text in texts]
    examples = [_serialized_example(row) for row in rows]

    def ask(signature: str, values: list[bytes]) -> dict[str, Any]:
        function = loaded.signatures[signature]
        return function(**{core.INPUTS[signature]: tf.constant(values, tf.string)})

    return {
        "texts": texts,
        "request_count": len(requested),
        "load_seconds": load_seconds,
        "model_mb": size_mb(saved_model_dir),
        "signatures": {
            name: _described(function) for name, function in loaded.signatures.items()
        },
        "single": [_timed(ask, signatures.SERVING_DEFAULT, [row]) for row in rows],
        "batched": _timed(ask, signatures.SERVING_DEFAULT, rows),
        "examples": _timed(ask, signatures.SERVING_EXAMPLES, examples),
        "empty": {name: _timed(ask, name, []) for name in core.INPUTS},
    }


def _timed(ask: Callable, signature: str, values: list[bytes]) -> dict[str, Any]:
    started = time.perf_counter()
    try:
        outputs = {
            name: _plain(t.numpy()) for name, t in ask(signature, values).items()
        }
    except Exception as error:  # Whatever a model raises is a finding, not our end.
        text = f"{type(error).__name__}: {error}"
        return {"error": " ".join(text.split())[:MAX_ERROR_CHARACTERS]}
    return {"seconds": time.perf_counter() - started, "outputs": outputs}


def _plain(value: Any) -> Any:
    """Arrays -> nested lists, bytes -> str."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return _plain(value.tolist()) if hasattr(value, "tolist") else value


def _described(function: Any) -> dict[str, dict[str, str]]:
    inputs = function.structured_input_signature[1]
    outputs = function.structured_outputs
    return {
        "inputs": {name: _type_of(spec) for name, spec in inputs.items()},
        "outputs": {name: spec.dtype.name for name, spec in outputs.items()},
    }


def _type_of(spec: Any) -> str:
    if spec.shape.rank is None:
        return f"{spec.dtype.name}[...]"
    return f"{spec.dtype.name}[{', '.join(map(str, spec.shape))}]"


def _serialized_example(text: bytes) -> bytes:
    import tensorflow as tf

    feature = tf.train.Feature(bytes_list=tf.train.BytesList(value=[text]))
    return tf.train.Example(
        features=tf.train.Features(feature={features.TEXT: feature})
    ).SerializeToString()


if __name__ == "__main__":
    main(*sys.argv[1:])
