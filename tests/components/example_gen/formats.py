"""Tables written in every format that is read, by other means than the readers'."""

import gzip
import json
import struct
from collections.abc import Callable, Mapping, Sequence

import google_crc32c
import pyarrow
import pyarrow.parquet

Rows = Sequence[Sequence[str]]
SUFFIXES = (".csv", ".tsv", ".txt", ".jsonl", ".json", ".parquet", ".tfrecord", "")


def csv_file(
    names: Sequence[str],
    rows: Rows,
    *,
    delimiter: str = ",",
    line_end: str = "\n",
    quote_all: bool = False,
) -> str:
    """By hand: csv.writer does not quote a lone CR, nor an edge of spaces."""

    def cell(value: str) -> str:
        needed = value != value.strip() or any(c in value for c in f'"\r\n{delimiter}')
        return '"' + value.replace('"', '""') + '"' if quote_all or needed else value

    lines = [delimiter.join(cell(value) for value in row) for row in (names, *rows)]
    return "".join(line + line_end for line in lines)


def json_lines(names: Sequence[str], rows: Rows, *, ascii_only: bool = False) -> str:
    records = [dict(zip(names, row, strict=True)) for row in rows]
    return "".join(json.dumps(r, ensure_ascii=ascii_only) + "\n" for r in records)


def json_array(names: Sequence[str], rows: Rows, *, indent: int | None = None) -> str:
    records = [dict(zip(names, row, strict=True)) for row in rows]
    return json.dumps(records, ensure_ascii=False, indent=indent)


def parquet_file(names: Sequence[str], rows: Rows, kind: pyarrow.DataType) -> bytes:
    columns = {
        name: pyarrow.array([row[i] for row in rows], pyarrow.string()).cast(kind)
        if not pyarrow.types.is_dictionary(kind)
        else pyarrow.array([row[i] for row in rows]).dictionary_encode()
        for i, name in enumerate(names)
    }
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(pyarrow.table(columns), sink)
    return sink.getvalue().to_pybytes()


# TFRecord, by its definition.


def masked(data: bytes) -> bytes:
    crc = google_crc32c.value(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def framed(*records: bytes) -> bytes:
    """The content of a TFRecord file."""
    lengths = [struct.pack("<Q", len(record)) for record in records]
    return b"".join(
        n + masked(n) + record + masked(record)
        for n, record in zip(lengths, records, strict=True)
    )


def field(number: int, data: bytes) -> bytes:
    """A length-delimited field of a protocol buffer."""
    size, head = len(data), bytes([number << 3 | 2])
    while size > 127:
        head, size = head + bytes([size & 127 | 128]), size >> 7
    return head + bytes([size]) + data


def example(*features: tuple[str, int, bytes]) -> bytes:
    """A tf.train.Example of (name, number of the kind, its list as on the wire)."""
    entries = (
        field(1, name.encode()) + field(2, field(kind, values))
        for name, kind, values in features
    )
    return field(1, b"".join(field(1, entry) for entry in entries))


def tfrecord_file(names: Sequence[str], rows: Rows) -> bytes:
    return framed(
        *(
            example(
                *(
                    (name, 1, field(1, value.encode()))
                    for name, value in zip(names, row, strict=True)
                )
            )
            for row in rows
        )
    )


def writers() -> Mapping[str, Callable[[Sequence[str], Rows], bytes]]:
    """Name -> (names, rows) -> the bytes of a file."""
    made: dict[str, Callable[[Sequence[str], Rows], bytes]] = {}

    def add(name: str, write: Callable, encoding: str = "utf-8", **options) -> None:
        made[name] = lambda names, rows: write(names, rows, **options).encode(encoding)

    for delimiter in (",", ";", "\t", "|"):
        for line_end in ("\n", "\r\n", "\r"):
            for quote_all in (False, True):
                for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-32-be"):
                    add(
                        f"csv {delimiter!r} {line_end!r} {quote_all} {encoding}",
                        csv_file,
                        encoding,
                        delimiter=delimiter,
                        line_end=line_end,
                        quote_all=quote_all,
                    )
    for encoding in ("utf-8", "utf-8-sig", "utf-16-le"):
        add(f"json lines {encoding}", json_lines, encoding)
        add(f"json lines ascii {encoding}", json_lines, encoding, ascii_only=True)
        add(f"json array {encoding}", json_array, encoding)
        add(f"json array pretty {encoding}", json_array, encoding, indent=2)
    for kind in (pyarrow.string(), pyarrow.large_string()):
        made[f"parquet {kind}"] = lambda n, r, kind=kind: parquet_file(n, r, kind)
    coded = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    made["parquet dictionary"] = lambda n, r: parquet_file(n, r, coded)
    made["tfrecord"] = tfrecord_file
    packed = {
        f"{name} gzip": lambda n, r, write=write: gzip.compress(write(n, r))
        for name, write in made.items()
    }
    return {**made, **packed}
