"""What the terminal shows of a root's runs, and of two that are compared. Pure."""

import os
import re
from collections.abc import Iterator, Sequence

from components.evaluator import slices
from components.evaluator.gate import CANDIDATE
from components.report.comparison import conclusions, page
from components.report.comparison.core import Comparison, Row
from components.report.comparison.pairing import A, B
from components.report.pages import NONE, number
from pipeline import compared_runs, trainings
from pipeline.run_record import Record
from trainer_module.settings import METRICS

_COLUMNS = ("run", "job", "outcome", "metric", "version", "seconds")
_PART_OF_ROUGE = re.compile("rouge.*_(precision|recall)")  # For the page alone.
_TO_THE_RIGHT = ("version", "seconds")


def run_table(runs_dir: str, most: int | None = None) -> Iterator[str]:
    """Yields a line for each run below a folder, newest first, after the headings.

    Args:
      most: how many runs; None for all.
    """
    ids = trainings.newest_first(runs_dir)
    folders = [os.path.join(runs_dir, run_id) for run_id in ids[:most]]
    records = {folder: compared_runs.listed(folder) for folder in folders}
    rows = [_cells(folder, record) for folder, record in records.items()]
    yield from in_columns([_COLUMNS, *rows], to_the_right=_TO_THE_RIGHT)
    for folder, record in records.items():
        if record is None:
            why = compared_runs.why_no_record(folder)
            yield f"{os.path.basename(folder)} {why}."
    if len(ids) > len(folders):
        yield f"{len(ids) - len(folders):,} older runs are not shown."


def _cells(folder: str, record: Record | None) -> tuple[str, ...]:
    run_id = os.path.basename(folder)
    if record is None:
        ended = compared_runs.has_ended(folder)
        return (run_id, NONE, "damaged" if ended else "not ended", *[NONE] * 3)
    version, seconds = page.version(record), record.get("seconds")
    return (
        run_id,
        record.get("name") or NONE,
        page.outcome(record),
        _main_score(record),
        NONE if version is None else str(version),
        NONE if seconds is None else f"{seconds:,.0f}",
    )


def _main_score(record: Record) -> str:
    """Such as "accuracy 0.9406", of all eval rows."""
    for metric in METRICS.get(record["config"].get("task"), ())[:1]:
        for score in (record["evaluation"] or {}).get("metrics", ()):
            of = score["metric"], score["slice"], score["model"]
            if of == (metric, slices.OVERALL, CANDIDATE):
                return f"{metric} {number(score['value'])}"
    return NONE


def comparison_lines(found: Comparison) -> Iterator[str]:
    """Yields the verdict, its reasons, and the main metrics of all eval rows."""
    verdict = conclusions.verdict(found)
    yield f"A: run {found.a.run_id}"
    yield f"B: run {found.b.run_id}"
    yield ""
    yield verdict.sentence
    yield from (f"  - {reason}" for reason in verdict.reasons)
    yield ""
    rows = [row for row in found.overall if not _PART_OF_ROUGE.fullmatch(row.name)]
    of_both = ("metric", "A", "B")
    if found.why_not_paired:
        lines = [(row.name, *_values(row)) for row in rows]
        yield from in_columns([of_both, *lines], to_the_right=of_both[1:])
        return
    differences = [
        (
            row.name,
            *_values(row),
            conclusions.interval(row.difference, sign=True),
            f"{row.better} is better" if row.better else "",
        )
        for row in rows
    ]
    headings = (*of_both, "B minus A", "")
    yield from in_columns([headings, *differences], to_the_right=of_both[1:])


def _values(row: Row) -> list[str]:
    return [number(row.scores.get(side, {}).get("value")) for side in (A, B)]


def in_columns(
    rows: Sequence[Sequence[str]], *, to_the_right: Sequence[str] = ()
) -> Iterator[str]:
    """Yields the rows with their cells below one another.

    Args:
      rows: the headings first.
      to_the_right: the headings of the columns that are set to the right.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    right = [heading in to_the_right for heading in rows[0]]
    for row in rows:
        cells = [
            cell.rjust(width) if is_right else cell.ljust(width)
            for cell, width, is_right in zip(row, widths, right, strict=True)
        ]
        yield "  ".join(cells).rstrip()
