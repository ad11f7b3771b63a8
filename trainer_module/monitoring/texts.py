"""Texts of users, made fit for a line, a cell or a page of somebody else. Pure."""

import re
import unicodedata
from collections.abc import Sequence

from trainer_module.loop.events import Sample

CELL_CHARACTERS = 500
_LINE_BREAK = re.compile("\r\n|[\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")
_JOINERS = "\u200c\u200d"  # Invisible, and part of how words and emoji are written.


def one_line(text: str, *, most_characters: int) -> str:
    """The text on one line without tabs, cut off with an ellipsis where it is longer.

    A line break becomes ⏎, and a character that cannot be shown becomes U+FFFD.
    """
    cut = text[:most_characters]
    shown = "".join(map(_shown, _LINE_BREAK.sub(" ⏎ ", cut))).strip()
    return f"{shown}…" if len(text) > most_characters else shown


def _shown(character: str) -> str:
    if character.isprintable() or character in _JOINERS:
        return character
    is_space = character == "\t" or unicodedata.category(character) == "Zs"
    return " " if is_space else "\N{REPLACEMENT CHARACTER}"


def as_markdown(text: str) -> str:
    """The text on one line, of which Markdown and HTML see letters and spaces only."""
    line = one_line(text, most_characters=CELL_CHARACTERS)
    return "".join(
        f"&#{ord(c)};" if c.isascii() and not c.isalnum() and c != " " else c
        for c in line
    )


def table(samples: Sequence[Sample]) -> str:
    """A Markdown table: a row for each sample, its text, target and prediction."""
    rows = [
        f"| {as_markdown(s.text)} | {as_markdown(s.target)} | "
        f"{as_markdown(s.prediction)} |"
        for s in samples
    ]
    return "\n".join(["| text | target | prediction |", "| --- | --- | --- |", *rows])
