"""What pydantic found wrong, in words: file, line, key, received, allowed."""

import difflib
import typing
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from pipeline.config.sections import Config

_PATTERNS_IN_WORDS = {
    "name": "lower-case letters, digits and hyphens, 63 at most, and no hyphen first",
    "runner.root": "a path without *, ?, [ and ], which TFX takes for a pattern",
    "data.spans.marker": "a file's name without /, *, ?, [, ], { and }; or null",
}


def in_words(error: ValidationError, path: str, places: Mapping[str, str]) -> str:
    """One line for each problem.

    Args:
      path: the file, for a key that stands nowhere.
      places: dotted key -> where it stands: file and line, or the command line.
    """
    return "\n".join(
        _one_in_words(problem, path, places)
        for problem in error.errors(include_url=False)
    )


def _one_in_words(problem: Any, path: str, places: Mapping[str, str]) -> str:
    key = ".".join(str(part) for part in problem["loc"])
    where = places.get(key, path)
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


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]
