"""The .pbtxt file of an inferred schema, for a person to read. Pure."""

import textwrap
from collections.abc import Iterator

from google.protobuf import text_encoding

from components.schema_inference.inferring import InferredColumn, InferredSchema

_FILES_NAMED = 3
_WIDTH = 86


def to_text(schema: InferredSchema, job: str) -> str:
    """The text of the file.

    Args:
      schema: what it says.
      job: the configuration that it is for, as a person would name it.
    """
    lines = [*_head(schema, job), ""]
    for column in schema.columns:
        lines += _feature(column, schema.min_rows)
    for column in schema.columns:
        if column.values is not None:
            lines += ["", *_list(column)]
    return "\n".join(lines) + "\n"


def _head(schema: InferredSchema, job: str) -> Iterator[str]:
    rows = ", ".join(f"{n:,} {split}" for split, n in schema.rows.items())
    files = ", ".join(schema.files[:_FILES_NAMED])
    if len(schema.files) > _FILES_NAMED:
        files += f" and {len(schema.files) - _FILES_NAMED} more"
    yield from _comment(
        f"Schema of the raw features of {job}, made from {sum(schema.rows.values()):,} "
        f"rows ({rows}) of {files}. Review it: it takes what was there for normal."
    )
    yield "#"
    yield from _comment(
        "What does not fit stops the run: a value that a closed list lacks, a text "
        "with more tokens than max_sequence_length, and a split (train or eval) in "
        "which fewer rows than min_count have a value."
    )


def _feature(column: InferredColumn, min_rows: int) -> Iterator[str]:
    for line in column.about:
        yield from _comment(line)
    yield "feature {"
    yield f"  name: {_quoted(column.name)}"
    yield "  type: BYTES"
    if column.values is not None:
        yield f"  domain: {_quoted(_list_name(column))}"
    yield f"  presence {{ min_fraction: 1.0 min_count: {min_rows} }}"
    yield "  shape { dim { size: 1 } }"
    if column.max_tokens is not None:
        yield "  natural_language_domain {"
        yield (
            "    sequence_length_constraints { "
            f"max_sequence_length: {column.max_tokens} }}"
        )
        yield "  }"
    yield "}"


def _list(column: InferredColumn) -> Iterator[str]:
    yield "string_domain {"
    yield f"  name: {_quoted(_list_name(column))}"
    for value, rows in (column.values or {}).items():
        told = "1 row" if rows == 1 else f"{rows:,} rows"
        yield f"  value: {_quoted(value)}  # {told}"
    yield "}"


def _list_name(column: InferredColumn) -> str:
    return f"{column.name}_values"


def _quoted(value: str) -> str:
    return f'"{text_encoding.CEscape(value, as_utf8=True)}"'


def _comment(text: str) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent="# ",
        subsequent_indent="# ",
        break_on_hyphens=False,
    )
