"""Records of JSON Lines, or of one JSON array. Pure."""

import json
import re
from collections.abc import Iterator
from typing import Any

from components.example_gen import files
from trainer_module.progress import DataRefused

# A whole array has to be in memory, as text and as what is read of it.
MAX_ARRAY_BYTES = 512 * 2**20
_SPACE = re.compile(r"[ \t\r\n]*")
_LINE_END = re.compile(r"\r\n|\r|\n")


def is_json(path: str) -> bool:
    """By the name, or by how the content begins."""
    name = path.lower().removesuffix(".gz")
    if name.endswith((".jsonl", ".ndjson", ".json")):
        return True
    first, _ = files.first_text_line(path)
    return re.match(r'\s*(\{\s*"|\[\s*(\{|$))', first) is not None


def is_array(path: str) -> bool:
    first, _ = files.first_text_line(path)
    return first.lstrip().startswith("[")


def read(path: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields (line where it starts, record).

    Raises:
      DataRefused: at the line where it is no JSON, or no object.
    """
    yield from _array(path) if is_array(path) else _lines(path)


def _lines(path: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(files.lines(path), start=1):
        if not line.strip():
            continue
        files.refuse_conflict(path, line, number)
        line = line.rstrip()
        value, end = _decode(path, line, _skip(line, 0), number, _ONE_A_LINE)
        if end < len(line):
            found = f"this is not valid JSON (Extra data at column {end + 1})"
            raise files.refusal(path, found, _ONE_A_LINE, line=number)
        yield number, _an_object(path, value, number, _ONE_A_LINE)


def _array(path: str) -> Iterator[tuple[int, dict[str, Any]]]:
    text = "".join(_bounded_lines(path))
    at = _skip(text, _skip(text, 0) + 1)
    counter = _LineCounter(text)
    first = True
    while not text.startswith("]", at):
        if not first:
            if not text.startswith(",", at):
                raise _not_an_array(path, text, at, counter)
            at = _skip(text, at + 1)
        first = False
        number = counter.line_of(at)
        value, end = _decode(path, text, at, number, _ARRAY)
        yield number, _an_object(path, value, number, _ARRAY)
        at = _skip(text, end)
    if _skip(text, at + 1) < len(text):
        raise _not_an_array(path, text, _skip(text, at + 1), counter)


def _bounded_lines(path: str) -> Iterator[str]:
    size = 0
    for line in files.lines(path):
        size += len(line)
        if size > MAX_ARRAY_BYTES:
            raise files.refusal(
                path,
                f"this is a JSON array of more than {MAX_ARRAY_BYTES >> 20} MB, which "
                "has to be in memory as a whole",
                "Write it as JSON Lines: `jq -c '.[]' FILE > NEW.jsonl`.",
            )
        yield line


def _not_an_array(
    path: str, text: str, at: int, counter: "_LineCounter"
) -> DataRefused:
    found = text[at : at + 20]
    what = f"{found!r} is not what follows an object" if found else "its end is missing"
    return files.refusal(
        path,
        f"this is not a valid JSON array: {what}",
        _ARRAY,
        line=counter.line_of(at),
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
    path: str, text: str, at: int, number: int, way_out: str
) -> tuple[Any, int]:
    """(value, where it ends)."""
    try:
        return _JSON.raw_decode(text, at)
    except json.JSONDecodeError as error:
        column = error.pos - max(text.rfind("\n", 0, error.pos), -1)
        found = f"this is not valid JSON ({error.msg} at column {column})"
        number += len(_LINE_END.findall(text, at, error.pos))
    except RecursionError:
        found = "this JSON is nested too deeply"
    except _DoubledKey as error:
        found, way_out = f"the key {str(error)!r} is there twice", "Remove one."
    raise files.refusal(path, found, way_out, line=number)


def _an_object(path: str, value: Any, number: int, way_out: str) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    found = f"this is not a JSON object ({json.dumps(value)[:40]!r})"
    raise files.refusal(path, found, way_out, line=number)


class _DoubledKey(Exception):
    """One key twice in an object: json would silently keep the last."""


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [k for k, _ in pairs]
        raise _DoubledKey(next(k for k in keys if keys.count(k) > 1))
    return found


# Numbers stay as they are written: 01 is no JSON, but 1.10 is not 1.1 either.
_JSON = json.JSONDecoder(
    parse_float=str, parse_int=str, parse_constant=str, object_pairs_hook=_unique_keys
)
