"""Markdown from a template of `templates/`. Pure.

Whatever a template shows is escaped unless it comes from `code_block`, as text of the
data turns up everywhere: a mark, a tag or a link in it is shown and does nothing.
"""

import re
import unicodedata
from typing import Any

from components.report import pages

# What means something anywhere in a line. An underscore within a word means nothing.
_MARKS = re.compile(r"[\\`*\[\]|~$@]|(?<![^\W_])_|_(?![^\W_])")
# What means something only where a line, or an item of a list, begins.
_OPENING = re.compile(r"^(?:[-+](?=[-+\s]|$)|[=#:]|\d+[.)](?=\s|$))")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
# Line and paragraph ends, control characters, and what turns the direction of a line.
_BREAKING = {"Cc", "Zl", "Zp"}
_TURNING = frozenset(
    "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u061c"
)
_MOST_CHARACTERS = 400


def render(template: str, **values: Any) -> str:
    """The text of a template, without empty lines in a row, ending with a line end.

    Args:
      template: file name in `templates/`.
      values: what it shows; a name that is missing there is an error.
    """
    environment = pages.environment(finalize=_finalized)
    written = environment.get_template(template).render(values)
    return re.sub(r"\n{3,}", "\n\n", written).strip("\n") + "\n"


class Shown(str):
    """Markdown, which a template takes as it is."""

    def __html__(self) -> str:
        return self


def _finalized(value: Any) -> Any:
    # A macro's output was escaped on its way in.
    return value if hasattr(value, "__html__") else Shown(text(value))


def plain(value: object) -> str:
    """The text in one line, of characters that a file of UTF-8 can hold."""
    shown = "".join(
        " " if unicodedata.category(c) in _BREAKING else c
        for c in str(value)
        if c not in _TURNING
    )
    line = " ".join(shown.encode("utf-8", "replace").decode("utf-8").split())
    if len(line) <= _MOST_CHARACTERS:
        return line
    return f"{line[: _MOST_CHARACTERS - 1]}…"


def text(value: object) -> str:
    """The text in one line, which Markdown shows as it is: no mark, tag or link."""
    shown = "".join(_ENTITIES.get(c, c) for c in plain(value))
    shown = _MARKS.sub(r"\\\g<0>", shown)
    shown = _OPENING.sub(_escaped_opening, shown)
    # What looks like an address becomes a link by itself.
    return re.sub(r"(?i)\b(www)\.", r"\1\\.", shown).replace("://", r":\//")


def _escaped_opening(found: re.Match[str]) -> str:
    return f"{found[0][:-1]}\\{found[0][-1]}"  # "-" is "\-", and "1." is "1\.".


def code_block(content: str, language: str = "") -> Shown:
    """A block of code that its content cannot end, whatever is in it."""
    runs = [len(run) for run in re.findall("`+", content)]
    fence = "`" * max([3, *(run + 1 for run in runs)])
    lines = content.encode("utf-8", "replace").decode("utf-8").strip("\n")
    return Shown(f"{fence}{language}\n{lines}\n{fence}\n")
