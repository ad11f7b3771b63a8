"""Rows of a data file, as the file has them: strings are never typed. Pure.

Imports neither TensorFlow nor TFX, and pyarrow only for Parquet: `check_columns` runs
before anything heavy is loaded.
"""

import collections
import dataclasses
import difflib
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from components.example_gen import (
    csv_records,
    encodings,
    files,
    json_records,
    parquet_records,
    text_files,
    tfrecord_records,
)
from components.example_gen.text_files import TextFile
from trainer_module.progress import DataRefused

if TYPE_CHECKING:  # pydantic alone takes a third of a second.
    from components.example_gen.settings import DataSettings

WRONG_NUMBER_OF_CELLS = "wrong number of cells"
NOT_TEXT = "neither text nor a list of texts"
HEADER_AGAIN = "the header again"

CSV, TSV = "CSV", "TSV"
JSON_LINES, JSON_ARRAY = "JSON Lines", "JSON array"
PARQUET, TFRECORD = "Parquet", "TFRecord"
RECORDED = (PARQUET, TFRECORD)  # Their rows are told of by record, not by line.
_RECORDS_OF_THE_HEADER = 100  # A JSON writer may leave out keys that have no value.

Cell = str | tuple[str, ...] | None


class Row(NamedTuple):
    """A row as the file has it.

    Attributes:
      number: 1-based line where the row starts; for Parquet and TFRecord, the 1-based
        record.
      cells: column -> a string, a tuple of strings, or None if there is no value; the
        columns that the settings name. Empty if there is a `problem`.
      problem: why the row has no cells.
      raw: what the row looks like, if there is a `problem`.
      lines: of the file that it takes, with line ends in its cells.
    """

    number: int
    cells: Mapping[str, Cell]
    problem: str | None = None
    raw: str = ""
    lines: int = 1


@dataclasses.dataclass(frozen=True)
class Source:
    """What a file is.

    Attributes:
      format: one of the formats above.
      columns: in the file's order.
      encoding: of a file of text, by Python's name; "utf-8" for the others.
      column_types: of a Parquet file, in the order of `columns`; others have none.
    """

    format: str
    columns: tuple[str, ...]
    encoding: str = encodings.UTF_8
    column_types: tuple[str, ...] = ()

    @property
    def unit(self) -> str:
        """What `Row.number` counts: "line" or "record"."""
        return "record" if self.format in RECORDED else "line"

    def types(self) -> dict[str, str]:
        """Column -> its type; "" where the format has no types."""
        types = self.column_types or ("",) * len(self.columns)
        # A key of JSON may hold half a surrogate pair, which no file can.
        names = (n.encode("utf-8", "replace").decode() for n in self.columns)
        return dict(zip(names, types, strict=True))


def check_columns(path: str, settings: "DataSettings") -> Source:
    """Refuses a file that cannot be read or lacks a column; reads its head only.

    A file of text is read to its end if `data.encoding` is not UTF-8, for one that is
    UTF-8 throughout is read as that.

    Raises:
      DataRefused: naming file, line, what was found and the way out.
    """
    return _opened(path, settings)[0]


def read_rows(path: str, settings: "DataSettings") -> Iterator[Row]:
    """Yields every row; blank lines are none.

    Raises:
      DataRefused: as `check_columns`, and at the line where the file breaks its format.
    """
    source, text = _opened(path, settings)
    wanted = {*wanted_columns(settings), *settings.slices}
    if text is not None and source.format in (CSV, TSV):
        return _csv_rows(text, settings, wanted)
    if text is not None:
        return _rows(json_records.read(text), wanted)
    records = tfrecord_records if source.format == TFRECORD else parquet_records
    return _rows(records.read(path, wanted), wanted)


def _opened(path: str, settings: "DataSettings") -> tuple[Source, TextFile | None]:
    """What the file is, and its text if it is of text."""
    text = None
    head = files.check_is_data(path)
    if parquet_records.is_parquet(path, head):
        source = _parquet(path)
    elif tfrecord_records.is_tfrecord(path, head):
        names = _keys(path, tfrecord_records.read(path), settings)
        source = Source(TFRECORD, names)
    else:
        text = text_files.opened(path, head, settings.encoding)
        is_json = json_records.is_json(text)
        source = _json(text, settings) if is_json else _csv(text, settings)
    _refuse_doubled_columns(path, source)
    _refuse_missing_columns(path, source, settings)
    return source, text


def _parquet(path: str) -> Source:
    columns = parquet_records.columns(path)
    if columns is None:
        raise _no_rows(path)
    return Source(
        PARQUET, tuple(n for n, _ in columns), column_types=tuple(t for _, t in columns)
    )


def _json(text: TextFile, settings: "DataSettings") -> Source:
    kind = JSON_ARRAY if json_records.is_array(text) else JSON_LINES
    names = _keys(text.path, json_records.read(text), settings)
    return Source(kind, names, text.encoding)


def _csv(text: TextFile, settings: "DataSettings") -> Source:
    table = _table(text, settings)
    if next(table.records(), None) is None:
        raise _no_rows(text.path)
    kind = TSV if table.delimiter == "\t" else CSV
    return Source(kind, tuple(table.header), text.encoding)


