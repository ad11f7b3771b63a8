"""Which training a checkpoint belongs to. Pure."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

# Settings that change no weight, so that a training goes on when they change.
LEFT_OUT = {
    "train.tensorboard": "only what is shown of the training",
    "train.checkpoint_minutes": "only how often the training is kept",
    "training_dir": "only where it is kept",
    "tpu": "the address of a device; `strategy` says what kind it is",
}
_DIGITS = 16


def training_key(
    custom_config: Mapping[str, Any],
    *,
    data_digests: Mapping[str, str],
    label_names: Sequence[str],
    replicas: int,
    compiled: bool,
    warm_start: str | None,
) -> str:
    """A short name for all that the weights of a training depend on.

    Args:
      custom_config: the node's, as `TrainerSettings.to_custom_config` gives it.
      data_digests: for each split, the digest of its rows in their order.
      label_names: in the order of the classes; empty for summarization.
      replicas: over how many devices a batch is spread.
      compiled: whether XLA compiles the step, for which batches have fewer shapes.
      warm_start: content hash of the weights to start from, where these are not the
        checkpoint's; None otherwise.

    Returns:
      16 hex digits: the beginning of a SHA-256.

    Raises:
      ValueError: if `custom_config` was not built by `to_custom_config`.
    """
    if "texttune" not in custom_config:
        raise ValueError(
            "`custom_config['texttune']` is missing. Build the node with "
            "`custom_config=settings.to_custom_config()`. "
            f"Received keys: {sorted(custom_config)}."
        )
    parts = {
        "settings": _without(custom_config["texttune"], LEFT_OUT),
        "data": dict(data_digests),
        "label_names": list(label_names),
        "replicas": replicas,
        "compiled": compiled,
        "warm_start": warm_start,
    }
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def _without(
    section: Mapping[str, Any], paths: Mapping[str, str], prefix: str = ""
) -> dict[str, Any]:
    """A copy of nested settings that lacks the values at the dotted paths."""
    return {
        key: _without(value, paths, f"{prefix}{key}.")
        if isinstance(value, Mapping)
        else value
        for key, value in section.items()
        if f"{prefix}{key}" not in paths
    }
