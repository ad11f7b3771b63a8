"""A YAML file to plain values, with the line of each key. Bounded in size and depth."""

import os
from collections.abc import Iterator
from typing import Any

import yaml

from components.example_gen.settings import SPAN_PLACEHOLDER
from pipeline.config.errors import ConfigError

_MAX_CHARACTERS, _MAX_DEPTH = 100_000, 20


def read(path: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Returns the values, and for each dotted key "file:line" where it stands.

    Raises:
      ConfigError: if there is no such file, or it is no mapping in YAML.
    """
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
    values = parse(text, path)
    if not isinstance(values, dict):
        raise ConfigError(
            f"{path}: a configuration is a list of `key: value` lines. Received: "
            f"{type(values).__name__}. See configs/intent.yaml."
        )
    lines = _key_lines(yaml.compose(text, Loader=yaml.SafeLoader), path)
    return values, {key: f"{path}:{line}" for key, line in lines}


def parse(text: str, where: str) -> Any:
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
    hint = ""
    if SPAN_PLACEHOLDER in text:
        hint = (
            f" A path with {SPAN_PLACEHOLDER} needs quotes in a list or at its start."
        )
    raise ConfigError(f"{where}{line}: this is not valid YAML: {problem}.{hint}")


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


def _near_files(path: str) -> str:
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        return f" The folder {folder} does not exist either."
    found = sorted(n for n in os.listdir(folder) if n.endswith((".yaml", ".yml")))
    if not found:
        return " Those of texttune are in its folder configs/."
    return f" There are: {', '.join(found)}."
