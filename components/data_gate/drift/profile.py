"""What a split looks like, in numbers: small enough to lie beside a model. Pure.

The profile of the train split goes with the model that learned from it, so that later
data can be held against it when the rows themselves are long gone.

Privacy: nothing that occurs in fewer than `MIN_ROWS` rows is written, neither a word
nor the value of a slice nor a range of lengths. The names of the labels are the one
exception: a model tells them to everyone who asks it.
"""

import dataclasses
import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, Final, Literal

import numpy as np
import pydantic
import pydantic_core

from components.example_gen.examples import Example
from components.example_gen.normalisation import count_words, words
from trainer_module.features import REFERENCE_SEPARATOR
from trainer_module.settings import Section, Task

PROFILE_FILE = "profile.json"  # In DataGate's verdict.
FORMAT: Final = "texttune data profile"
FORMAT_VERSION: Final = 1
MIN_ROWS, MAX_WORDS, MAX_SLICE_VALUES = 5, 2000, 100

# Lengths in words at which bins end: each a fifth longer than the one before.
EDGES = np.array(sorted({math.ceil(2 ** (k / 4)) for k in range(81)}))
_ROWS_FOR_ERROR = 10_000

Count = Annotated[int, pydantic.Field(ge=1, le=2**40)]
Share = Annotated[float, pydantic.Field(ge=0, le=1)]


class Unreadable(ValueError):
    """No profile of ours, or a damaged one; says which."""


class Histogram(Section):
    """Rows by length in words; each bin holds `MIN_ROWS` rows or more.

    Attributes:
      edges: rising; bin i holds the lengths up to edges[i].
      rows: [len(edges)]; none if there are fewer than `MIN_ROWS` rows. The last bin
        also holds the longest rows, up to `MIN_ROWS` - 1, wherever they end.
    """

    edges: tuple[int, ...]
    rows: tuple[Count, ...]

    @pydantic.model_validator(mode="after")
    def _bins_fit(self) -> "Histogram":
        if len(self.rows) != len(self.edges):
            raise ValueError("a histogram has as many bins as edges")
        if list(self.edges) != sorted(set(self.edges)):
            raise ValueError("the edges of a histogram must rise")
        return self

    @property
    def cumulative(self) -> np.ndarray:
        """float [len(edges)], the share of rows up to each edge."""
        return np.cumsum(self.rows) / max(1, sum(self.rows))

    def median_in_words(self) -> str:
        bin_ = int(np.searchsorted(self.cumulative, 0.5))
        above, below = self.edges[bin_ - 1] if bin_ else 0, self.edges[bin_]
        return f"{below}" if below == above + 1 else f"{above + 1} to {below}"


class Profile(Section):
    """A split in numbers.

    Attributes:
      rows: of the split.
      labels: label -> rows; none for summaries.
      text_words: lengths of the texts.
      target_words: of the summaries, the first of each row; None for labels.
      words: of the words in most rows, each folded, the number of occurrences.
      occurrences: of all words.
      unknown_share: share of the occurrences in fresh rows like these that would be
        none of `words`.
      unknown_error: its standard error.
      slices: column -> value -> rows, the commonest values only.
      empty: column -> share of the rows without a value.
      columns: column of the data files -> its type, "" where a format has none.
    """

    format: Literal["texttune data profile"] = FORMAT
    format_version: Literal[1] = FORMAT_VERSION
    task: Task
    rows: Count
    labels: dict[str, Count]
    text_words: Histogram
    target_words: Histogram | None
    words: dict[str, Count]
    occurrences: pydantic.NonNegativeInt
    unknown_share: Share
    unknown_error: pydantic.NonNegativeFloat
    slices: dict[str, dict[str, Count]]
    empty: dict[str, Share]
    columns: dict[str, str]

    @pydantic.model_validator(mode="after")
    def _adds_up(self) -> "Profile":
        histograms = [h.rows for h in (self.text_words, self.target_words) if h]
        counted = [*histograms, self.labels.values()]
        if any(sum(counts) != self.rows for counts in counted if counts):
            raise ValueError(f"the counts do not add up to {self.rows} rows")
        return self

    def to_json(self) -> str:
        return self.model_dump_json(indent=1)


@dataclasses.dataclass(frozen=True)
class Counts:
    """What a split holds, counted once for its profile and for all comparisons.

    Attributes:
      text_words: int64 [rows].
      target_words: int64 [rows] for summaries, [0] for labels.
      words: folded word -> occurrences.
      word_rows: folded word -> rows that hold it.
      sample: the words of some rows, spread evenly over the split.
    """

    rows: int
    labels: Counter[str]
    text_words: np.ndarray
    target_words: np.ndarray
    words: Counter[str]
    word_rows: Counter[str]
    sample: Sequence[Sequence[str]]
    slices: Mapping[str, Counter[str]]

    @property
    def occurrences(self) -> int:
        return self.words.total()

    def unknown_share(self, known: Collection[str]) -> float:
        """The share of the occurrences of words that are none of `known`."""
        if not self.occurrences:
            return 0.0
        return 1 - sum(self.words[word] for word in known) / self.occurrences

    def unknown_error(self, known: Collection[str]) -> float:
        """The standard error of `unknown_share`, if the rows are a random sample.

        Words of a row go together, so rows are the units: the variance of a ratio of
        two sums over rows (Cochran, Sampling Techniques, 3rd ed. 1977, eq. 6.13).
        """
        total = np.array([len(row) for row in self.sample], float)
        if len(total) < 2 or not total.sum():
            return 0.0
        unknown = np.array([sum(w not in known for w in row) for row in self.sample])
        residuals = unknown - unknown.sum() / total.sum() * total
        variance = (residuals**2).sum() / (len(total) - 1) / self.rows
        return float(np.sqrt(variance) / total.mean())


