"""One self-contained HTML page from a template of `templates/`. Pure.

A page extends `page.html.j2`, which has the head and the styles, and fills the blocks
`title` and `content`. `macros.html.j2` has what pages share.
"""

import math
import pathlib
from collections.abc import Callable
from typing import Any

import jinja2

from trainer_module.scoring.texts import split_references

NONE = "–"

_TEMPLATES = pathlib.Path(__file__).parent / "templates"


def render(template: str, **values: Any) -> str:
    """The page. Text of the data is escaped, wherever it turns up.

    Args:
      template: file name in `templates/`.
      values: what it shows; a name that is missing there is an error.
    """
    page = environment().get_template(template).render(values)
    # Bytes that are not UTF-8 travel as lone surrogates, which no file takes.
    return page.encode("utf-8", "replace").decode("utf-8")


def environment(finalize: Callable[[Any], Any] | None = None) -> jinja2.Environment:
    """What knows the templates; `finalize` sees each value before it is escaped."""
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=finalize,
    )
    found.filters.update(number=number, count=count, change=change, signed=signed)
    found.filters["references"] = split_references
    return found


def number(value: float | None, digits: int = 4) -> str:
    if value is None or not math.isfinite(value):
        return NONE
    return f"{value:,.{digits}f}"


def count(value: int | None) -> str:
    return NONE if value is None else f"{value:,}"


def change(candidate: float | None, baseline: float | None) -> str:
    """The difference with its sign; without judgement, as not every metric rises."""
    if candidate is None or baseline is None:
        return NONE
    return signed(candidate - baseline)


def signed(value: float | None) -> str:
    if value is None or not math.isfinite(value):
        return NONE
    return f"{value:+.4f}".replace("-", "\N{MINUS SIGN}")
