"""TFRecord: features as text, and a refusal of what is damaged or no tf.Example."""

import gzip
import struct

import pytest

from components.example_gen import reading, tfrecord_records
from tests.components.example_gen.formats import example, field, framed, masked
from trainer_module.progress import DataRefused

# Numbers of the fields of tf.train.Feature.
BYTES, FLOATS, INTEGERS = 1, 2, 3


def text_of(value):
    return field(1, value.encode() if isinstance(value, str) else value)


def row(text="hi", label="a"):
    return example(("text", BYTES, text_of(text)), ("label", BYTES, text_of(label)))


@pytest.fixture
def rows(write, settings):
    def rows(content, name="data.tfrecord", **changes):
        path = write(content, name)
        return list(reading.read_rows(path, settings(path, **changes)))

    return rows


@pytest.mark.parametrize(
    "name", ["data.tfrecord", "part-00000", "data.csv", "data.tfrecord.gz", "packed.gz"]
)
def test_tfrecord_is_read_whatever_its_name(rows, name):
    found = rows(framed(row(), row("größer", "b")), name)
    assert [(r.number, r.cells) for r in found] == [
        (1, {"text": "hi", "label": "a"}),
        (2, {"text": "größer", "label": "b"}),
    ]


def test_values_become_text_or_lists_or_none(rows):
    floats = struct.pack("<5f", 0.1, 1.0, 1e20, 16777217.0, float("nan"))
    record = example(
        ("text", BYTES, text_of("one") + text_of("two")),
        ("label", INTEGERS, field(1, b"\x07" + b"\xff" * 9 + b"\x01")),
        ("score", FLOATS, field(1, floats)),
        ("none", BYTES, b""),
        ("unasked", BYTES, text_of(b"\xff")),
    )
    (found,) = rows(framed(record), slices=("score", "none"))
    assert found.cells == {
        "text": ("one", "two"),
        "label": ("7", "-1"),
        "score": ("0.1", "1.0", "1e+20", "16777216.0"),
        "none": None,
    }


def test_bytes_that_are_no_text_make_a_row_of_no_use(rows):
    (found,) = rows(framed(row(b"caf\xe9")))
    assert (found.number, found.problem) == (1, "neither text nor a list of texts")


def test_feature_that_the_first_record_omits_is_a_column(rows):
    text, label = ("text", BYTES, text_of("hi")), ("label", BYTES, text_of("a"))
    found = rows(framed(example(text), example(text, label)))
    assert [r.cells.get("label") for r in found] == [None, "a"]


def test_missing_feature_is_named_with_those_there_are(refusal):
    message = refusal(framed(row()), "data.tfrecord", text="Text")
    assert (
        "did you mean 'text'? The columns are ['text', 'label'] (TFRecord)" in message
    )


def flipped(content, place):
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


def long_record():
    n = struct.pack("<Q", 2**40)
    return n + masked(n) + b"x"


@pytest.mark.parametrize(
    "content, record, found",
    [
        (flipped(framed(row(), row()), 20), 1, "the checksum of its data is wrong"),
        (flipped(framed(row(), row()), -1), 2, "the checksum of its data is wrong"),
        (framed(row()) + b"\0" * 12, 2, "the checksum of its length is wrong"),
        (framed(row()) + b"\0" * 5, 2, "the file ends inside it"),
        (framed(row(), row())[:-1], 2, "the file ends inside it"),
        (framed(row(), row())[:-40], 2, "the file ends inside it"),
        (long_record(), 1, "it has 1,099,511,627,776 bytes, and 268,435,456 are read"),
    ],
    ids=["data", "checksum", "length", "header_cut", "cut", "data_cut", "too_long"],
)
@pytest.mark.parametrize("name", ["data.tfrecord", "data.tfrecord.gz"])
def test_damaged_record_is_refused_with_its_number(
    refusal, content, record, found, name
):
    assert refusal(content, name) == (
        f"{name}, record {record}: the TFRecord file is damaged: {found}. Make or copy "
        "it again."
    )


def test_length_beyond_the_file_is_not_read_into_memory(refusal, monkeypatch):
    monkeypatch.setattr(tfrecord_records, "MAX_RECORD_BYTES", 2**62)
    assert "the file ends inside it" in refusal(long_record(), "data.tfrecord")


@pytest.mark.parametrize(
    "record",
    [b"hello world", b"\x0a\x05hello", b"{}", b"\x12\x00", row() + b"\x0c", b"\x0a"],
)
def test_record_that_is_no_example_is_refused(refusal, record):
    message = refusal(framed(row(), record), "data.tfrecord")
    assert message.startswith("data.tfrecord, record 2: this is no tf.train.Example.")


def test_feature_that_comes_twice_in_a_record_is_refused(refusal):
    text = ("text", BYTES, text_of("hi"))
    message = refusal(framed(example(text, text)), "data.tfrecord")
    assert message.startswith(
        "data.tfrecord, record 1: features ['text'] are there twice."
    )


def test_name_that_says_tfrecord_is_refused_if_the_content_is_none(refusal):
    for name in ("data.tfrecord", "data.tfrecords.gz"):
        assert "the name says TFRecord, and the" in refusal(b"text,label\na,b\n", name)
    assert "the file is empty" in refusal(b"", "data.tfrecord")


def test_source_counts_records(write, settings):
    path = write(framed(row()), "data")
    source = reading.check_columns(path, settings(path))
    assert (source.format, source.columns, source.unit) == (
        "TFRecord", ("text", "label"), "record",
    )  # fmt: skip


def test_damaged_archive_is_refused_as_one(write, settings):
    path = write(b"")
    with open(path, "wb") as file:
        file.write(gzip.compress(framed(*[row(str(i)) for i in range(999)]))[:2000])
    with pytest.raises(DataRefused, match="the gzip archive is damaged"):
        list(reading.read_rows(path, settings(path)))


@pytest.mark.slow
def test_what_tensorflow_writes_is_read(tmp_path, settings):
    import tensorflow as tf

    def feature(**kind):
        return tf.train.Feature(**kind)

    made = tf.train.Example()
    made.features.feature["text"].bytes_list.value.append("größer".encode())
    made.features.feature["label"].int64_list.value.append(-7)
    made.features.feature["score"].float_list.value.extend([0.1, 3e38])
    for kind in ("", "GZIP"):
        path = str(tmp_path / f"data{kind}")
        with tf.io.TFRecordWriter(path, kind) as writer:
            writer.write(made.SerializeToString())
        (found,) = reading.read_rows(path, settings(path, slices=("score",)))
        assert found.cells == {
            "text": "größer", "label": "-7", "score": ("0.1", "3e+38"),
        }  # fmt: skip
