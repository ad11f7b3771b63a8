"""What Transform leaves behind, in small: records, their spec, and run_fn's arguments.

Also a program: `python -m tests.trainer_module.transformed ARGUMENTS.json` runs the
Trainer's run_fn in a process of its own, which may be killed.
"""

import json
import sys
import types

import tensorflow as tf


def write_records(path, rows) -> str:
    """Writes (name, target, input ids, label or label ids) as Transform does."""
    options = tf.io.TFRecordOptions(compression_type="GZIP")
    with tf.io.TFRecordWriter(str(path), options) as writer:
        for name, target, ids, labels in rows:
            ragged = isinstance(labels, list)
            key = "labels$ragged_values" if ragged else "labels"
            feature = {
                "example_id": _text(name),
                "target": _text(target),
                "input_ids$ragged_values": _numbers(ids),
                key: _numbers(labels if ragged else [labels]),
            }
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            writer.write(example.SerializeToString())
    return str(path)


def spec(task: str) -> dict:
    """The feature spec of a task's transformed records."""
    ids, labels = (
        tf.io.RaggedFeature(
            tf.int64,
            value_key=f"{name}$ragged_values",
            partitions=(),
            row_splits_dtype=tf.int64,
        )
        for name in ("input_ids", "labels")
    )
    if task == "classification":
        labels = tf.io.FixedLenFeature([], tf.int64)
    text = tf.io.FixedLenFeature([], tf.string)
    return {"input_ids": ids, "labels": labels, "example_id": text, "target": text}


def output(task: str, label_names_path: str):
    """Stands for tft.TFTransformOutput."""
    return types.SimpleNamespace(
        transformed_feature_spec=lambda: spec(task),
        vocabulary_file_by_name=lambda _name: label_names_path,
    )


def _numbers(values):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def _text(value: str):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value.encode()]))


def main(path: str) -> None:
    from trainer_module import run_fn

    with open(path) as f:
        given = json.load(f)
    task = given["custom_config"]["texttune"]["task"]
    run_fn.tft = types.SimpleNamespace(
        TFTransformOutput=lambda _path: output(task, given["label_names_path"])
    )
    run_fn.run_fn(types.SimpleNamespace(**given))


if __name__ == "__main__":
    main(sys.argv[1])
