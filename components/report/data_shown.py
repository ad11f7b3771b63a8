"""The data of a run as its page shows it. Pure."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from components.report.pages import NONE

_PARTS_SHOWN = 4


def account_totals(account: Mapping[str, Any] | None) -> dict[str, int]:
    """Sums over the files, in reading order."""
    files = (account or {}).get("files", ())
    return {
        "read": sum(file["rows_read"] for file in files),
        "kept": sum(file["kept"] for file in files),
        "rejected": sum(sum(file["rejected"].values()) for file in files),
        "left out": sum(file.get("left_out", 0) for file in files),
    }


@dataclasses.dataclass(frozen=True)
class TextRow:
    """The texts of one split: numbers as in text_statistics.json, shares in words."""

    split: str
    which: str
    rows: int
    tokens: Mapping[str, float | None]
    truncated: str
    unknown: str
    copies: str
    languages: str
    scripts: str


def text_rows(statistics: Mapping[str, Any] | None) -> list[TextRow]:
    """One row for the source and one for the target, of each split."""
    return [
        TextRow(
            split,
            which,
            of_split["rows"],
            groups["tokens"],
            _percent(groups["truncated"]["share"]),
            _percent(groups["unknown"]["share"]),
            _percent(groups["duplicates"]["share"]) if "duplicates" in groups else NONE,
            _parts(groups["languages"]),
            _parts(groups["scripts"]),
        )
        for split, of_split in (statistics or {}).items()
        for which, groups in of_split.items()
        if which != "rows"
    ]


def _parts(group: Mapping[str, Any]) -> str:
    """The largest shares; where there are none, why."""
    if "why_none" in group:
        return str(group["why_none"])
    parts = [f"{name} {_percent(s)}" for name, s in group["shares"].items()]
    return ", ".join(parts[:_PARTS_SHOWN]) + (", …" if parts[_PARTS_SHOWN:] else "")


def _percent(share: float) -> str:
    return f"{share:.1%}"
