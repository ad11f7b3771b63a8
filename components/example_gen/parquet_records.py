"""Records of a Parquet file. Pure; pyarrow is imported only for one."""

import contextlib
from collections.abc import Collection, Iterator
from typing import Any

from components.example_gen import files

_RECORDS_A_BATCH = 1024


def is_parquet(path: str, head: bytes) -> bool:
    """By the content, of which `head` is the beginning.

    Raises:
      DataRefused: if the name says Parquet, and the content is none.
    """
    there = head.startswith(b"PAR1")
    if not there and path.lower().removesuffix(".gz").endswith(".parquet"):
        found = "the name says Parquet, and the content is none"
        raise files.refusal(path, found, "Name the file after what it is.")
    return there


def columns(path: str) -> list[tuple[str, str]] | None:
    """(name, type) in the file's order, or None if it has no rows.

    A type is told as far as a change of it may change the text of a value: that 7 is
    "7" whatever its width, and text is text, coded or not.
    """
    with _refusing_damage(path):
        file = _open(path)
        schema = file.schema_arrow
        if file.metadata.num_rows == 0:
            return None
        return [(field.name, _type_in_words(field.type)) for field in schema]


def read(path: str, wanted: Collection[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields (record number from 1, the wanted columns of it)."""
    number = 0
    with _refusing_damage(path):
        file = _open(path)
        names = [name for name in file.schema_arrow.names if name in wanted]
        for batch in file.iter_batches(batch_size=_RECORDS_A_BATCH, columns=names):
            for record in _records(batch):
                number += 1
                yield number, record


def _type_in_words(kind: Any) -> str:
    from pyarrow import types

    if types.is_dictionary(kind):
        return _type_in_words(kind.value_type)
    if types.is_list(kind) or types.is_large_list(kind):
        return f"list of {_type_in_words(kind.value_type)}"
    for is_one, name in (
        (types.is_string, "text"),
        (types.is_large_string, "text"),
        (types.is_binary, "text"),
        (types.is_large_binary, "text"),
        (types.is_integer, "integer"),
        (types.is_floating, "float"),
    ):
        if is_one(kind):
            return name
    return str(kind)


def _open(path: str) -> Any:
    import pyarrow
    import pyarrow.parquet

    # An archive cannot be read from its end, where Parquet has its index.
    packed = files.is_compressed(path)
    source = pyarrow.BufferReader(files.read_bytes(path)) if packed else path
    return pyarrow.parquet.ParquetFile(source)


def _records(batch: Any) -> list[dict[str, Any]]:
    try:
        return batch.to_pylist()
    except UnicodeDecodeError:  # As bytes, so that only the rows at fault are rejected.
        columns = [_as_bytes(column).to_pylist() for column in batch.columns]
    names = batch.schema.names
    return [
        dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)
    ]


def _as_bytes(column: Any) -> Any:
    import pyarrow

    kind = column.type
    if pyarrow.types.is_dictionary(kind):
        return _as_bytes(column.dictionary_decode())
    if pyarrow.types.is_list(kind) and pyarrow.types.is_string(kind.value_type):
        return column.cast(pyarrow.list_(pyarrow.binary()))
    if pyarrow.types.is_large_string(kind):
        return column.cast(pyarrow.large_binary())
    return column.cast(pyarrow.binary()) if pyarrow.types.is_string(kind) else column


@contextlib.contextmanager
def _refusing_damage(path: str) -> Iterator[None]:
    import pyarrow

    way_out = "Make or copy it again."
    try:
        yield
    except (pyarrow.ArrowException, OSError) as error:
        reason = (str(error).splitlines() or ["no reason is given"])[0]
        found = f"the Parquet file is damaged ({reason})"
        raise files.refusal(path, found, way_out) from None
    except (
        ValueError,
        LookupError,
        OverflowError,
    ) as error:  # Of what Python cannot hold.
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        found = f"a value cannot be read ({type(error).__name__}: {reason})"
        way_out = "Write the column as text."
        raise files.refusal(path, found, way_out) from None
