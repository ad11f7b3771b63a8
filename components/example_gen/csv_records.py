"""Records of a CSV file, in csv's strict mode: rows are never merged silently. Pure."""

import csv
import dataclasses
import sys
from collections.abc import Collection, Iterator

from components.example_gen import files
from trainer_module.progress import DataRefused

_DELIMITERS = (",", ";", "\t", "|")


@dataclasses.dataclass(frozen=True)
class Record:
    """Cells of a row; the header's are names. `first_line` is the row's, unparsed."""

    cells: list[str]
    first_line: str
    delimiter: str


class _Tape:
    """Passes lines on to csv.reader, and remembers where a record began.

    csv.reader takes the lines of one record, and no more, at a time.
    """

    def __init__(self, lines: Iterator[str]):
        self._lines = lines
        self.first_line, self.first_number, self.last_number = "", 0, 0

    def start_record(self) -> None:
        self.first_line = ""

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            self.last_number += 1
            if not self.first_line:
                self.first_line, self.first_number = line, self.last_number
            yield line


def read(
    path: str, *, delimiter: str, wanted: Collection[str]
) -> Iterator[tuple[int, Record]]:
    """Yields (line where it starts, record); the header, cleaned, comes first.

    Args:
      path: a file of text, plain or gzip'ed.
      delimiter: one character, or "auto" to find it by the header.
      wanted: column names that help to find it.

    Raises:
      DataRefused: naming the line where a quote does not close or closes too early.
    """
    csv.field_size_limit(sys.maxsize)  # The default refuses an article of 131,073.
    first, lines = files.first_text_line(path)
    if delimiter == "auto":
        delimiter = _detect_delimiter(first, frozenset(wanted))
    # A header like `text, label` is padded, and so may be the rows' quoted cells.
    padded = f"{delimiter} " in first
    tape = _Tape(lines)
    reader = csv.reader(tape, delimiter=delimiter, strict=True, skipinitialspace=padded)
    is_header = True
    while True:
        tape.start_record()
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise _broken_quote(path, tape, str(error)) from None
        if not any(c.strip() for c in cells) and len(cells) < 2:
            continue  # A blank line.
        files.refuse_conflict(path, tape.first_line, tape.first_number)
        if is_header:
            cells, is_header = [c.strip() for c in cells], False
        yield tape.first_number, Record(cells, tape.first_line, delimiter)


def _detect_delimiter(header: str, wanted: frozenset[str]) -> str:
    """The one that gives most of the wanted columns, or else the most columns."""
    names = {d: _header_names(header, d) for d in _DELIMITERS}
    # `max` keeps the first of equals, so a comma wins a draw.
    return max(_DELIMITERS, key=lambda d: (len(wanted & set(names[d])), len(names[d])))


def _header_names(header: str, delimiter: str) -> list[str]:
    reader = csv.reader([header], delimiter=delimiter, skipinitialspace=True)
    return [name.strip() for name in next(reader)]


def _broken_quote(path: str, tape: _Tape, error: str) -> DataRefused:
    if "unexpected end" in error:
        return files.refusal(
            path,
            'a quote (") opens a cell in the row that starts here and never closes',
            "Close it, or write the whole cell in quotes and the sign twice: "
            '"5"" screen".',
            line=tape.first_number,
        )
    row = ""
    if tape.first_number < tape.last_number:
        row = f" of the row that starts at line {tape.first_number}"
    return files.refusal(
        path,
        f'text follows the closing quote (") of a cell{row}',
        'Inside a quoted cell a quote is written twice ("5"" screen"); a backslash '
        "does not do.",
        line=tape.last_number,
    )
