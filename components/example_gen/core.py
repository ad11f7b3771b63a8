"""From the user's rows to examples of the feature contract. Pure: no TensorFlow."""

import dataclasses
import hashlib
import heapq
import math
from collections.abc import Callable, Iterator, Sequence

from components.example_gen import files, normalisation, reading
from components.example_gen.account import Account, FileAccount, RejectedRow
from components.example_gen.settings import TEXT_LENGTH_SLICE, DataSettings
from trainer_module import features
from trainer_module.features import REFERENCE_SEPARATOR
from trainer_module.progress import DataRefused

SPLITS = ("train", "eval")

EMPTY_TEXT = "empty text"
EMPTY_TARGET = "empty target"
NEWLINE_IN_LABEL = "newline in the label"
SEVERAL_LABELS = "more than one label"
REASONS = (
    reading.WRONG_NUMBER_OF_CELLS,
    reading.NOT_TEXT,
    EMPTY_TEXT,
    EMPTY_TARGET,
    NEWLINE_IN_LABEL,
    SEVERAL_LABELS,
)

_LINES_SHOWN = 5


@dataclasses.dataclass(frozen=True)
class Example:
    """One row under the feature contract."""

    text: str
    target: str
    example_id: str
    slices: dict[str, str]

    def features(self) -> dict[str, bytes]:
        values = {
            features.TEXT: self.text,
            features.TARGET: self.target,
            features.EXAMPLE_ID: self.example_id,
            **self.slices,
        }
        return {name: value.encode("utf-8") for name, value in values.items()}


@dataclasses.dataclass(frozen=True)
class Ingested:
    """Examples of each split in the files' order, and what became of every row."""

    splits: dict[str, list[Example]]
    account: Account


@dataclasses.dataclass(frozen=True)
class _Candidate:
    """A good row, before the limits on the number of examples."""

    example: Example
    key: bytes
    file: FileAccount


class RowRejected(Exception):
    """The row cannot be used, for one of `REASONS`."""


def ingest(
    settings: DataSettings,
    task: str,
    *,
    keep_rejected: Callable[[Sequence[RejectedRow]], None] = lambda rows: None,
) -> Ingested:
    """Reads the data files into a train and an eval split.

    Args:
      settings: the `data` section; `train` and `eval` are files.
      task: "classification" or "summarization".
      keep_rejected: is given all rejected rows, also if they are too many to go on.

    Raises:
      DataRefused: if a file cannot be read, too many of its rows are rejected, or a
        split has no row.
    """
    reader = _Reader(settings, task)
    candidates: dict[str, list[_Candidate]] = {split: [] for split in SPLITS}
    _refuse_half_derived(settings)
    if settings.eval is None:
        for candidate in reader.read(settings.train):
            in_eval = normalisation.share_of(candidate.key) < settings.eval_share
            candidates["eval" if in_eval else "train"].append(candidate)
    else:
        candidates["train"].extend(reader.read(settings.train))
        candidates["eval"].extend(reader.read(settings.eval))
    keep_rejected(reader.rejected)
    for file in reader.files:
        _refuse_many_rejected(file, reader.rejected, settings.gate.max_rejected_share)
    _refuse_empty_split(candidates, settings)
    splits = {
        "train": _limit(candidates["train"], settings.max_train_examples, "train"),
        "eval": _limit(candidates["eval"], settings.max_eval_examples, "eval"),
    }
    account = Account(reader.files, {name: len(rows) for name, rows in splits.items()})
    account.check()
    return Ingested(splits, account)


