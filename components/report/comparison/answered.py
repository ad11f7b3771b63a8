"""The answers that a run's Evaluator has kept, read back. Pure."""

import dataclasses
import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from components.evaluator.gate import CANDIDATE
from components.evaluator.rows import Rows
from components.evaluator.scores.classification import Answers


class Unreadable(Exception):
    """A line of predictions.jsonl that is not one; the message says which and why."""


@dataclasses.dataclass(frozen=True)
class Answered:
    """The eval rows of a run, and what its model answered.

    Attributes:
      rows: in the order of the file.
      predictions: of each row.
      sure: the probability of each prediction; None of a model that writes.
    """

    rows: Rows
    predictions: list[str]
    sure: list[float] | None

    @property
    def answers(self) -> Answers:
        """With one score for each row, its highest: the others are not kept."""
        if self.sure is None:
            return Answers(self.predictions, [], np.zeros((len(self.predictions), 0)))
        return Answers(self.predictions, ["likeliest"], np.array(self.sure)[:, None])

    def of(self, numbers: list[int]) -> "Answered":
        """Some of the rows, by their numbers."""
        sure = None if self.sure is None else [self.sure[n] for n in numbers]
        predictions = [self.predictions[n] for n in numbers]
        return Answered(self.rows.of(numbers), predictions, sure)


def read(lines: Iterable[str]) -> Answered:
    """What `predictions.lines` of the Evaluator gave.

    Raises:
      Unreadable: if there is no line, or one is cut off, lacks a part or names a
        row again.
    """
    read_rows = [_row(number, line) for number, line in enumerate(lines, start=1)]
    if not read_rows:
        raise Unreadable("it has no line")
    seen: set[str] = set()
    for number, row in enumerate(read_rows, start=1):
        if row["example_id"] in seen:
            raise Unreadable(f"line {number}: the row {row['example_id']!r} again")
        seen.add(row["example_id"])
    names = sorted({name for row in read_rows for name in row["columns"]})
    rows = Rows(
        example_ids=[row["example_id"] for row in read_rows],
        sources=[row["source"] for row in read_rows],
        targets=[row["target"] for row in read_rows],
        columns={n: [row["columns"].get(n, "") for row in read_rows] for n in names},
    )
    sure = [row["sure"] for row in read_rows]
    known = bool(sure) and None not in sure
    return Answered(rows, [r["prediction"] for r in read_rows], sure if known else None)


def _row(number: int, line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"line {number}: it is no JSON, or cut off") from error
    texts = ("example_id", "source", "target")
    answer = _at(found, "answers", CANDIDATE)
    columns = _at(found, "columns")
    sure = _at(answer, "score")
    if not (
        all(isinstance(_at(found, key), str) for key in texts)
        and isinstance(columns, Mapping)
        and all(isinstance(value, str) for value in columns.values())
        and isinstance(_at(answer, "prediction"), str)
        and (sure is None or isinstance(sure, int | float))
    ):
        raise Unreadable(
            f"line {number}: it lacks a text, or the answer of the {CANDIDATE}"
        )
    if sure is not None and not 0 <= sure <= 1:  # NaN is neither.
        raise Unreadable(f"line {number}: its score is no probability: {sure}")
    kept = {key: found[key] for key in (*texts, "columns")}
    return {**kept, "prediction": answer["prediction"], "sure": sure}


def _at(value: Any, *keys: str) -> Any:
    """What lies below some keys; None if it is not there."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
