"""What a model was made from: the facts that its report and its version carry. Pure."""

import json
from typing import Any

from pipeline.config import Config
from pipeline.place import Fingerprints


def of(config: Config, fingerprints: Fingerprints) -> dict[str, Any]:
    """{"task", "checkpoint", "own_eval_files", "gate", "hashes", "config"}."""
    return {
        "task": config.task,
        "checkpoint": config.model.checkpoint,
        "own_eval_files": config.data.eval is not None,
        "gate": config.gate.model_dump(mode="json"),
        "hashes": {
            "data": fingerprints.data,
            "checkpoint": fingerprints.checkpoint,
            "training code": fingerprints.code["Trainer"],
        },
        "config": _of_model(config),
    }


def as_json(config: Config, fingerprints: Fingerprints) -> str:
    return json.dumps(of(config, fingerprints), sort_keys=True)


def _of_model(config: Config) -> dict[str, Any]:
    """What made the model; not where it ran, and no paths: the account has those."""
    kept = {"name", "task", "data", "model", "train", "gate"}
    found = config.model_dump(mode="json", include=kept)
    for key in ("train", "eval", "reviewed_schema"):
        del found["data"][key]
    return found
