"""A schema file as this project reads it: what each feature may hold. Pure.

`schema_pb2` imports in a tenth of a second, without TensorFlow.
"""

import dataclasses
import re

from google.protobuf import text_format
from tensorflow_metadata.proto.v0 import schema_pb2


@dataclasses.dataclass(frozen=True)
class Column:
    """What the schema says of one feature.

    Attributes:
      name: of the feature; for a slice also of the column.
      values: the closed list; None if any value is allowed.
      min_rows: how many rows of a split must have a value.
      required: whether the feature must be there at all.
      max_tokens: how long a text may be; None if there is no limit.
    """

    name: str
    values: tuple[str, ...] | None
    min_rows: int
    required: bool
    max_tokens: int | None


class SchemaError(ValueError):
    """The text is no schema. `line` is where, from 1; None if it is all of it."""

    def __init__(self, message: str, line: int | None = None):
        super().__init__(message)
        self.line = line


def parse(text: str) -> dict[str, Column]:
    """Reads the text of a .pbtxt file.

    Returns:
      {name: column}, in the file's order.

    Raises:
      SchemaError: if it is no schema, has no feature, has one twice, or names a list
        of values that is not there.
    """
    try:
        schema = text_format.Parse(text, schema_pb2.Schema())
    except text_format.ParseError as error:
        line, column = error.GetLine(), error.GetColumn()
        message = str(error).removeprefix(f"{line}:{column} : ").rstrip(". ")
        raise SchemaError(message, line) from error
    if not schema.feature:
        raise SchemaError("it has no `feature`")
    lists = {domain.name: tuple(domain.value) for domain in schema.string_domain}
    columns: dict[str, Column] = {}
    for feature in schema.feature:
        if feature.name in columns:
            raise SchemaError(f"the feature {feature.name!r} is there twice")
        if feature.HasField("domain") and feature.domain not in lists:
            raise SchemaError(
                f"the feature {feature.name!r} has the domain {feature.domain!r}, and "
                f"there is no such `string_domain`, only {sorted(lists)}",
                _line_of(text, rf'domain:\s*"{re.escape(feature.domain)}"'),
            )
        columns[feature.name] = _column(feature, lists)
    return columns


def _column(feature: schema_pb2.Feature, lists: dict[str, tuple[str, ...]]) -> Column:
    values = None
    if feature.HasField("string_domain"):
        values = tuple(feature.string_domain.value)
    elif feature.HasField("domain"):
        values = lists[feature.domain]
    lengths = feature.natural_language_domain.sequence_length_constraints
    return Column(
        name=feature.name,
        values=values,
        min_rows=feature.presence.min_count,
        required=feature.presence.min_count > 0 or feature.presence.min_fraction > 0,
        max_tokens=lengths.max_sequence_length or None,
    )


def _line_of(text: str, pattern: str) -> int | None:
    """The parser tells lines of what does not parse only."""
    found = re.search(pattern, text)
    return text.count("\n", 0, found.start()) + 1 if found else None
