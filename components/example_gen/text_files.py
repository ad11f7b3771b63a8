"""A data file as lines of text. Pure."""

import contextlib
import dataclasses
import io
from collections.abc import Iterator

from components.example_gen import encodings, files

_BLOCK_CHARACTERS = 1 << 16
_MAX_LINE_CHARACTERS = 1 << 20  # What is looked at to tell formats apart.
_BYTE_ORDER_MARK = "\ufeff"
_REMOVE_NUL = "tr -d '\\000'"
_CONFLICT_BEGIN = "<<<<<<< "
_CONFLICT_REST = ("=======", ">>>>>>> ", "||||||| ")


@dataclasses.dataclass(frozen=True)
class TextFile:
    """A file, plain or gzip'ed, and the encoding that it is read in.

    All that reads raises DataRefused: at a byte that is not of the encoding, and at a
    NUL.
    """

    path: str
    encoding: str = encodings.UTF_8

    def blocks(self) -> Iterator[list[str]]:
        """Yields physical lines, many at a time, with their ends: LF, CRLF or CR.

        Whatever reads a large file goes through this, so the work is done in blocks.
        """
        number = 1
        with self._opened() as text:
            while block := text.readlines(_BLOCK_CHARACTERS):
                if number == 1:
                    block[0] = block[0].lstrip(_BYTE_ORDER_MARK)
                self._refuse_nul("".join(block), number)
                yield block
                number += len(block)

    def lines(self) -> Iterator[str]:
        for block in self.blocks():
            yield from block

    def whole(self, max_characters: int) -> str | None:
        """All of the text, or None if there is more of it."""
        parts, size = [], 0
        with self._opened() as text:
            while part := text.read(_BLOCK_CHARACTERS):
                parts.append(part)
                size += len(part)
                if size > max_characters:
                    return None
        content = "".join(parts).lstrip(_BYTE_ORDER_MARK)
        self._refuse_nul(content, 1)
        return content

    def first_line(self) -> str:
        """The first line that is not blank; the beginning of it, if it is very long."""
        return self.first_lines(1)[0]

    def first_lines(self, count: int) -> list[str]:
        """That line, and as many after it as there are, `count` in all."""
        found: list[str] = []
        number = 1
        with self._opened() as text:
            while len(found) < count and (line := text.readline(_MAX_LINE_CHARACTERS)):
                line = line.lstrip(_BYTE_ORDER_MARK)
                self._refuse_nul(line, number)
                number += 1
                if found or line.strip():
                    found.append(line)
        if not found:
            raise files.nothing(self.path)
        return found

    def refuse_conflict(self, line: str, number: int, *, anywhere: bool = True) -> None:
        """Refuses the marks of a merge conflict, which stand alone on their lines.

        Args:
          line: as it is in the file.
          number: of the line, from 1.
          anywhere: whether only a conflict can explain the line, so that its other
            marks count too.
        """
        line = line.rstrip("\r\n")
        rest = anywhere and (line == _CONFLICT_REST[0] or line[:8] in _CONFLICT_REST)
        if line.startswith(_CONFLICT_BEGIN) or rest:
            raise files.refusal(
                self.path,
                f"there is the mark of a merge conflict ({line.strip()[:40]!r})",
                "Resolve the conflict and commit the file.",
                line=number,
            )

    @contextlib.contextmanager
    def _opened(self) -> Iterator[io.TextIOWrapper]:
        try:
            with files.open_bytes(self.path) as raw:
                yield io.TextIOWrapper(raw, encoding=self.encoding, newline="")
        except UnicodeError:
            raise encodings.undecodable(self.path, self.encoding) from None

    def _refuse_nul(self, text: str, number: int) -> None:
        at = text.find("\0")
        if at < 0:
            return
        ends = text.count("\n", 0, at) + text.count("\r", 0, at)
        raise files.refusal(
            self.path,
            "there is a NUL byte, so this is no text file or is damaged",
            "Export the file again, or remove it: "
            f"`{files.command_on(self.path, _REMOVE_NUL)}`.",
            line=number + ends - text.count("\r\n", 0, at),
        )


def opened(path: str, head: bytes, encoding: str) -> TextFile:
    """The text of a file, read in the encoding that `data.encoding` allows.

    Args:
      path: plain or gzip'ed.
      head: its first bytes, unpacked.
      encoding: `data.encoding`.

    Raises:
      DataRefused: see `encodings.of_file`.
    """
    return TextFile(path, encodings.of_file(path, head, encoding))
