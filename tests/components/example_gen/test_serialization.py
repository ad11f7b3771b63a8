"""components.example_gen.serialization: the bytes are those of Protocol Buffers."""

import pytest
import tensorflow as tf
from hypothesis import example, given
from hypothesis import strategies as st

from components.example_gen.serialization import Serializer

pytestmark = pytest.mark.slow

FEATURES = st.dictionaries(st.text(max_size=200), st.binary(max_size=300), max_size=6)


def by_protobuf(values):
    feature = {
        name: tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))
        for name, value in values.items()
    }
    made = tf.train.Example(features=tf.train.Features(feature=feature))
    return made.SerializeToString(deterministic=True)


@given(FEATURES)
@example({"text": b"x" * 127, "target": b"x" * 128, "example_id": b""})
@example({"text": b"x" * 16_383, "target": b"x" * 16_384})
@example({"text": b"x" * 3_000_000})
@example({"z": b"1", "é": b"2", "退": b"3", "\U0001f600": b"4", "\uffff": b"5"})
def test_bytes_are_those_of_protocol_buffers(values):
    if not values:  # An Example without features is no row.
        return
    assert Serializer(tuple(values))(values) == by_protobuf(values)
