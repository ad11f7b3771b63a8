"""Transformed records -> rows in memory -> padded batches on the replicas.

Fine-tuning data fits in memory (a million rows of 50 tokens are 0.2 GB as int32),
and rows that can be addressed make the order of a training exact and repeatable.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np
import tensorflow as tf
import tensorflow_transform as tft

from trainer_module import features
from trainer_module.input.batching import ABSENT, BatchPlan
from trainer_module.losses import IGNORED


@dataclasses.dataclass(frozen=True)
class Rows:
    """All rows of a split.

    Attributes:
      input_ids: int32 ragged [rows, (tokens)].
      labels: int32, [rows] class ids or ragged [rows, (tokens)].
      example_ids: bytes [rows].
    """

    input_ids: tf.RaggedTensor
    labels: tf.Tensor | tf.RaggedTensor
    example_ids: np.ndarray

    def __len__(self) -> int:
        return len(self.example_ids)

    @property
    def lengths(self) -> list[np.ndarray]:
        """Tokens of each ragged feature, int [rows], in the plan's order."""
        found = [self.input_ids.row_lengths().numpy()]
        if isinstance(self.labels, tf.RaggedTensor):
            found.append(self.labels.row_lengths().numpy())
        return found


def read(patterns: Sequence[str], transform: tft.TFTransformOutput) -> Rows:
    """Reads every transformed record that matches `patterns`.

    Raises:
      ValueError: if there is no record, or a record breaks the feature contract:
        a feature is missing, or a label is not in the vocabulary.
    """
    files = sorted(f for p in patterns for f in tf.io.gfile.glob(p))
    if not files:
        raise ValueError(f"No transformed record matches {list(patterns)}.")
    spec = transform.transformed_feature_spec()
    missing = {*features.TRANSFORMED, features.EXAMPLE_ID} - set(spec)
    if missing:
        raise ValueError(
            f"Trainer input: features {sorted(missing)} are missing. "
            f"Received: {sorted(spec)}."
        )
    parsed = [
        tf.io.parse_example(batch, spec)
        for batch in tf.data.TFRecordDataset(files, compression_type="GZIP").batch(4096)
    ]
    if not parsed:
        raise ValueError(f"No transformed record is in {files}.")
    columns = {k: tf.concat([p[k] for p in parsed], axis=0) for k in spec}
    rows = Rows(
        input_ids=tf.cast(columns[features.INPUT_IDS], tf.int32),
        labels=tf.cast(columns[features.LABELS], tf.int32),
        example_ids=columns[features.EXAMPLE_ID].numpy(),
    )
    _refuse_unknown_labels(rows)
    return rows


def _refuse_unknown_labels(rows: Rows) -> None:
    """An id below zero fails on a CPU, and gives NaN or nonsense elsewhere."""
    if isinstance(rows.labels, tf.RaggedTensor):
        return
    unknown = rows.example_ids[rows.labels.numpy() < 0]
    if len(unknown):
        names = [name.decode("utf-8", "replace") for name in unknown[:5]]
        raise ValueError(
            f"{len(unknown)} rows have a label that the vocabulary lacks (id -1): "
            f"{', '.join(names)}{', ...' if len(unknown) > 5 else ''}."
        )


def batches(rows: Rows, plan: BatchPlan, *, pad_id: int) -> tf.data.Dataset:
    """The plan's batches, in its order.

    Returns:
      A dataset of {"input_ids": int32 [batch_size, width] padded with `pad_id`,
      "labels": int32 [batch_size] or [batch_size, width] padded with `IGNORED`}.
      Absent rows repeat the first one of their batch, so that they fit its width,
      and have only `IGNORED` labels.
    """
    batch_size = plan.rows.shape[1]

    def gather(numbers, widths):
        real = numbers != ABSENT
        numbers = tf.where(real, numbers, numbers[0])
        ids = tf.gather(rows.input_ids, numbers)
        ids = ids.to_tensor(pad_id, shape=[batch_size, None])
        ids = _widen(ids, widths[0], pad_id)
        labels = tf.gather(rows.labels, numbers)
        if isinstance(labels, tf.RaggedTensor):
            labels = labels.to_tensor(IGNORED, shape=[batch_size, None])
            labels = _widen(labels, widths[1], IGNORED)
            real = real[:, None]
        labels = tf.where(real, labels, IGNORED)
        return {features.INPUT_IDS: ids, features.LABELS: labels}

    dataset = tf.data.Dataset.from_tensor_slices((plan.rows, plan.padded_lengths))
    options = tf.data.Options()
    # There is nothing to tune, and the end of an iterator can wait for the tuner's
    # next round: as long as the epoch took, at most a minute.
    options.autotune.enabled = False
    options.experimental_distribute.auto_shard_policy = (
        tf.data.experimental.AutoShardPolicy.DATA
    )
    return (
        dataset.map(gather, num_parallel_calls=2, deterministic=True)
        .prefetch(4)
        .with_options(options)
    )


def _widen(values: tf.Tensor, width: tf.Tensor, fill: int) -> tf.Tensor:
    missing = width - tf.shape(values)[1]
    return tf.pad(values, [[0, 0], [0, missing]], constant_values=fill)