class _Reader:
    """Reads files one after the other, and keeps the account of their rows."""

    def __init__(self, settings: DataSettings, task: str):
        self._settings, self._task = settings, task
        self.files: list[FileAccount] = []
        self.rejected: list[RejectedRow] = []

    def read(self, paths: Sequence[str]) -> Iterator[_Candidate]:
        """Yields the good rows of files that go into one split, or into both."""
        unique = UniqueNames()
        for path in paths:
            yield from self._read_file(path, unique)

    def _read_file(self, path: str, unique: "UniqueNames") -> Iterator[_Candidate]:
        source = reading.check_columns(path, self._settings)
        derive_length = _derives_length(source, self._settings)
        file = FileAccount(path, source.format, *files.fingerprint(path))
        self.files.append(file)
        for row in reading.read_rows(path, self._settings):
            file.rows_read += 1
            cleaner = _Cleaner()
            try:
                example = to_example(
                    row,
                    self._settings,
                    self._task,
                    derive_length=derive_length,
                    cleaner=cleaner,
                )
            except RowRejected as rejection:
                self._reject(file, row, str(rejection))
                continue
            file.characters_removed += cleaner.removed
            name = unique.name(example.example_id)
            example = dataclasses.replace(example, example_id=name)
            yield _Candidate(example, normalisation.text_key(example.text), file)

    def _reject(self, file: FileAccount, row: reading.Row, reason: str) -> None:
        shown = row.raw or " | ".join(_first(value) for value in row.cells.values())
        shown = normalisation.excerpt(normalisation.clean(shown)[0])
        rejected = RejectedRow(file.path, row.number, reason, shown)
        file.reject(rejected)
        self.rejected.append(rejected)


class _Cleaner:
    """Cleans cells, and counts what it removes."""

    def __init__(self) -> None:
        self.removed = 0

    def texts(self, cell: reading.Cell) -> list[str]:
        """The texts of a cell that are not empty."""
        values = (cell,) if isinstance(cell, str) else cell or ()
        found = []
        for value in values:
            text, removed = normalisation.clean(value)
            self.removed += removed
            if text:
                found.append(text)
        return found


class UniqueNames:
    """Gives each example its own name: the second "7" is "7#2"."""

    def __init__(self) -> None:
        self._given: set[str] = set()
        self._copies: dict[str, int] = {}

    def name(self, wanted: str) -> str:
        name, copy = wanted, self._copies.get(wanted, 1)
        while name in self._given:  # A row may itself be called "7#2".
            copy += 1
            name = f"{wanted}#{copy}"
        self._copies[wanted] = copy
        self._given.add(name)
        return name


def to_example(
    row: reading.Row,
    settings: DataSettings,
    task: str,
    *,
    derive_length: bool = False,
    cleaner: _Cleaner | None = None,
) -> Example:
    """Maps the columns of a row to the feature contract.

    Args:
      row: as read.
      settings: which column is what.
      task: "classification" or "summarization".
      derive_length: make the slice `TEXT_LENGTH_SLICE` from the text.
      cleaner: counts the characters that are removed.

    Raises:
      RowRejected: with one of `REASONS`.
    """
    if row.problem:
        raise RowRejected(row.problem)
    cleaner = cleaner or _Cleaner()
    text = settings.list_separator.join(cleaner.texts(row.cells.get(settings.text)))
    if not text.strip():
        raise RowRejected(EMPTY_TEXT)
    target = _target(cleaner.texts(row.cells.get(settings.target)), task)
    slices = {
        name: " ".join(" ".join(cleaner.texts(row.cells.get(name))).split())
        for name in settings.slices
    }
    if derive_length:
        band = normalisation.length_band(text, settings.length_bands_words)
        slices[TEXT_LENGTH_SLICE] = band
    named = cleaner.texts(row.cells.get(settings.id)) if settings.id else []
    return Example(text, target, " ".join(named) or _stable_id(text, target), slices)


def _target(texts: Sequence[str], task: str) -> str:
    if not texts:
        raise RowRejected(EMPTY_TARGET)
    if task == "classification":
        if len(texts) > 1:
            raise RowRejected(SEVERAL_LABELS)
        # The names of the labels are kept in a file with one on each line.
        if "\n" in texts[0]:
            raise RowRejected(NEWLINE_IN_LABEL)
    return REFERENCE_SEPARATOR.join(texts)


def _stable_id(text: str, target: str) -> str:
    # \x1e is in no text, so no two pairs join to the same string.
    return hashlib.sha256(f"{text}\x1e{target}".encode()).hexdigest()[:16]


