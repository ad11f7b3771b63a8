"""`preprocessing_fn` for Transform: tokenises in the graph and numbers the labels."""

import os

import apache_beam as beam
import numpy as np
import tensorflow as tf
import tensorflow_transform as tft
import tensorflow_transform.beam as tft_beam

from trainer_module import features, tokenization
from trainer_module.settings import TransformSettings


def preprocessing_fn(inputs, custom_config):
    """Adds `input_ids` and `labels` to `example_id` and `target`; see `features`.

    Args:
      inputs: raw features, string [batch] or [batch, 1] or sparse with one value.
      custom_config: what `TransformSettings.to_custom_config` wrote.
    """
    settings = TransformSettings.from_custom_config(custom_config)
    tokenizer = tokenization.load(settings.checkpoint_dir, settings.model)
    text, target = _flat(inputs[features.TEXT]), _flat(inputs[features.TARGET])
    if settings.task == "classification":
        labels = _class_ids(target)
    else:
        labels = tokenizer.encode_target(_first_reference(target))
    return {
        features.INPUT_IDS: tokenizer.encode(text),
        features.LABELS: labels,
        features.EXAMPLE_ID: _flat(inputs[features.EXAMPLE_ID]),
        features.TARGET: target,
    }


def _flat(values) -> tf.Tensor:
    """One string a row, whatever form the schema's presence and shape gave it."""
    if isinstance(values, tf.SparseTensor):
        # A batch in which no row has the value is none wide.
        one_wide = tf.stack([values.dense_shape[0], 1])
        values = tf.sparse.reset_shape(values, one_wide)
        values = tf.sparse.to_dense(values, default_value="")
    return tf.reshape(values, [-1])


def _first_reference(target: tf.Tensor) -> tf.Tensor:
    """Of several references the one that is trained on; all are scored against."""
    return tf.strings.regex_replace(
        target, f"(?s){features.REFERENCE_SEPARATOR}.*", "", replace_global=False
    )


def _class_ids(target: tf.Tensor) -> tf.Tensor:
    """Class ids by label name in sorted order; -1 for a name not in the vocabulary."""
    asset = tft.experimental.ptransform_analyzer(
        inputs=[target],
        ptransform=_SortedNames(),
        output_dtypes=[tf.string],
        output_shapes=[[]],
        output_asset_default_values=[b"."],
    )[0]
    return tft.apply_vocabulary(target, asset, default_value=-1)


class _SortedNames(tft_beam.experimental.PTransformAnalyzer):
    """The distinct values as a text file, one a line, sorted by their bytes.

    `tft.vocabulary` orders by frequency, so that the same labels would get other ids
    at the next retraining.
    """

    def expand(self, batches):
        path = os.path.join(self.base_temp_dir, features.LABEL_NAMES_ASSET)
        return (
            batches
            | "Flatten" >> beam.FlatMap(lambda columns: columns[0].tolist())
            | "Distinct" >> beam.Distinct()
            | "Gather" >> beam.combiners.ToList()
            | "Write" >> beam.Map(_write_sorted, path)
        )


def _write_sorted(names: list[bytes], path: str) -> np.ndarray:
    tf.io.gfile.makedirs(os.path.dirname(path))
    with tf.io.gfile.GFile(path, "wb") as f:
        f.write(b"".join(name + b"\n" for name in sorted(names)))
    return np.array(path.encode("utf-8"))
