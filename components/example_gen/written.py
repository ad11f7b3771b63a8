"""What ExampleGen has written, read back."""

import itertools
import os
from collections.abc import Iterator

import tensorflow as tf
from tfx.dsl.io import fileio
from tfx.types import artifact_utils

from components.example_gen.examples import Example
from trainer_module import features

_RECORDS_AT_ONCE = 256


def read_split(examples, split: str) -> Iterator[Example]:
    """Yields the raw examples of a split, in the file's order."""
    folder = artifact_utils.get_split_uri([examples], split)
    paths = sorted(fileio.glob(os.path.join(folder, "*")))
    # Handing over a record costs a millisecond, however many come at once.
    batches = tf.data.TFRecordDataset(paths, "GZIP").batch(_RECORDS_AT_ONCE)
    for record in itertools.chain.from_iterable(batches.as_numpy_iterator()):
        parsed = tf.train.Example.FromString(record).features.feature
        values = {
            name: feature.bytes_list.value[0].decode("utf-8")
            for name, feature in parsed.items()
        }
        raw = {name: values.pop(name) for name in features.RAW}
        yield Example(**raw, slices=values)
