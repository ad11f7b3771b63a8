"""state.json: what is known of a checkpoint beside its arrays. Pure.

It is written last, so that its being there says that the arrays are; and it holds
their size and SHA-256 and its own, so that damage to either is noticed.
"""

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import Any

FORMAT = 1
MOST_BYTES = 16 << 20  # Of a state.json; a history of a thousand epochs takes one.


class Unusable(Exception):
    """A checkpoint that cannot be gone on from; its text follows the name."""


@dataclasses.dataclass(frozen=True)
class ArraysFile:
    """What the file of the arrays must be."""

    size_bytes: int
    sha256: str


@dataclasses.dataclass(frozen=True)
class State:
    """The facts of a checkpoint; `arrays` is None for one that has none."""

    name: str
    facts: dict[str, Any]
    arrays: ArraysFile | None


def frozen(facts: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of the facts as they will be read: tuples are lists, keys are texts.

    Raises:
      TypeError: if a fact is not of JSON's types.
      ValueError: if they would take more than half of `MOST_BYTES`.
    """
    text = json.dumps(dict(facts))
    if len(text) > MOST_BYTES // 2:
        raise ValueError(
            f"The facts of a checkpoint may take {MOST_BYTES // 2} bytes as JSON. "
            f"Received: {len(text)}. Numbers of a model go to `arrays`"
        )
    copied: dict[str, Any] = json.loads(text)
    return copied


def encode(state: State) -> bytes:
    """The content of state.json, for facts that are `frozen`."""
    body = dataclasses.asdict(state)
    return json.dumps(
        {"format": FORMAT, "sha256": _digest(body), "body": body}
    ).encode()


def decode(content: bytes, *, name: str) -> State:
    """Reads back what `encode` wrote for the checkpoint of that name.

    Raises:
      Unusable: if it is cut off, altered, of another checkpoint or another format.
    """
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or "format" not in document:
        raise Unusable(
            f"is damaged (its state.json of {len(content)} bytes is no JSON)"
        )
    if document["format"] != FORMAT:
        raise Unusable(
            f"has format {document['format']!r}, and this version of texttune reads "
            f"format {FORMAT}: the version that wrote it can go on from it"
        )
    body = document.get("body")
    if not isinstance(body, dict) or document.get("sha256") != _digest(body):
        raise Unusable("is damaged (the checksum of its state.json does not match)")
    if body["name"] != name:
        raise Unusable(f"is damaged (its state.json is that of {body['name']})")
    arrays = body["arrays"]
    return State(
        name=name,
        facts=body["facts"],
        arrays=None if arrays is None else ArraysFile(**arrays),
    )


def _digest(body: Mapping[str, Any]) -> str:
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
