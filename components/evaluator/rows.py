"""The eval split, as the models are asked about it. Pure."""

import dataclasses
from collections.abc import Mapping, Sequence


@dataclasses.dataclass(frozen=True)
class Rows:
    """The eval split.

    Attributes:
      example_ids: by which a row is told from the others.
      sources: what the models read.
      targets: labels, or references; see `texts.split_references`.
      columns: by name, the value of each row, that it can be sliced by.
      crosses: pairs of columns, whose values are crossed.
    """

    example_ids: Sequence[str]
    sources: Sequence[str]
    targets: Sequence[str]
    columns: Mapping[str, Sequence[str]]
    crosses: Sequence[tuple[str, str]] = ()

    def of(self, numbers: Sequence[int]) -> "Rows":
        """Some of the rows, by their numbers."""

        def chosen(values: Sequence[str]) -> list[str]:
            return [values[row] for row in numbers]

        return Rows(
            example_ids=chosen(self.example_ids),
            sources=chosen(self.sources),
            targets=chosen(self.targets),
            columns={name: chosen(values) for name, values in self.columns.items()},
            crosses=self.crosses,
        )
