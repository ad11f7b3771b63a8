"""From rows to a schema that a person will review. Pure.

Made so that these very rows fit it, and rows like them: a text is never a closed list,
a label always is, and of the slices those with few values that all repeat.
"""

import dataclasses
import os
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from components.example_gen.examples import Example
from components.example_gen.normalisation import length_band
from components.example_gen.settings import (
    LANGUAGE_SLICE,
    TEXT_LENGTH_SLICE,
    DataSettings,
)
from trainer_module import features

MAX_LISTED_VALUES = 50
_MIN_ROWS_OF_A_LISTED_VALUE = 2
# A limit is for what is no text like the others, such as a whole log file.
_LENGTH_HEADROOM = 2

Splits = Mapping[str, Sequence[Example]]


@dataclasses.dataclass(frozen=True)
class InferredColumn:
    """What the schema will say of one feature.

    Attributes:
      name: of the feature.
      about: what it is, in a line or two, for the reader of the file.
      values: value -> rows that have it; None if any value is allowed.
      max_tokens: how long a text may be; None if there is no limit.
    """

    name: str
    about: tuple[str, ...]
    values: dict[str, int] | None = None
    max_tokens: int | None = None


@dataclasses.dataclass(frozen=True)
class InferredSchema:
    """All features, and `rows` of each split that they were taken from."""

    columns: tuple[InferredColumn, ...]
    rows: dict[str, int]
    files: tuple[str, ...]

    @property
    def min_rows(self) -> int:
        """Half the rows of the smaller split: one schema is held against each."""
        return max(1, min(self.rows.values()) // 2)


def infer(
    splits: Splits,
    *,
    settings: DataSettings,
    task: str,
    longest_tokens: Mapping[str, int] | None,
    derived: Collection[str] = (),
) -> InferredSchema:
    """The schema of these rows.

    Args:
      splits: the examples of each split.
      settings: the `data` section that they were read with.
      task: "classification" or "summarization".
      longest_tokens: feature -> tokens of its longest text; None if they could not be
        counted, and there is to be no limit.
      derived: the slices that ExampleGen has made from the text.
    """
    columns = [_text(features.TEXT, settings.text, longest_tokens)]
    if task == "classification":
        about = (f"The label (column {settings.target!r}). A closed list.",)
        labels = _counts(splits, features.TARGET)
        columns.append(InferredColumn(features.TARGET, about, labels))
    else:
        columns.append(_text(features.TARGET, settings.target, longest_tokens))
    named = f"column {settings.id!r}" if settings.id else "made from the text"
    columns.append(InferredColumn(features.EXAMPLE_ID, (f"The row's name ({named}).",)))
    columns += [_slice(name, splits, settings, derived) for name in settings.slices]
    return InferredSchema(
        tuple(columns),
        {split: len(rows) for split, rows in splits.items()},
        tuple(map(os.path.basename, (*settings.train, *(settings.eval or ())))),
    )


def _text(
    name: str, column: str, longest_tokens: Mapping[str, int] | None
) -> InferredColumn:
    about = f"Free text (column {column!r}): never a closed list of values."
    if longest_tokens is None:
        why = "No limit on its length: there was no checkpoint yet to count tokens by."
        return InferredColumn(name, (about, why))
    longest = longest_tokens[name]
    limit = _LENGTH_HEADROOM * longest
    told = f"The longest of these rows has {longest:,} tokens; twice that are allowed."
    return InferredColumn(name, (about, told), max_tokens=limit)


def _slice(
    name: str, splits: Splits, settings: DataSettings, derived: Collection[str]
) -> InferredColumn:
    if name == LANGUAGE_SLICE and name in derived:
        about = "A slice that is made from the text: any language is allowed."
        return InferredColumn(name, (about,))
    counts = _counts(splits, name)
    bands = {band: counts.get(band, 0) for band in _bands(settings.length_bands_words)}
    if name == TEXT_LENGTH_SLICE and set(counts) <= set(bands):
        about = "A slice that is made from the text's length: every band there is."
        return InferredColumn(name, (about,), bands)
    rarest = min(counts.values())
    if len(counts) > MAX_LISTED_VALUES or rarest < _MIN_ROWS_OF_A_LISTED_VALUE:
        why = f"{len(counts):,} values, the rarest in {_rows(rarest)}"
        return InferredColumn(name, (f"A slice. Any value is allowed ({why}).",))
    return InferredColumn(name, ("A slice. A closed list.",), counts)


def _bands(bands_words: Sequence[int]) -> list[str]:
    return [
        length_band("word " * words, bands_words)
        for words in (*bands_words, bands_words[-1] + 1)
    ]


def _counts(splits: Splits, name: str) -> dict[str, int]:
    """value -> rows of all splits, in the values' order."""
    counts = Counter(
        row.target if name == features.TARGET else row.slices[name]
        for rows in splits.values()
        for row in rows
    )
    return dict(sorted(counts.items()))


def _rows(number: int) -> str:
    return "1 row" if number == 1 else f"{number:,} rows"
