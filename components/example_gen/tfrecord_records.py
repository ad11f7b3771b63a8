"""Records of a TFRecord file of tf.train.Example, without TensorFlow. Pure.

The framing (tensorflow/core/lib/io/record_writer.h) of each record:
  uint64  length, little-endian
  uint32  masked crc32c of the length
  bytes   data
  uint32  masked crc32c of the data
"""

import functools
import os
import struct
from collections.abc import Collection, Iterator
from typing import Any

from components.example_gen import files
from trainer_module.progress import DataRefused

# protobuf itself reads no message of 2 GB; a row of text is far from this.
MAX_RECORD_BYTES = 256 * 2**20
_HEADER = struct.Struct("<QI")
_CHECKSUM = struct.Struct("<I")
_NAMES = (".tfrecord", ".tfrecords")


def is_tfrecord(path: str, head: bytes) -> bool:
    """By the content, of which `head` is the beginning.

    Raises:
      DataRefused: if the name says TFRecord, and the content is none.
    """
    there = len(head) >= _HEADER.size and _is_length(head[: _HEADER.size])
    if not there and path.lower().removesuffix(".gz").endswith(_NAMES):
        if not head:
            raise files.nothing(path)
        found = "the name says TFRecord, and the content is none, or is damaged"
        raise files.refusal(path, found, "Name the file after what it is.")
    return there