def _keys(
    path: str,
    records: Iterator[tuple[int, Mapping[str, Any]]],
    settings: "DataSettings",
) -> tuple[str, ...]:
    """All names that the first records have, and more until no column is missing."""
    head = list(itertools.islice(records, _RECORDS_OF_THE_HEADER))
    if not head:
        raise _no_rows(path)
    names = dict.fromkeys(key for _, record in head for key in record)
    missing = {*wanted_columns(settings), *_may_be_columns(settings)} - names.keys()
    while missing and (found := next(records, None)):
        names.update(dict.fromkeys(found[1]))
        missing -= found[1].keys()
    return tuple(names)


# Columns


def wanted_columns(settings: "DataSettings") -> dict[str, str]:
    """Returns {column: the key that names it}, without those that can be derived."""
    # Here, where whoever made the settings has paid for pydantic.
    from components.example_gen.settings import DERIVED_SLICES

    keys = {settings.text: "data.text", settings.target: "data.target"}
    if settings.id is not None:
        keys.setdefault(settings.id, "data.id")
    if settings.split_by is not None:
        keys.setdefault(settings.split_by, "data.split_by")
    for column in settings.slices:
        if column not in DERIVED_SLICES:
            keys.setdefault(column, "data.slices")
    return keys


def _may_be_columns(settings: "DataSettings") -> set[str]:
    """Slices that are sought to the end of a JSON file before they are derived.

    To find the language of each text takes far longer; to count its words does not.
    """
    from components.example_gen.settings import LANGUAGE_SLICE

    return {LANGUAGE_SLICE}.intersection(settings.slices)


_WAY_OUT_OF_A_COLUMN = {
    "data.split_by": " Without it the text decides: `--set data.split_by=null`.",
    "data.id": " It may be left out: `--set data.id=null`.",
    "data.slices": " Take it out of `data.slices`; `[]` is allowed.",
}


def _refuse_doubled_columns(path: str, source: Source) -> None:
    counts = collections.Counter(c for c in source.columns if c)
    doubled = sorted(c for c, n in counts.items() if n > 1)
    if doubled:
        raise files.refusal(
            path,
            f"columns {doubled} are there more than once",
            "Rename or remove the copies.",
        )


def _refuse_missing_columns(
    path: str, source: Source, settings: "DataSettings"
) -> None:
    findings = []
    for column, key in wanted_columns(settings).items():
        if column in source.columns:
            continue
        near = _nearest(column, source.columns)
        guess = f"; did you mean {near!r}?" if near else "."
        finding = f"{path}: `{key}` names the column {column!r}, which is not there"
        way_out = _WAY_OUT_OF_A_COLUMN.get(key, "")
        findings.append(f"{finding}{guess}{way_out}")
    if not findings:
        return
    findings[-1] += f" The columns are {list(source.columns)} ({source.format})."
    if source.format in (CSV, TSV) and len(source.columns) == 1:
        findings[-1] += " If these are several columns, set `data.delimiter`."
    raise DataRefused(*findings)


def _nearest(name: str, names: Sequence[str]) -> str | None:
    by_lowered = {n.casefold(): n for n in names}
    near = difflib.get_close_matches(name.casefold(), by_lowered, n=1, cutoff=0.6)
    return by_lowered[near[0]] if near else None


def _no_rows(path: str) -> DataRefused:
    return files.refusal(
        path, "there is a header and no row (0 rows)", "Check the export."
    )


# Rows


def _table(text: TextFile, settings: "DataSettings") -> csv_records.Table:
    return csv_records.Table(
        text, delimiter=settings.delimiter, wanted=wanted_columns(settings)
    )


def _csv_rows(
    text: TextFile, settings: "DataSettings", wanted: Collection[str]
) -> Iterator[Row]:
    table = _table(text, settings)
    width = len(table.header)
    places = [(name, i) for i, name in enumerate(table.header) if name in wanted]
    for number, cells, line in table.records():
        lines = table.next_number - number
        if len(cells) != width:
            yield Row(number, {}, WRONG_NUMBER_OF_CELLS, line.strip(), lines)
        elif _is_header(cells, table.header):
            yield Row(number, {}, HEADER_AGAIN, line.strip(), lines)
        else:
            yield Row(number, {name: cells[i] for name, i in places}, lines=lines)


def _is_header(cells: Sequence[str], header: Sequence[str]) -> bool:
    """Whether files were joined with their headers, and their byte-order marks."""
    if cells[-1].strip() != header[-1]:
        return False
    return [cell.strip("\ufeff ") for cell in cells] == list(header)


def _rows(
    records: Iterator[tuple[int, Mapping[str, Any]]], wanted: Collection[str]
) -> Iterator[Row]:
    for number, record in records:
        yield _row(number, {k: v for k, v in record.items() if k in wanted})


# Values of JSON, Parquet and TFRecord


def _row(number: int, record: Mapping[str, Any]) -> Row:
    try:
        return Row(number, {k: _plain(v) for k, v in record.items()})
    except TypeError:
        return Row(number, {}, NOT_TEXT, str(dict(record)))


def _plain(value: Any) -> Cell:
    """Raises TypeError for what is neither a text nor a list of texts."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bytes):
        return _decoded(value)
    if isinstance(value, list):
        return tuple(_text(_plain(v)) for v in value)
    if isinstance(value, dict | tuple):  # A struct, or an entry of a map.
        raise TypeError
    return None if value != value else str(value)  # NaN stands for no value.


def _text(part: Cell) -> str:
    if isinstance(part, str):
        return part
    raise TypeError


def _decoded(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        raise TypeError from None
