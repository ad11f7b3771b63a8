"""What became of every row of the input: counts that must add up. Pure."""

import dataclasses
from typing import Any

FIRST_REJECTED = 5  # How many rejected rows of a file the account itself shows.


@dataclasses.dataclass(frozen=True)
class RejectedRow:
    """A row that cannot be used. `line` is a record number in a Parquet file."""

    file: str
    line: int
    reason: str
    excerpt: str


@dataclasses.dataclass
class FileAccount:
    """The rows of one file.

    Attributes:
      path: as the configuration names it.
      format: "CSV", "TSV", "JSON Lines", "JSON array" or "Parquet".
      sha256: of the file as it lies on the disk, packed or not.
      bytes: likewise.
      rows_read: all rows; blank lines are none.
      kept: rows that became examples.
      rejected: reason -> rows.
      left_out_by: "max_train_examples" or "max_eval_examples" -> good rows left out.
      characters_removed: control characters taken out of kept and left out rows.
      first_rejected: the first few of the rejected rows.
    """

    path: str
    format: str
    sha256: str
    bytes: int
    rows_read: int = 0
    kept: int = 0
    rejected: dict[str, int] = dataclasses.field(default_factory=dict)
    left_out_by: dict[str, int] = dataclasses.field(default_factory=dict)
    characters_removed: int = 0
    first_rejected: list[RejectedRow] = dataclasses.field(default_factory=list)

    def reject(self, row: RejectedRow) -> None:
        self.rejected[row.reason] = self.rejected.get(row.reason, 0) + 1
        if len(self.first_rejected) < FIRST_REJECTED:
            self.first_rejected.append(row)

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
        files = [{**dataclasses.asdict(f), "left_out": f.left_out} for f in self.files]
        return {"files": files, "splits": self.splits}