def read(
    path: str, wanted: Collection[str] | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields (record number from 1, features).

    A feature is a value, a list of several, or None if there is none. Values are bytes,
    integers, and the decimal text of floats.

    Args:
      path: plain or gzip'ed.
      wanted: names of features; all if None.

    Raises:
      DataRefused: at a record that is damaged or is no tf.train.Example.
    """
    for number, data in _frames(path):
        yield number, _features(path, number, data, wanted)


# Framing


def _frames(path: str) -> Iterator[tuple[int, bytes]]:
    number = 0
    packed = files.is_compressed(path)
    size_bytes = os.path.getsize(path)
    with files.open_bytes(path) as file:
        while header := file.read(_HEADER.size):
            number += 1
            if len(header) < _HEADER.size:
                raise _damaged(path, number, "the file ends inside it")
            if not _is_length(header):
                raise _damaged(path, number, "the checksum of its length is wrong")
            length = _HEADER.unpack(header)[0]
            if length > MAX_RECORD_BYTES:
                found = f"it has {length:,} bytes, and {MAX_RECORD_BYTES:,} are read"
                raise _damaged(path, number, found)
            # Of what is there, for as much memory is taken as is asked for.
            if not packed and length > size_bytes - file.tell():
                raise _damaged(path, number, "the file ends inside it")
            data, checksum = file.read(length), file.read(_CHECKSUM.size)
            if len(data) < length or len(checksum) < _CHECKSUM.size:
                raise _damaged(path, number, "the file ends inside it")
            if _CHECKSUM.unpack(checksum)[0] != _masked_crc32c(data):
                raise _damaged(path, number, "the checksum of its data is wrong")
            yield number, data


def _is_length(header: bytes) -> bool:
    return _HEADER.unpack(header)[1] == _masked_crc32c(header[:8])


def _masked_crc32c(data: bytes) -> int:
    """tensorflow/tsl/lib/hash/crc32c.h: rotated by 15 bits, plus a constant."""
    import google_crc32c

    crc = google_crc32c.value(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def _damaged(path: str, number: int, found: str) -> DataRefused:
    return files.refusal(
        f"{path}, record {number}",
        f"the TFRecord file is damaged: {found}",
        "Make or copy it again.",
    )


# tf.train.Example


def _features(
    path: str, number: int, data: bytes, wanted: Collection[str] | None
) -> dict[str, Any]:
    from google.protobuf.message import DecodeError

    if data and not _is_one_field(data):
        raise _no_example(path, number)
    example = _example_class()()
    try:
        example.ParseFromString(data)
        names = [entry.key.decode("utf-8") for entry in example.features.feature]
    except (DecodeError, UnicodeDecodeError):
        raise _no_example(path, number) from None
    if not names and data:
        raise _no_example(path, number)
    if len(set(names)) < len(names):
        doubled = sorted({name for name in names if names.count(name) > 1})
        where = f"{path}, record {number}"
        raise files.refusal(where, f"features {doubled} are there twice", _WRITE_IT)
    return {
        name: _value(entry.value)
        for name, entry in zip(names, example.features.feature, strict=True)
        if wanted is None or name in wanted
    }


def _is_one_field(data: bytes) -> bool:
    """Whether `features`, tag 0x0A, fills it: of a rest protobuf only warns."""
    length = shift = 0
    for at, byte in enumerate(data[1:10], start=2):
        length |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return data[0] == 0x0A and at + length == len(data)
    return False


def _value(feature: Any) -> Any:
    kind = feature.WhichOneof("kind")
    if kind is None:
        return None
    values = list(getattr(feature, kind).value)
    if kind == "float_list":
        values = [_decimal(value) for value in values if value == value]
    return values if len(values) > 1 else (values or [None])[0]


def _decimal(value: float) -> str:
    """The shortest text that gives the 32-bit float back: 0.1, not 0.10000000149."""
    for digits in range(6, 9):
        short = float(f"{value:.{digits}g}")
        if struct.pack("<f", value) == _packed(short):
            return str(short)
    return str(float(f"{value:.9g}"))


def _packed(value: float) -> bytes:
    try:
        return struct.pack("<f", value)
    except OverflowError:  # Rounded up beyond the largest one.
        return b""


_WRITE_IT = (
    "Write one tf.train.Example for each row, with a feature of bytes for each column."
)


def _no_example(path: str, number: int) -> DataRefused:
    return files.refusal(
        f"{path}, record {number}", "this is no tf.train.Example", _WRITE_IT
    )


@functools.cache
def _example_class() -> Any:
    """tensorflow/core/example/{example,feature}.proto, in a pool of its own.

    The map of features is what a map is on the wire, a list of entries, so that a name
    that comes twice is seen.
    """
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(
        name="texttune/example.proto", package="texttune", syntax="proto3"
    )
    field = descriptor_pb2.FieldDescriptorProto

    def message(name: str, *fields: tuple[str, int, int, str]) -> Any:
        made = file.message_type.add(name=name)
        for number, (field_name, label, kind, type_name) in enumerate(fields, start=1):
            added = made.field.add(
                name=field_name, number=number, label=label, type=kind
            )
            if type_name:
                added.type_name = f".texttune.{type_name}"
        return made

    one, many = field.LABEL_OPTIONAL, field.LABEL_REPEATED
    message("BytesList", ("value", many, field.TYPE_BYTES, ""))
    message("FloatList", ("value", many, field.TYPE_FLOAT, ""))
    message("Int64List", ("value", many, field.TYPE_INT64, ""))
    feature = message(
        "Feature",
        ("bytes_list", one, field.TYPE_MESSAGE, "BytesList"),
        ("float_list", one, field.TYPE_MESSAGE, "FloatList"),
        ("int64_list", one, field.TYPE_MESSAGE, "Int64List"),
    )
    feature.oneof_decl.add(name="kind")
    for kind in feature.field:
        kind.oneof_index = 0
    message(
        "Entry",
        ("key", one, field.TYPE_BYTES, ""),
        ("value", one, field.TYPE_MESSAGE, "Feature"),
    )
    message("Features", ("feature", many, field.TYPE_MESSAGE, "Entry"))
    message("Example", ("features", one, field.TYPE_MESSAGE, "Features"))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    example = pool.FindMessageTypeByName("texttune.Example")
    return message_factory.MessageFactory(pool).GetPrototype(example)
