"""From the user's files to examples and the account of every row. Pure.

Rows are passed on one by one, so that a file may be larger than the memory.
"""

import dataclasses
import heapq
import os
from typing import Protocol

from components.example_gen import (
    files,
    languages,
    normalisation,
    portions,
    reading,
    refusals,
)
from components.example_gen.account import Account, FileAccount, RejectedRow
from components.example_gen.examples import Example, Mapper, RowRejected
from components.example_gen.portions import Portion
from components.example_gen.settings import (
    LANGUAGE_SLICE,
    TEXT_LENGTH_SLICE,
    DataSettings,
)
from trainer_module.progress import DataRefused

SPLITS = ("train", "eval")


class Sink(Protocol):
    """Where rows go to."""

    def example(self, split: str, example: Example) -> None:
        """Takes the next example of a split, in the order of the files."""

    def rejected(self, row: RejectedRow) -> None:
        """Takes a row that cannot be used."""


@dataclasses.dataclass
class Ingested:
    """A sink in memory, for data that are small."""

    splits: dict[str, list[Example]] = dataclasses.field(
        default_factory=lambda: {split: [] for split in SPLITS}
    )
    rejected_rows: list[RejectedRow] = dataclasses.field(default_factory=list)
    account: Account = dataclasses.field(default_factory=lambda: Account([], {}))

    def example(self, split: str, example: Example) -> None:
        self.splits[split].append(example)

    def rejected(self, row: RejectedRow) -> None:
        self.rejected_rows.append(row)


def ingest(settings: DataSettings, task: str, into: Ingested | None = None) -> Ingested:
    """Reads the data files into memory, in one piece.

    Args:
      settings: the `data` section; `train` and `eval` are files.
      task: "classification" or "summarization".
      into: gets the rows, also those of data that are refused.

    Raises:
      DataRefused: if a file cannot be read, too many of its rows are rejected, or a
        split has no row.
    """
    check_files(settings)
    read = into or Ingested()
    reader = Reader(settings, task, read)
    read.account = Account(reader.files, dict.fromkeys(SPLITS, 0))
    try:
        for portion in portions.plan(settings):
            reader.read(portion)
    finally:
        read.account.splits = {s: len(rows) for s, rows in read.splits.items()}
    check_account(read.account, settings)
    return read


def check_files(settings: DataSettings) -> None:
    """Looks at the head of each file.

    Raises:
      DataRefused: if one cannot be read, lacks a column, or a slice that is made from
        the text in one file is a column of another, or cannot be made here.
    """
    derived = {
        path: settings.derived_slices(reading.check_columns(path, settings).columns)
        for path in (*settings.train, *(settings.eval or ()))
    }
    for name in sorted(frozenset().union(*derived.values())):
        other = next(path for path, made in derived.items() if name in made)
        there = [path for path, made in derived.items() if name not in made]
        if there:
            raise DataRefused(
                f"{there[0]} has a column {name!r} and {other} has not, so the slice "
                "would have two meanings. Rename the column, or add it everywhere."
            )
        if name == LANGUAGE_SLICE and not languages.is_installed():
            raise DataRefused(
                f"{other}: `data.slices` names {name!r}, which is no column here and "
                f"cannot be found from the text: {languages.NOT_INSTALLED}. Or take "
                "it out of `data.slices`; `[]` is allowed."
            )


def check_account(account: Account, settings: DataSettings) -> None:
    """Whether what was read will do.

    Raises:
      DataRefused: if too many rows of a file are rejected, or a split is empty.
      RuntimeError: if a row is unaccounted for.
    """
    refusals.refuse_many_rejected(account.files, settings.gate.max_rejected_share)
    refusals.refuse_empty_split(account, settings)
    account.check()


