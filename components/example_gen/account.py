"""What became of every row of the input: counts that must add up. Pure."""

import dataclasses
import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

FIRST_REJECTED = 5  # How many rejected rows for a reason the account itself shows.


@dataclasses.dataclass(frozen=True)
class RejectedRow:
    """A row that cannot be used. `line` is a record number in Parquet and TFRecord."""

    file: str
    line: int
    reason: str
    excerpt: str


@dataclasses.dataclass
class FileAccount:
    """The rows of one file.

    Attributes:
      path: as the configuration names it.
      format: one of the formats in `reading`.
      sha256: of the file as it lies on the disk, packed or not.
      bytes: likewise.
      encoding: of a file of text.
      columns: name -> type, as the file has them; "" where the format has no types.
      complete: False if the file broke off with an error after these rows.
      rows_read: all rows; blank lines are none.
      kept: rows that became examples.
      rejected: reason -> rows.
      left_out_by: "max_train_examples" or "max_eval_examples" -> good rows left out.
      rows_of_several_lines: those with line ends in their cells.
      most_lines: that one of these takes, and at which line it starts.
      characters_removed: control and zero-width characters taken out of good rows.
      first_rejected: the first few of the rejected rows for each reason.
    """

    path: str
    format: str
    sha256: str
    bytes: int
    encoding: str = "utf-8"
    columns: dict[str, str] = dataclasses.field(default_factory=dict)
    complete: bool = False
    rows_read: int = 0
    kept: int = 0
    rejected: dict[str, int] = dataclasses.field(default_factory=dict)
    left_out_by: dict[str, int] = dataclasses.field(default_factory=dict)
    rows_of_several_lines: int = 0
    most_lines: tuple[int, int] | None = None
    characters_removed: int = 0
    first_rejected: list[RejectedRow] = dataclasses.field(default_factory=list)

    def reject(self, row: RejectedRow) -> None:
        number = self.rejected.get(row.reason, 0) + 1
        self.rejected[row.reason] = number
        if number <= FIRST_REJECTED:
            self.first_rejected.append(row)

    def count_lines(self, number: int, lines: int) -> None:
        """Counts a row that takes several lines."""
        self.rows_of_several_lines += 1
        if self.most_lines is None or lines > self.most_lines[0]:
            self.most_lines = (lines, number)

    def leave_out(self, setting: str) -> None:
        self.left_out_by[setting] = self.left_out_by.get(setting, 0) + 1

    @property
    def rejected_rows(self) -> int:
        return sum(self.rejected.values())

    @property
    def left_out(self) -> int:
        return sum(self.left_out_by.values())

    @property
    def rejected_share(self) -> float:
        return self.rejected_rows / self.rows_read if self.rows_read else 0.0

    def as_json(self) -> dict[str, Any]:
        return {**dataclasses.asdict(self), "left_out": self.left_out}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "FileAccount":
        known = {name: v for name, v in values.items() if name != "left_out"}
        rows = [RejectedRow(**row) for row in known.pop("first_rejected")]
        most = known.pop("most_lines")
        return cls(
            **known, first_rejected=rows, most_lines=tuple(most) if most else None
        )


@dataclasses.dataclass
class Account:
    """All files, and how many examples each split has."""

    files: list[FileAccount]
    splits: dict[str, int]

    def check(self) -> None:
        """Raises RuntimeError if a row is unaccounted for: a bug, not bad data."""
        for file in self.files:
            told = file.kept + file.rejected_rows + file.left_out
            if file.rows_read != told:
                raise RuntimeError(
                    f"{file.path}: {file.rows_read} rows were read, and {told} are "
                    f"accounted for ({file.kept} kept, {file.rejected_rows} rejected, "
                    f"{file.left_out} left out). This is a bug of texttune."
                )
        kept, written = sum(f.kept for f in self.files), sum(self.splits.values())
        if kept != written:
            raise RuntimeError(
                f"{kept} rows were kept, and the splits have {written} "
                f"({self.splits}). This is a bug of texttune."
            )

    def as_json(self) -> dict[str, Any]:
        return {"files": [f.as_json() for f in self.files], "splits": self.splits}


def content_hash(file_hashes: Iterable[str]) -> str:
    """One SHA-256 for those of several files, in their order."""
    return hashlib.sha256("\n".join(file_hashes).encode()).hexdigest()
