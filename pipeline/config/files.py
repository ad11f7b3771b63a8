"""Reads a YAML configuration and says what is wrong with it in the user's words."""

import difflib
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from pipeline.config.sections import Config

# Keys that hold a path; relative ones are taken from the folder of the file.
PATH_KEYS = ("data.train", "data.eval", "serving.dir", "runner.root")


class ConfigError(Exception):
    """The configuration is refused; nothing ran. `str()` is for the user."""


def load(path: str, overrides: Iterable[str] = ()) -> Config:
    """Reads `path`, applies `overrides`, and checks the result.

    Args:
      path: a YAML file. Relative paths in it start at its own folder.
      overrides: "section.key=value", the value in YAML. Relative paths in them start
        at the working directory, like every path on a command line.

    Raises:
      ConfigError: with file, line and key, what was received and what is allowed.
    """
    values, lines = _read(path)
    _make_paths_absolute(values, os.path.dirname(os.path.abspath(path)))
    for override in overrides:
        _apply(values, override)
    _make_paths_absolute(values, os.getcwd())
    _fill_in_root(values, path)
    try:
        return Config.model_validate(values)
    except ValidationError as error:
        raise ConfigError(_in_words(error, path, lines)) from error


def _read(path: str) -> tuple[dict[str, Any], dict[str, int]]:
    """Returns the values, and for each dotted key the line it stands on."""
    try:
        with open(path, encoding="utf-8") as f:
            text = f.read()
    except FileNotFoundError:
        raise ConfigError(
            f"{path}: there is no such file.{_near_files(path)}"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}.") from error
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f":{mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error)
        raise ConfigError(
            f"{path}{where}: this is not valid YAML: {problem}."
        ) from error
    if not isinstance(values, dict):
        raise ConfigError(
            f"{path}: a configuration is a list of `key: value` lines. Received: "
            f"{type(values).__name__}. See configs/intent.yaml."
        )
    return values, dict(_key_lines(root, path))


def _key_lines(
    node: yaml.Node | None, path: str, prefix: str = ""
) -> Iterator[tuple[str, int]]:
    if not isinstance(node, yaml.MappingNode):
        return
    seen: dict[str, int] = {}
    for key, value in node.value:
        name, line = f"{prefix}{key.value}", key.start_mark.line + 1
        if name in seen:
            raise ConfigError(
                f"{path}:{line}: {name}: the key stands here and on line {seen[name]}; "
                "one of them would be ignored. Remove one."
            )
        seen[name] = line
        yield name, line
        yield from _key_lines(value, path, f"{name}.")


def _apply(values: dict[str, Any], override: str) -> None:
    key, equals, raw = override.partition("=")
    parts = key.strip().split(".")
    if not equals or not all(parts):
        raise ConfigError(
            f"--set {override}: an override is `section.key=value`, for example "
            "`train.learning_rate=5e-5`."
        )
    try:
        value = yaml.safe_load(raw)
    except yaml.YAMLError as error:
        raise ConfigError(f"--set {override}: the value is not valid YAML.") from error
    for part in parts[:-1]:
        inner = values.setdefault(part, {})
        if not isinstance(inner, dict):
            raise ConfigError(f"--set {override}: `{part}` has no keys below it.")
        values = inner
    values[parts[-1]] = value


def _make_paths_absolute(values: dict[str, Any], folder: str) -> None:
    for dotted in PATH_KEYS:
        section, key = dotted.split(".")
        holder = values.get(section)
        if isinstance(holder, dict) and isinstance(holder.get(key), str):
            holder[key] = absolute(holder[key], folder)
    model = values.get("model")
    if isinstance(model, dict) and isinstance(model.get("checkpoint"), str):
        if is_path(model["checkpoint"]):
            model["checkpoint"] = absolute(model["checkpoint"], folder)


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
    if isinstance(serving, dict) and serving.get("dir") is None:
        serving["dir"] = os.path.join(runner["root"], "serving")


def _in_words(error: ValidationError, path: str, lines: Mapping[str, int]) -> str:
    return "\n".join(
        _one_in_words(problem, path, lines)
        for problem in error.errors(include_url=False)
    )


def _one_in_words(problem: Any, path: str, lines: Mapping[str, int]) -> str:
    key = ".".join(str(part) for part in problem["loc"])
    where = path if key not in lines else f"{path}:{lines[key]}"
    subject = f"{where}: {key}: " if key else f"{where}: "
    kind, received = problem["type"], problem.get("input")
    if kind == "extra_forbidden":
        return subject + "there is no such key." + _near_keys(problem["loc"])
    if kind == "missing":
        return subject + "this key is required and missing."
    if kind == "value_error":  # Our own rules: complete sentences already.
        return subject + str(problem["ctx"]["error"]) + "."
    return subject + f"{_lower_first(problem['msg'])}. Received: {received!r}."


def _near_keys(location: tuple) -> str:
    """The keys that the section has, the nearest first."""
    model: Any = Config
    for part in location[:-1]:
        field = model.model_fields.get(part) if _is_model(model) else None
        model = field.annotation if field else None
    if not _is_model(model):
        return ""
    allowed = sorted(model.model_fields)
    near = difflib.get_close_matches(str(location[-1]), allowed, n=1)
    hint = f" Did you mean `{near[0]}`?" if near else ""
    return f"{hint} Allowed here: {', '.join(allowed)}."


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _near_files(path: str) -> str:
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        return f" The folder {folder} does not exist either."
    found = sorted(n for n in os.listdir(folder) if n.endswith((".yaml", ".yml")))
    return f" There are: {', '.join(found)}." if found else ""


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]