def count(rows: Sequence[Example], task: str) -> Counts:
    """Counts a split; a million rows of 200 characters take 45 seconds."""
    occurrences: Counter[str] = Counter()
    word_rows: Counter[str] = Counter()
    sample, step = [], math.ceil(len(rows) / _ROWS_FOR_ERROR)
    lengths = np.zeros(len(rows), np.int64)
    for number, row in enumerate(rows):
        found = words(row.text)
        # Folding an ASCII text makes no word more or less.
        ascii_ = row.text.isascii()
        lengths[number] = len(found) if ascii_ else count_words(row.text)
        occurrences.update(found)
        word_rows.update(set(found))
        if number % step == 0:
            sample.append(found)
    of_labels = task == "classification"
    names = sorted({name for row in rows for name in row.slices})
    return Counts(
        rows=len(rows),
        labels=Counter(row.target for row in rows) if of_labels else Counter(),
        text_words=lengths,
        target_words=_lengths([] if of_labels else [learned(row) for row in rows]),
        words=occurrences,
        word_rows=word_rows,
        sample=sample,
        slices={n: Counter(row.slices.get(n, "") for row in rows) for n in names},
    )


def learned(row: Example) -> str:
    """Of several references the Trainer learns the first."""
    return row.target.partition(REFERENCE_SEPARATOR)[0]


def _lengths(texts: Sequence[str]) -> np.ndarray:
    return np.array([count_words(text) for text in texts], np.int64)


def of(counts: Counts, *, task: str, columns: Mapping[str, str]) -> Profile:
    """The profile of a split; equal counts give equal bytes of JSON."""
    frequent = sorted(
        (word for word, rows in counts.word_rows.items() if rows >= MIN_ROWS),
        key=lambda word: (-counts.word_rows[word], word),
    )[:MAX_WORDS]
    # A word that is frequent thanks to one row would be unknown in that row, were it
    # a fresh one: leaving-one-out, as Ney, Essen and Kneser do (IEEE PAMI 17, 1995).
    known = {word for word in frequent if counts.word_rows[word] > MIN_ROWS}
    return Profile(
        task=task,
        rows=counts.rows,
        labels=dict(sorted(counts.labels.items())),
        text_words=histogram(counts.text_words),
        target_words=(
            None if task == "classification" else histogram(counts.target_words)
        ),
        words={word: counts.words[word] for word in frequent},
        occurrences=counts.occurrences,
        unknown_share=round(counts.unknown_share(known), 9),
        unknown_error=round(counts.unknown_error(known), 9),
        slices={name: _common(values) for name, values in counts.slices.items()},
        empty={n: _empty(values, counts.rows) for n, values in counts.slices.items()},
        columns=dict(sorted(columns.items())),
    )


def histogram(lengths: np.ndarray) -> Histogram:
    """Bins that end at some of `EDGES`, each wide enough for `MIN_ROWS` rows."""
    if len(lengths) < MIN_ROWS:
        return Histogram(edges=(), rows=())
    bins = np.minimum(np.searchsorted(EDGES, lengths), len(EDGES) - 1)
    edges, rows, waiting = [], [], 0
    for edge, number in zip(EDGES, np.bincount(bins), strict=False):
        waiting += int(number)
        if waiting >= MIN_ROWS:
            edges.append(int(edge))
            rows.append(waiting)
            waiting = 0
    rows[-1] += waiting  # Too few for a bin of their own.
    return Histogram(edges=tuple(edges), rows=tuple(rows))


def _common(values: Counter[str]) -> dict[str, int]:
    found = [(-n, v) for v, n in values.items() if v and n >= MIN_ROWS]
    return {value: -n for n, value in sorted(found)[:MAX_SLICE_VALUES]}


def _empty(values: Counter[str], rows: int) -> float:
    return round(values[""] / rows, 9) if values[""] >= MIN_ROWS else 0.0


def columns_of(account: Mapping[str, Any], paths: Collection[str]) -> dict[str, str]:
    """The columns of the files at `paths`, as far as the row account tells of them.

    Args:
      account: account.json.

    Returns:
      column -> type; several types joined by "|", "" where no format has any.
    """
    types: dict[str, set[str]] = {}
    for file in account["files"]:
        if file["path"] in paths:
            for name, kind in file["columns"].items():
                types.setdefault(name, set()).update([kind] if kind else [])
    return {name: "|".join(sorted(kinds)) for name, kinds in sorted(types.items())}


def parse(text: bytes) -> Profile:
    """Reads what `to_json` wrote.

    Raises:
      Unreadable: if it is not exactly that.
    """
    try:
        found = pydantic_core.from_json(text)
    except ValueError as error:
        raise Unreadable(f"it is damaged ({error})") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise Unreadable("it is no data profile of texttune")
    version = found.get("format_version")
    if version != FORMAT_VERSION:
        raise Unreadable(
            f"its format is version {version!r}, and this release reads version "
            f"{FORMAT_VERSION}"
        )
    try:
        return Profile.model_validate_json(text, strict=True)
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "all of it"
        raise Unreadable(f"it is damaged ({where}: {first['msg']})") from error
