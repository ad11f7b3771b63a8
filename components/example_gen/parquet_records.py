"""Records of a Parquet file. Pure; pyarrow is imported only for one."""

from collections.abc import Collection, Iterator
from typing import Any

from components.example_gen import files
from trainer_module.progress import DataRefused

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


def open_file(path: str) -> Any:
    """A pyarrow.parquet.ParquetFile; it may have no rows."""
    import pyarrow
    import pyarrow.parquet

    # An archive cannot be read from its end, where Parquet has its index.
    packed = files.is_compressed(path)
    source = pyarrow.BufferReader(files.read_bytes(path)) if packed else path
    try:
        return pyarrow.parquet.ParquetFile(source)
    except (pyarrow.ArrowInvalid, OSError) as error:
        raise _damaged(path, error) from None


def read(path: str, wanted: Collection[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields (record number from 1, the wanted columns of it)."""
    import pyarrow

    file = open_file(path)
    columns = [c for c in file.schema_arrow.names if c in wanted]
    number = 0
    try:
        for batch in file.iter_batches(batch_size=_RECORDS_A_BATCH, columns=columns):
            for record in batch.to_pylist():
                number += 1
                yield number, record
    except (pyarrow.ArrowException, OSError) as error:
        raise _damaged(path, error) from None


def _damaged(path: str, error: Exception) -> DataRefused:
    found = f"the Parquet file is damaged ({str(error).splitlines()[0]})"
    return files.refusal(path, found, "Make or copy it again.")
