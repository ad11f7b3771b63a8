"""A job from its file and the command line, checked, with absolute paths."""

import os
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from pipeline.config import messages, parsing
from pipeline.config.errors import ConfigError
from pipeline.config.sections import Config

# Keys that hold a path; relative ones are taken from the folder of the file.
PATH_KEYS = ("data.train", "data.eval", "serving.dir", "runner.root")


def load(
    path: str,
    overrides: Iterable[str] = (),
    options: Mapping[str, str | int] | None = None,
) -> Config:
    """Reads `path`, applies `overrides`, then `options`, and checks the result.

    Args:
      path: a YAML file. Relative paths in it start at its own folder.
      overrides: "section.key=value", the value in YAML. Relative paths in them start
        at the working directory, like every path on a command line.
      options: dotted key -> value as it is; a file may be called `2024` or `a: b`.

    Raises:
      ConfigError: with file, line and key, what was received and what is allowed.
    """
    values, places = parsing.read(path)
    _make_paths_absolute(values, os.path.dirname(os.path.abspath(path)))
    for override in overrides:
        key, value = _parsed(override)
        places[key] = f"--set {override[:80]}"
        _apply(values, key, value, said=places[key])
    for key, value in (options or {}).items():
        places[key] = "command line"
        _apply(values, key, value, said=places[key])
    _make_paths_absolute(values, os.getcwd())
    _fill_in_root(values, path)
    try:
        return Config.model_validate(values)
    except ValidationError as error:
        raise ConfigError(messages.in_words(error, path, places)) from error


def _parsed(override: str) -> tuple[str, Any]:
    key, equals, raw = override.partition("=")
    if not equals or not all(key.strip().split(".")):
        raise ConfigError(
            f"--set {override}: an override is `section.key=value`, for example "
            "`train.learning_rate=5e-5`."
        )
    return key.strip(), parsing.parse(raw, f"--set {override[:80]}")


def _apply(values: dict[str, Any], key: str, value: Any, *, said: str) -> None:
    parts = key.split(".")
    for part in parts[:-1]:
        inner = values.setdefault(part, {})
        if not isinstance(inner, dict):
            raise ConfigError(f"{said}: `{part}` has no keys below it.")
        values = inner
    values[parts[-1]] = value


def _make_paths_absolute(values: dict[str, Any], folder: str) -> None:
    for dotted in PATH_KEYS:
        section, key = dotted.split(".")
        holder = values.get(section)
        if isinstance(holder, dict) and isinstance(holder.get(key), list):
            holder[key] = [_absolute_if_path(value, folder) for value in holder[key]]
        elif isinstance(holder, dict):
            holder[key] = _absolute_if_path(holder.get(key), folder)
    model = values.get("model")
    if isinstance(model, dict) and isinstance(model.get("checkpoint"), str):
        if model["checkpoint"] and is_path(model["checkpoint"]):
            model["checkpoint"] = absolute(model["checkpoint"], folder)


def _absolute_if_path(value: Any, folder: str) -> Any:
    """What is no text, or an empty one, is refused where all values are checked."""
    return absolute(value, folder) if value and isinstance(value, str) else value


def absolute(path: str, folder: str) -> str:
    """`path` from `folder`; a URI such as gs://... stays as it is."""
    if "://" in path:
        return path
    return os.path.normpath(os.path.join(folder, os.path.expanduser(path)))


def is_path(checkpoint: str) -> bool:
    """Whether `model.checkpoint` is a folder, and not one of the named forms."""
    return checkpoint != "create" and not checkpoint.startswith(("package:", "hub:"))


def _fill_in_root(values: dict[str, Any], path: str) -> None:
    runner = values.setdefault("runner", {})
    if not isinstance(runner, dict):
        return
    if runner.get("root") is None:
        folder = os.path.dirname(os.path.abspath(path))
        runner["root"] = os.path.join(folder, "workspace", str(values.get("name")))
    serving = values.setdefault("serving", {})
    if isinstance(runner["root"], str):
        runner["root"] = runner["root"].replace("{name}", str(values.get("name")))
    # What is no text is refused where all types are checked.
    known = isinstance(serving, dict) and isinstance(runner["root"], str)
    if known and serving.get("dir") is None:
        serving["dir"] = os.path.join(runner["root"], "serving")
