"""The `data` section of a configuration. Pure: no TensorFlow, no TFX."""

from collections.abc import Collection
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from components.example_gen import encodings
from trainer_module import features
from trainer_module.settings import Section

# Slices that ExampleGen makes itself where they are no column of the file.
TEXT_LENGTH_SLICE = "text_length"
LANGUAGE_SLICE = "language"
DERIVED_SLICES = frozenset({TEXT_LENGTH_SLICE, LANGUAGE_SLICE})
SPAN_PLACEHOLDER = "{SPAN}"


def _one_is_a_list(value: object) -> object:
    return (value,) if isinstance(value, str) else value


# One path, or a list of them: files, folders and globs; see `sources.expand`. A path
# with SPAN_PLACEHOLDER stands for numbered deliveries; see `spans.resolve`.
Paths = Annotated[
    tuple[Annotated[str, Field(min_length=1, pattern=r"^[^\x00]*$")], ...],
    Field(min_length=1),
    BeforeValidator(_one_is_a_list),
]


# Names of labels or columns; one alone need not be a list.
Names = Annotated[tuple[str, ...], BeforeValidator(_one_is_a_list)]


class DataGateSettings(Section):
    """What the data must fulfil before anything is trained on it."""

    min_train_examples: int = Field(16, ge=1)
    min_eval_examples: int = Field(8, ge=1)
    min_examples_per_label: int = Field(2, ge=1)
    max_rejected_share: float = Field(0.01, ge=0, le=1)
    max_leaked_share: float = Field(0.0, ge=0, le=1)
    # Texts of eval that are all but a text of train; similar from 0 to 1 (equal).
    max_near_duplicate_share: float = Field(0.05, ge=0, le=1)
    near_duplicate_similarity: float = Field(0.85, gt=0, le=1)
    max_contradicting_share: float = Field(0.01, ge=0, le=1)
    max_missing_share: float = Field(0.5, ge=0, le=1)
    # Of the 95% interval around a score of the eval split, up and down.
    max_interval_half_width: float = Field(0.15, gt=0, le=1)
    # Against the data that the serving model was trained on; from 0 to 1.
    max_label_drift: float = Field(0.2, ge=0, le=1)
    max_length_drift: float = Field(0.2, ge=0, le=1)
    max_vocabulary_drift: float = Field(0.1, ge=0, le=1)
    allow_new_labels: Names = ()
    allow_vanished_labels: Names = ()
    allow_similar_labels: Names = ()
    allow_changed_types: Names = ()  # Columns of the data files.


class SpanSettings(Section):
    """Which of the numbered deliveries of `{SPAN}` are read."""

    window: int | None = Field(None, ge=1)  # The newest N; all if None.
    # The file that says that a delivery is complete; without one if None.
    marker: str | None = Field(
        "_SUCCESS", pattern=r"^\.{0,2}[^./*?\[\]{}][^/*?\[\]{}]*$"
    )


class DataSettings(Section):
    """Which files are read, and what their columns mean."""

    train: Paths
    eval: Paths | None = None
    eval_share: float = Field(0.2, gt=0, lt=1)
    split_by: str | None = None
    text: str = Field(min_length=1)
    target: str = Field(min_length=1)
    id: str | None = None
    slices: tuple[str, ...] = ()
    length_bands_words: tuple[int, ...] = (20, 60)
    list_separator: str = "\n"
    encoding: str = Field("utf-8", min_length=1)
    spans: SpanSettings = SpanSettings()
    delimiter: Literal["auto", ",", ";", "\t", "|"] = "auto"
    # `schema` is a name that pydantic's own models use.
    reviewed_schema: str | None = None
    max_train_examples: int | None = Field(None, ge=1)
    max_eval_examples: int | None = Field(None, ge=1)
    gate: DataGateSettings = DataGateSettings()

    @field_validator("slices", mode="before")
    @classmethod
    def _null_is_none(cls, slices: object) -> object:
        return () if slices is None else slices

    @field_validator("slices")
    @classmethod
    def _names_are_free(cls, slices: tuple[str, ...]) -> tuple[str, ...]:
        taken = sorted(set(slices) & features.RESERVED)
        if taken:
            raise ValueError(
                f"a slice column may not be called {taken}: the pipeline's own "
                "features have these names; rename the column in the file"
            )
        doubled = sorted({s for s in slices if slices.count(s) > 1})
        if doubled:
            raise ValueError(f"slice columns are listed twice: {doubled}")
        return slices

    @field_validator("encoding")
    @classmethod
    def _encoding_is_there(cls, encoding: str) -> str:
        return encodings.codec_name(encoding)

    @field_validator("length_bands_words")
    @classmethod
    def _bands_rise(cls, bands: tuple[int, ...]) -> tuple[int, ...]:
        if not bands or list(bands) != sorted(set(bands)) or bands[0] < 1:
            raise ValueError("must be rising numbers of words, like [20, 60]")
        return bands

    @model_validator(mode="after")
    def _text_is_not_the_target(self) -> "DataSettings":
        if self.text == self.target:
            raise ValueError(
                f"`data.text` and `data.target` are the same column ({self.text!r}); "
                "the model would learn to copy"
            )
        return self

    def derived_slices(self, columns: Collection[str]) -> frozenset[str]:
        """The slices that are made from the text of files with these columns."""
        return DERIVED_SLICES.intersection(self.slices).difference(columns)

    @model_validator(mode="after")
    def _splits_by_what_is_split(self) -> "DataSettings":
        if self.split_by is not None and self.eval is not None:
            raise ValueError(
                f"`data.split_by` ({self.split_by!r}) says how eval is split off, and "
                "`data.eval` names its files. Remove one of the two"
            )
        return self