class Reader:
    """Reads files one after the other, and keeps the account of their rows.

    Args:
      settings: the `data` section.
      task: "classification" or "summarization".
      sink: gets the rows.

    Attributes:
      files: the account of each file, also of one that broke off.
    """

    def __init__(self, settings: DataSettings, task: str, sink: Sink):
        self._settings, self._task, self._sink = settings, task, sink
        self.files: list[FileAccount] = []

    def read(self, portion: Portion) -> None:
        """Reads the files of a portion.

        Raises:
          DataRefused: at a file, or a line of it, that cannot be read.
        """
        samples = {split: self._sample(split) for split in SPLITS}
        try:
            for path in portion.paths:
                self._read_file(path, portion.split, samples)
        finally:
            for sample in samples.values():
                sample.close()

    def _sample(self, split: str) -> "_Sample":
        key = f"max_{split}_examples"
        return _Sample(split, key, getattr(self._settings, key), self._sink)

    def _read_file(
        self, path: str, split: str | None, samples: dict[str, "_Sample"]
    ) -> None:
        before = _state(path)
        source = reading.check_columns(path, self._settings)
        file = FileAccount(
            path,
            source.format,
            *files.fingerprint(path),
            encoding=source.encoding,
            columns=source.types(),
        )
        self.files.append(file)
        derived = self._settings.derived_slices(source.columns)
        to_example = Mapper(
            self._settings,
            self._task,
            derive_length=TEXT_LENGTH_SLICE in derived,
            detect=languages.detector() if LANGUAGE_SLICE in derived else None,
        )
        for row in reading.read_rows(path, self._settings):
            file.rows_read += 1
            if row.lines > 1:
                file.count_lines(row.number, row.lines)
            try:
                example = to_example(row)
            except RowRejected as rejection:
                self._reject(file, row, str(rejection))
                continue
            file.characters_removed += to_example.removed
            key = to_example.split_key(example, row)
            into = split or self._split_of(key)
            samples[into].add(example, key, file)
        if _state(path) != before:
            raise files.refusal(
                path,
                "the file has changed while it was read",
                "Run again once it is written; a delivery is best written under "
                "another name and renamed.",
            )
        file.complete = True

    def _split_of(self, key: bytes) -> str:
        in_eval = normalisation.share_of(key) < self._settings.eval_share
        return "eval" if in_eval else "train"

    def _reject(self, file: FileAccount, row: reading.Row, reason: str) -> None:
        shown = row.raw or " | ".join(_first(value) for value in row.cells.values())
        # An excerpt first: a cell may be as long as the file.
        shown = normalisation.clean(normalisation.excerpt(shown))[0]
        rejected = RejectedRow(file.path, row.number, reason, shown)
        file.reject(rejected)
        self._sink.rejected(rejected)


class _Sample:
    """Keeps the examples with the smallest keys: few change when rows are added.

    Without a limit nothing waits.
    """

    def __init__(self, split: str, key: str, max_examples: int | None, sink: Sink):
        self._split, self._key, self._max_examples = split, key, max_examples
        self._sink = sink
        self._order = 0
        # (-key, -order, example, its file): the largest key first.
        self._kept: list[tuple[int, int, Example, FileAccount]] = []

    def add(self, example: Example, split_key: bytes, file: FileAccount) -> None:
        if self._max_examples is None:
            self._emit(example, file)
            return
        # Not the part that decides the split, or a larger eval split would take the
        # sampled train rows first.
        key = int.from_bytes(split_key[6:], "big")
        self._order += 1
        entry = (-key, -self._order, example, file)
        if len(self._kept) < self._max_examples:
            heapq.heappush(self._kept, entry)
        else:
            *_, left_out = heapq.heappushpop(self._kept, entry)
            left_out.leave_out(self._key)

    def close(self) -> None:
        """Passes on what was kept, in the order of the files."""
        for *_, example, file in sorted(self._kept, key=lambda entry: -entry[1]):
            self._emit(example, file)
        self._kept = []

    def _emit(self, example: Example, file: FileAccount) -> None:
        file.kept += 1
        self._sink.example(self._split, example)


def _state(path: str) -> tuple[int, int, int] | None:
    """What changes when somebody writes to a file, or puts another one in its place."""
    try:
        found = os.stat(path)
    except OSError:  # Whoever reads it says so.
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _first(cell: reading.Cell) -> str:
    return cell if isinstance(cell, str) else " ".join(cell or ())
