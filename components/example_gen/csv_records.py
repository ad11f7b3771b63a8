"""Records of a CSV file, in csv's strict mode: rows are never merged silently. Pure."""

import csv
import itertools
import sys
from collections.abc import Collection, Iterator

from components.example_gen import files
from components.example_gen.text_files import TextFile
from trainer_module.progress import DataRefused

_MAX_HEADER_LINES = 20  # A quoted name may have some.
_DELIMITERS = (",", ";", "\t", "|")


class Table:
    """The records of a CSV file, of which the header has been read.

    Attributes:
      header: names of the columns, stripped.
      delimiter: one character.
      next_number: of the line after the last record.
    """

    def __init__(self, text: TextFile, *, delimiter: str, wanted: Collection[str]):
        """Finds the header.

        Args:
          text: the file.
          delimiter: one character, or "auto" to find it by the header.
          wanted: column names that help to find it.

        Raises:
          DataRefused: as `records`.
        """
        csv.field_size_limit(sys.maxsize)  # The default refuses one of 131,073.
        first = text.first_lines(_MAX_HEADER_LINES)
        if delimiter == "auto":
            delimiter = _detect_delimiter(first, frozenset(wanted))
        self._text, self.delimiter = text, delimiter
        self._is_padded = _is_padded(first, delimiter)
        self._lines = itertools.chain.from_iterable(text.blocks())
        self.next_number = 1
        self.header: list[str] = []
        for _, cells, _ in self.records():
            self.header = [cell.strip() for cell in cells]
            return
        raise files.nothing(text.path)

    def records(self) -> Iterator[tuple[int, list[str], str]]:
        """Yields (line where it starts, cells, that line); blank lines are none.

        A line without a quote is a record, which `split` takes apart several times
        faster than csv.reader does.

        Raises:
          DataRefused: naming the line where a quote does not close or closes too early.
        """
        width, delimiter = len(self.header) or None, self.delimiter
        pushed: list[str] = []
        reader = csv.reader(
            self._lines_after(pushed),
            delimiter=delimiter,
            strict=True,
            skipinitialspace=self._is_padded,
        )
        read_before = 0
        for line in self._lines:
            number = self.next_number
            if '"' in line or self._is_padded:
                pushed.append(line)
                try:
                    cells = next(reader)
                except csv.Error as error:
                    last = number + reader.line_num - read_before - 1
                    raise self._broken_quote(str(error), number, last) from None
                self.next_number = number + reader.line_num - read_before
                read_before = reader.line_num
            else:
                cells = line.rstrip("\r\n").split(delimiter)
                self.next_number = number + 1
            if len(cells) != width:
                if len(cells) < 2 and not any(cell.strip() for cell in cells):
                    continue  # A blank line.
                is_odd = width is not None
                self._text.refuse_conflict(line, number, anywhere=is_odd)
            elif line[0] == "<":
                self._text.refuse_conflict(line, number, anywhere=False)
            yield number, cells, line

    def _lines_after(self, pushed: list[str]) -> Iterator[str]:
        """The lines of one record after the other, of which the first is `pushed`.

        csv.reader takes the lines of one record, and no more, at a time.
        """
        while True:
            line = pushed.pop() if pushed else next(self._lines, None)
            if line is None:
                return
            yield line

    def _broken_quote(self, error: str, first: int, last: int) -> DataRefused:
        if "unexpected end" in error:
            return files.refusal(
                self._text.path,
                'a quote (") opens a cell in the row that starts here and never closes',
                "Close it, or write the whole cell in quotes and the sign twice: "
                '"5"" screen".',
                line=first,
            )
        row = f" of the row that starts at line {first}" if first < last else ""
        return files.refusal(
            self._text.path,
            f'text follows the closing quote (") of a cell{row}',
            'Inside a quoted cell a quote is written twice ("5"" screen"); a backslash '
            "does not do.",
            line=last,
        )


def _detect_delimiter(header: list[str], wanted: frozenset[str]) -> str:
    """The one that gives most of the wanted columns, or else the most columns."""
    names = {d: {n.strip() for n in _header_cells(header, d)} for d in _DELIMITERS}
    # `max` keeps the first of equals, so a comma wins a draw.
    return max(_DELIMITERS, key=lambda d: (len(wanted & names[d]), len(names[d])))


def _is_padded(header: list[str], delimiter: str) -> bool:
    """Whether names are like in `text, label`: the rows' quoted cells may be so too."""
    cells = _header_cells(header, delimiter, skip=False)
    return any(cell.startswith(" ") for cell in cells[1:])


def _header_cells(lines: list[str], delimiter: str, *, skip: bool = True) -> list[str]:
    return next(csv.reader(lines, delimiter=delimiter, skipinitialspace=skip))