def _first(cell: reading.Cell) -> str:
    return cell if isinstance(cell, str) else " ".join(cell or ())


def _derives_length(source: reading.Source, settings: DataSettings) -> bool:
    listed = TEXT_LENGTH_SLICE in settings.slices
    return listed and TEXT_LENGTH_SLICE not in source.columns


def _limit(
    candidates: Sequence[_Candidate], max_examples: int | None, split: str
) -> list[Example]:
    """Keeps the smallest keys, in the file's order: few change when rows are added."""
    numbers = range(len(candidates))
    if max_examples is None:
        max_examples = len(candidates)
    chosen = set(
        heapq.nsmallest(max_examples, numbers, lambda i: _sample_key(candidates[i]))
    )
    kept = []
    for number, candidate in enumerate(candidates):
        if number in chosen:
            candidate.file.kept += 1
            kept.append(candidate.example)
        else:
            candidate.file.leave_out(f"max_{split}_examples")
    return kept


def _sample_key(candidate: _Candidate) -> bytes:
    # Not the part that decides the split, or a larger eval split would take the
    # sampled train rows first.
    return candidate.key[6:]


# Refusals


def _refuse_half_derived(settings: DataSettings) -> None:
    if TEXT_LENGTH_SLICE not in settings.slices:
        return
    paths = (*settings.train, *(settings.eval or ()))
    derived = [
        _derives_length(reading.check_columns(p, settings), settings) for p in paths
    ]
    if len(set(derived)) > 1:
        there, other = paths[derived.index(False)], paths[derived.index(True)]
        raise DataRefused(
            f"{there} has a column {TEXT_LENGTH_SLICE!r} and {other} has not, so the "
            "slice would have two meanings. Rename the column, or add it everywhere."
        )


def _refuse_many_rejected(
    file: FileAccount, rejected: Sequence[RejectedRow], max_share: float
) -> None:
    if file.rejected_share <= max_share:
        return
    lines: dict[str, list[RejectedRow]] = {}
    for row in rejected:
        if row.file == file.path:
            lines.setdefault(row.reason, []).append(row)
    unit = "record" if file.format == reading.PARQUET else "line"
    reasons = "; ".join(_reason(name, rows, unit) for name, rows in lines.items())
    # Rounded up, so that the value that is offered does allow it.
    enough = math.ceil(file.rejected_share * 1000) / 1000
    raise DataRefused(
        f"{file.path}: {file.rejected_rows} of {file.rows_read} rows "
        f"({file.rejected_share:.1%}) cannot be used, and "
        f"`data.gate.max_rejected_share` allows {max_share:.1%}: {reasons}. Correct "
        "the rows, or go on without them: "
        f"`--set data.gate.max_rejected_share={enough}`."
    )


def _reason(reason: str, rows: Sequence[RejectedRow], unit: str) -> str:
    numbers = ", ".join(str(row.line) for row in rows[:_LINES_SHOWN])
    if len(rows) > 1:
        unit += "s"
    if len(rows) > _LINES_SHOWN:
        numbers += ", ..."
    return f"{len(rows)} x {reason} ({unit} {numbers}, like {rows[0].excerpt!r})"


def _refuse_empty_split(
    candidates: dict[str, list[_Candidate]], settings: DataSettings
) -> None:
    for split in SPLITS:
        if candidates[split]:
            continue
        if settings.eval is not None:
            paths = settings.train if split == "train" else settings.eval
            raise DataRefused(
                f"{', '.join(paths)}: no row can be used, so the {split} split is "
                "empty (0 rows). Name a file with rows that have both a text and a "
                "target."
            )
        rows = sum(len(found) for found in candidates.values())
        raise DataRefused(
            f"{', '.join(settings.train)}: the {split} split is empty (0 of {rows} "
            f"rows): `data.eval_share` = {settings.eval_share} puts each text into one "
            "split "
            "by its hash. Add rows, change `data.eval_share`, or name a file as "
            "`data.eval`."
        )
