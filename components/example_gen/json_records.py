"""Records of JSON Lines, or of one JSON array. Pure."""

import json
import re
from collections.abc import Iterator
from typing import Any

from components.example_gen import files
from components.example_gen.text_files import TextFile
from trainer_module.progress import DataRefused

# A whole array has to be in memory, as text and as what is read of it.
MAX_ARRAY_CHARACTERS = 512 * 2**20
_SPACE = re.compile(r"[ \t\r\n]*")
_LINE_END = re.compile(r"\r\n|\r|\n")


def is_json(text: TextFile) -> bool:
    """By the name, or by how the content begins."""
    name = text.path.lower().removesuffix(".gz")
    if name.endswith((".jsonl", ".ndjson", ".json")):
        return True
    return re.match(r'\s*(\{\s*"|\[\s*(\{|$))', text.first_line()) is not None


def is_array(text: TextFile) -> bool:
    return text.first_line().lstrip().startswith("[")


def read(text: TextFile) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields (line where it starts, record).

    Raises:
      DataRefused: at the line where it is no JSON, or no object.
    """
    yield from _array(text) if is_array(text) else _lines(text)


def _lines(text: TextFile) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(text.lines(), start=1):
        if not line.strip():
            continue
        text.refuse_conflict(line, number)
        line = line.rstrip()
        value, end = _decode(text, line, _skip(line, 0), number, _ONE_A_LINE)
        if end < len(line):
            found = f"this is not valid JSON (Extra data at column {end + 1})"
            raise files.refusal(text.path, found, _ONE_A_LINE, line=number)
        yield number, _an_object(text, value, number, _ONE_A_LINE)


def _array(text: TextFile) -> Iterator[tuple[int, dict[str, Any]]]:
    content = text.whole(MAX_ARRAY_CHARACTERS)
    if content is None:
        raise files.refusal(
            text.path,
            f"this is a JSON array of more than {MAX_ARRAY_CHARACTERS >> 20} million "
            "characters, which has to be in memory as a whole",
            f"Write it as JSON Lines: `{files.command_on(text.path, 'jq -c .[]')}`.",
        )
    at = _skip(content, _skip(content, 0) + 1)
    counter = _LineCounter(content)
    first = True
    while not content.startswith("]", at):
        if not first:
            if not content.startswith(",", at):
                raise _not_an_array(text, content, at, counter)
            at = _skip(content, at + 1)
        first = False
        number = counter.line_of(at)
        value, end = _decode(text, content, at, number, _ARRAY)
        yield number, _an_object(text, value, number, _ARRAY)
        at = _skip(content, end)
    after = _skip(content, at + 1)
    if after < len(content):
        raise _not_an_array(text, content, after, counter)


def _not_an_array(
    text: TextFile, content: str, at: int, counter: "_LineCounter"
) -> DataRefused:
    number = counter.line_of(at)
    text.refuse_conflict(_line_at(content, at), number)
    found = content[at : at + 20]
    what = f"{found!r} is not what follows an object" if found else "its end is missing"
    return files.refusal(
        text.path, f"this is not a valid JSON array: {what}", _ARRAY, line=number
    )


def _line_at(content: str, at: int) -> str:
    """The line around a position, or the beginning of it."""
    start = max(content.rfind("\n", 0, at), content.rfind("\r", 0, at)) + 1
    return (
        content[start : start + 80].splitlines()[0] if content[start : at + 1] else ""
    )


class _LineCounter:
    """Tells the line of rising positions in a text, each part counted once."""

    def __init__(self, text: str):
        self._text, self._at, self._line = text, 0, 1

    def line_of(self, position: int) -> int:
        self._line += len(_LINE_END.findall(self._text, self._at, position))
        self._at = position
        return self._line


def _skip(text: str, at: int) -> int:
    """The position of the first character from `at` that is no white space."""
    match = _SPACE.match(text, at)
    return match.end() if match else at


_ONE_A_LINE = "JSON Lines has one whole object on each line."
_ARRAY = "An array is `[{...}, {...}]`, one object for each row."


def _decode(
    text: TextFile, content: str, at: int, number: int, way_out: str
) -> tuple[Any, int]:
    """(value, where it ends)."""
    try:
        return _JSON.raw_decode(content, at)
    except json.JSONDecodeError as error:
        number += len(_LINE_END.findall(content, at, error.pos))
        text.refuse_conflict(_line_at(content, error.pos), number)
        column = error.pos - content.rfind("\n", 0, error.pos)
        found = f"this is not valid JSON ({error.msg} at column {column})"
    except RecursionError:
        found = "this JSON is nested too deeply"
    except _DoubledKey as error:
        found, way_out = f"the key {str(error)!r} is there twice", "Remove one."
    raise files.refusal(text.path, found, way_out, line=number)


def _an_object(text: TextFile, value: Any, number: int, way_out: str) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    found = f"this is not a JSON object ({json.dumps(value)[:40]!r})"
    raise files.refusal(text.path, found, way_out, line=number)


class _DoubledKey(Exception):
    """One key twice in an object: json would silently keep the last."""


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [k for k, _ in pairs]
        raise _DoubledKey(next(k for k in keys if keys.count(k) > 1))
    return found


def _constant(name: str) -> str | None:
    """NaN, as pandas writes it, stands for no value."""
    return None if name == "NaN" else name


# Numbers stay as they are written: 01 is no JSON, but 1.10 is not 1.1 either.
_JSON = json.JSONDecoder(
    parse_float=str,
    parse_int=str,
    parse_constant=_constant,
    object_pairs_hook=_unique_keys,
)
