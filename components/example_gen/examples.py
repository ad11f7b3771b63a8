"""From a row as the file has it to an example of the feature contract. Pure."""

import dataclasses
import hashlib

from components.example_gen import normalisation, reading
from components.example_gen.languages import Detect
from components.example_gen.settings import (
    LANGUAGE_SLICE,
    TEXT_LENGTH_SLICE,
    DataSettings,
)
from trainer_module import features
from trainer_module.features import REFERENCE_SEPARATOR

EMPTY_TEXT = "empty text"
EMPTY_TARGET = "empty target"
NEWLINE_IN_LABEL = "newline in the label"
SEVERAL_LABELS = "more than one label"
REASONS = (
    reading.WRONG_NUMBER_OF_CELLS,
    reading.NOT_TEXT,
    reading.HEADER_AGAIN,
    EMPTY_TEXT,
    EMPTY_TARGET,
    NEWLINE_IN_LABEL,
    SEVERAL_LABELS,
)


@dataclasses.dataclass(frozen=True, slots=True)
class Example:
    """One row under the feature contract."""

    text: str
    target: str
    example_id: str
    slices: dict[str, str]

    def features(self) -> dict[str, bytes]:
        """Feature -> its one value, in UTF-8."""
        values = {
            features.TEXT: self.text.encode(),
            features.TARGET: self.target.encode(),
            features.EXAMPLE_ID: self.example_id.encode(),
        }
        for name, value in self.slices.items():
            values[name] = value.encode()
        return values


class RowRejected(Exception):
    """The row cannot be used, for one of `REASONS`."""


class Mapper:
    """Maps the columns of a file's rows to the feature contract.

    Args:
      settings: which column is what.
      task: "classification" or "summarization".
      derive_length: make the slice `TEXT_LENGTH_SLICE` from the text.
      detect: makes the slice `LANGUAGE_SLICE` from the text; None if it is a column.

    Attributes:
      removed: control and zero-width characters taken out of the last row.
    """

    def __init__(
        self,
        settings: DataSettings,
        task: str,
        *,
        derive_length: bool = False,
        detect: Detect | None = None,
    ):
        self._settings, self._task = settings, task
        self._derive_length, self._detect = derive_length, detect
        self._names = UniqueNames()
        self.removed = 0

    def __call__(self, row: reading.Row) -> Example:
        """The example of a row, under a name that no earlier row has.

        Raises:
          RowRejected: with one of `REASONS`.
        """
        if row.problem:
            raise RowRejected(row.problem)
        self.removed = 0
        settings, cells = self._settings, row.cells
        text = self._joined(cells.get(settings.text), settings.list_separator)
        if not text.strip():
            raise RowRejected(EMPTY_TEXT)
        target = self._target(cells.get(settings.target))
        slices = {
            name: " ".join(self._joined(cells.get(name)).split())
            for name in settings.slices
        }
        if self._derive_length:
            band = normalisation.length_band(text, settings.length_bands_words)
            slices[TEXT_LENGTH_SLICE] = band
        if self._detect is not None:
            slices[LANGUAGE_SLICE] = self._detect([text])[0]
        named = self._joined(cells.get(settings.id)) if settings.id else ""
        name = self._names.name(named or stable_id(text, target))
        return Example(text, target, name, slices)

    def split_key(self, example: Example, row: reading.Row) -> bytes:
        """What decides the split: the text, or the value of `data.split_by`."""
        if self._settings.split_by is None:
            return normalisation.text_key(example.text)
        value = self._joined(row.cells.get(self._settings.split_by))
        # Without a value the row belongs to no group; its text is all there is.
        return normalisation.text_key(value or example.text)

    def _joined(self, cell: reading.Cell, separator: str = " ") -> str:
        if isinstance(cell, str):  # Nearly always, so without a list.
            return self._clean(cell)
        return separator.join(self._texts(cell))

    def _texts(self, cell: reading.Cell) -> list[str]:
        """The texts of a cell that are not empty."""
        values = (cell,) if isinstance(cell, str) else cell or ()
        return [text for text in map(self._clean, values) if text]

    def _clean(self, value: str) -> str:
        text, removed = normalisation.clean(value)
        self.removed += removed
        return text

    def _target(self, cell: reading.Cell) -> str:
        texts = [self._clean(cell)] if isinstance(cell, str) else self._texts(cell)
        if texts == [""]:
            raise RowRejected(EMPTY_TARGET)
        if not texts:
            raise RowRejected(EMPTY_TARGET)
        if self._task == "classification":
            if len(texts) > 1:
                raise RowRejected(SEVERAL_LABELS)
            # The names of the labels are kept in a file with one on each line.
            if "\n" in texts[0]:
                raise RowRejected(NEWLINE_IN_LABEL)
        return REFERENCE_SEPARATOR.join(texts)


class UniqueNames:
    """Gives each example of a file its own name: the second "7" is "7#2"."""

    def __init__(self) -> None:
        self._copies: dict[str, int] = {}

    def name(self, wanted: str) -> str:
        if wanted not in self._copies:
            self._copies[wanted] = 1
            return wanted
        name, copy = wanted, self._copies[wanted]
        while name in self._copies:  # A row may itself be called "7#2".
            copy += 1
            name = f"{wanted}#{copy}"
        self._copies[wanted] = copy
        self._copies[name] = 1
        return name


def stable_id(text: str, target: str) -> str:
    """The name of a row that has none of its own: 16 hexadecimal digits."""
    # \x1e is in no text, so no two pairs join to the same string.
    return hashlib.sha256(f"{text}\x1e{target}".encode()).hexdigest()[:16]
