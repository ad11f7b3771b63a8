"""The facts of the run that made a model, kept in the version that is served. Pure.

TensorFlow Serving leaves `assets.extra` of a version alone, so the facts travel with
the model wherever that goes, and a later run can tell what it replaces.

The file holds the keys that `components.report.core.render` takes, where they are
known when the model is published, and "format", "run_id" and "config". It holds no
text of the data: neither rejected rows nor the examples of the evaluation.
"""

import json
import os
from collections.abc import Mapping
from typing import Any

from serving import promotion

FACTS_PATH = f"{promotion.EXTRA_DIR}/run_facts.json"  # Below the folder of a version.
FORMAT = 1

_CANDIDATE = "candidate"
_MAX_BYTES = 50_000_000
_OF_EVALUATION = ("rows", "slices", "confidence", "notes", "blessed")
_OF_FILE = ("path", "format", "sha256", "bytes", "rows_read", "kept", "rejected")
_OF_CHECK = ("blessed", "problems", "figures", "limits")


def make(
    *,
    title: str,
    run_id: str | None,
    facts: Mapping[str, Any],
    account: Mapping[str, Any] | None,
    evaluation: Mapping[str, Any] | None,
    model_check: Mapping[str, Any] | None,
) -> bytes:
    """The file of a model that is about to be published.

    Args:
      title: name of the job.
      run_id: of the run that publishes it.
      facts: {"task", "checkpoint", "hashes", "config"}.
      account: account.json of ExampleGen.
      evaluation: evaluation.json of the Evaluator; the candidate's part is kept.
      model_check: check.json of ModelCheck.
    """
    lineage = {key: facts.get(key) for key in ("task", "checkpoint", "hashes")}
    made = {
        "format": FORMAT,
        "run_id": run_id,
        "title": title,
        "lineage": lineage,
        "config": facts.get("config"),
        "account": _account(account),
        "evaluation": _evaluation(evaluation),
        "model_check": _only(model_check, _OF_CHECK),
    }
    return json.dumps(made, indent=1, sort_keys=True).encode()


def read(version_dir: str) -> dict[str, Any] | None:
    """The facts in the folder of a version; None if it has none that can be read.

    An earlier release has written none, and a version put there by hand has none.
    """
    path = os.path.join(version_dir, *FACTS_PATH.split("/"))
    try:
        with open(path, "rb") as file:
            text = file.read(_MAX_BYTES + 1)
        found = json.loads(text)
    except (OSError, ValueError, RecursionError):
        return None
    known = isinstance(found, dict) and found.get("format") == FORMAT
    return found if known and len(text) <= _MAX_BYTES else None


def before(serving_dir: str, pushed: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The facts of the model that was in production before this run.

    Args:
      serving_dir: of the model, on a mounted file system.
      pushed: pushed.json of this run's Pusher; None if it has not run.

    Returns:
      What `make` wrote, with "pushed" as in pushed.json; None if no model was in
      production, or nothing is known of it.
    """
    own = None
    if pushed and pushed.get("pushed") and pushed.get("created", True):
        own = pushed.get("version")
    for version in reversed(promotion.versions(serving_dir)):
        folder = os.path.join(serving_dir, str(version))
        served = version and os.path.isfile(
            os.path.join(folder, promotion.SAVED_MODEL_FILE)
        )
        # Whatever came after this run's own was not there before it either.
        if not served or (own is not None and version >= own):
            continue
        found = read(folder)
        return found and {
            **found,
            "pushed": {"pushed": True, "created": True, "version": version},
        }
    return None


def _account(account: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if account is None:
        return None
    files = [_only(file, (*_OF_FILE, "left_out")) for file in account["files"]]
    return {"files": files, "splits": account["splits"]}


def _evaluation(evaluation: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if evaluation is None:
        return None
    kept = {key: evaluation[key] for key in _OF_EVALUATION if key in evaluation}
    for key in ("metrics", "labels"):
        of_all = evaluation.get(key, ())
        kept[key] = [found for found in of_all if found["model"] == _CANDIDATE]
    return kept


def _only(
    values: Mapping[str, Any] | None, keys: tuple[str, ...]
) -> dict[str, Any] | None:
    if values is None:
        return None
    return {key: values[key] for key in keys if key in values}
