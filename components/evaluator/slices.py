"""Names of slices, and the order in which a person reads them. Pure."""

import re
from collections.abc import Iterable, Sequence

OVERALL = "Overall"
SEEN, UNSEEN = "seen", "unseen"
CROSS = " x "  # Between two columns whose values are crossed.


def name(key: Sequence[tuple[str, object]]) -> str:
    """(("language", "en"),) -> "language: en"; the empty key is all rows."""
    if not key:
        return OVERALL
    return ", ".join(f"{column}: {_text(value)}" for column, value in key)


def columns(key: Sequence[tuple[str, object]]) -> str:
    """(("channel", "app"), ("language", "en")) -> "channel x language"."""
    return CROSS.join(column for column, _ in key)


def seen_column(column: str) -> str:
    """The column that tells whether train has a row's value: `SEEN` or `UNSEEN`."""
    return f"{column}_seen"


def in_order(names: Iterable[str]) -> list[str]:
    """All rows first, then by column, and within one by the first number.

    So "up to 8 words" comes before "9 to 16 words", and "v2" before "v10".
    """
    return sorted(set(names), key=_sort_key)


def _sort_key(slice_name: str) -> tuple:
    column, _, value = slice_name.partition(": ")
    number = re.search(r"\d+", value)
    return (
        slice_name != OVERALL,
        column,
        int(number.group()) if number else -1,
        slice_name,
    )


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
