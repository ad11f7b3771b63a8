"""Reads a YAML configuration and says what is wrong with it in the user's words."""

import difflib
import os
import typing
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from pipeline.config.sections import Config

# Keys that hold a path; relative ones are taken from the folder of the file.
_MAX_CHARACTERS, _MAX_DEPTH = 100_000, 20
PATH_KEYS = ("data.train", "data.eval", "serving.dir", "runner.root")


_PATTERNS_IN_WORDS = {
    "name": "lower-case letters, digits and hyphens, 63 at most, and no hyphen first",
    "runner.root": "a path without *, ?, [ and ], which TFX takes for a pattern",
}


class ConfigError(Exception):
    """The configuration is refused; nothing ran. `str()` is for the user."""


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
    values, lines = _read(path)
    _make_paths_absolute(values, os.path.dirname(os.path.abspath(path)))
    for override in overrides:
        key, value = _parsed(override)
        _apply(values, key, value, said=f"--set {override[:80]}")
    for key, value in (options or {}).items():
        _apply(values, key, value, said=str(value))
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
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{path}: this is not UTF-8 ({error.reason} at byte {error.start}). Save "
            "the file as UTF-8."
        ) from error
    if len(text) > _MAX_CHARACTERS:
        raise ConfigError(
            f"{path}: a configuration has at most {_MAX_CHARACTERS:,} characters. Is "
            "this the data? A configuration is like configs/intent.yaml."
        )
    values = _parse(text, path)
    if not isinstance(values, dict):
        raise ConfigError(
            f"{path}: a configuration is a list of `key: value` lines. Received: "
            f"{type(values).__name__}. See configs/intent.yaml."
        )
    return values, dict(_key_lines(yaml.compose(text, Loader=yaml.SafeLoader), path))


def _parse(text: str, where: str) -> Any:
    """The values of a YAML text.

    Raises:
      ConfigError: naming `where`, and the line if it is known.
    """
    try:
        _refuse_alias_and_depth(text, where)
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error)
    except (ValueError, OverflowError) as error:  # Such as a 13th month.
        line, problem = "", str(error)
    raise ConfigError(f"{where}{line}: this is not valid YAML: {problem}.")


def _refuse_alias_and_depth(text: str, where: str) -> None:
    """What could make a short text endless: cycles, and thousands of brackets."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        line = event.start_mark.line + 1 if event.start_mark else 1
        if isinstance(event, yaml.AliasEvent):
            raise ConfigError(
                f"{where}:{line}: an alias (*{event.anchor}) is not allowed here. "
                "Write the value out."
            )
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _MAX_DEPTH:
            raise ConfigError(
                f"{where}:{line}: this is nested deeper than {_MAX_DEPTH} levels; a "
                "configuration has at most five."
            )


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


def _parsed(override: str) -> tuple[str, Any]:
    key, equals, raw = override.partition("=")
    if not equals or not all(key.strip().split(".")):
        raise ConfigError(
            f"--set {override}: an override is `section.key=value`, for example "
            "`train.learning_rate=5e-5`."
        )
    return key.strip(), _parse(raw, f"--set {override[:80]}")


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
        # An empty text is no path; where all is checked it is refused.
        if (
            isinstance(holder, dict)
            and holder.get(key)
            and isinstance(holder[key], str)
        ):
            holder[key] = absolute(holder[key], folder)
    model = values.get("model")
    if isinstance(model, dict) and isinstance(model.get("checkpoint"), str):
        if model["checkpoint"] and is_path(model["checkpoint"]):
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
    if isinstance(runner["root"], str):
        runner["root"] = runner["root"].replace("{name}", str(values.get("name")))
    # What is no text is refused where all types are checked.
    known = isinstance(serving, dict) and isinstance(runner["root"], str)
    if known and serving.get("dir") is None:
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
    if kind == "string_pattern_mismatch" and key in _PATTERNS_IN_WORDS:
        return subject + f"{_PATTERNS_IN_WORDS[key]}. Received: {_short(received)}."
    if kind == "missing":
        return subject + "this key is required and missing."
    if kind == "value_error":  # Our own rules: complete sentences already.
        return subject + str(problem["ctx"]["error"]) + "."
    return subject + f"{_lower_first(problem['msg'])}. Received: {_short(received)}."


def _short(received: Any) -> str:
    """A value in at most 80 characters; Python shows no number of 5,000 digits."""
    if isinstance(received, int) and received.bit_length() > 1000:
        return "a number of more than 300 digits"
    shown = repr(received)
    return shown if len(shown) <= 80 else f"{shown[:77]}..."


def _near_keys(location: tuple) -> str:
    """The keys that the section has, the nearest first."""
    model: Any = Config
    for part in location[:-1]:
        if _is_model(model):
            field = model.model_fields.get(part)
            model = field.annotation if field else None
        else:  # The key of a dict is the user's; what it holds is a model or a number.
            model = typing.get_args(model)[-1] if typing.get_args(model) else None
    if not _is_model(model):
        return ""
    allowed = sorted(model.model_fields)
    near = difflib.get_close_matches(str(location[-1]), allowed, n=1)
    hint = f" Did you mean `{near[0]}`?" if near else ""
    return f"{hint} Allowed here: {', '.join(allowed)}."


def _is_model(kind: Any) -> bool:
    is_class = isinstance(kind, type) and typing.get_origin(kind) is None
    return is_class and issubclass(kind, BaseModel)


def _near_files(path: str) -> str:
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        return f" The folder {folder} does not exist either."
    found = sorted(n for n in os.listdir(folder) if n.endswith((".yaml", ".yml")))
    if not found:
        return " Those of texttune are in its folder configs/."
    return f" There are: {', '.join(found)}."


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]
