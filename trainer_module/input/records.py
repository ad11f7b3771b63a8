"""Transformed records -> rows in memory -> padded batches on the replicas.

Fine-tuning data fits in memory (a million rows of 50 tokens are 0.2 GB as int32),
and rows that can be addressed make the order of a training exact and repeatable.
"""

import dataclasses
import hashlib
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
      targets: bytes [rows], as they were ingested.
    """

    input_ids: tf.RaggedTensor
    labels: tf.Tensor | tf.RaggedTensor
    example_ids: np.ndarray
    targets: np.ndarray

    def __len__(self) -> int:
        return len(self.example_ids)

    @property
    def lengths(self) -> list[np.ndarray]:
        """Tokens of each ragged feature, int [rows], in the plan's order."""
        found = [self.input_ids.row_lengths().numpy()]
        if isinstance(self.labels, tf.RaggedTensor):
            found.append(self.labels.row_lengths().numpy())
        return found

    def digest(self) -> str:
        """SHA-256 of all that the rows hold, in their order; hexadecimal."""
        sha = hashlib.sha256()
        for feature in (self.input_ids, self.labels):
            if isinstance(feature, tf.RaggedTensor):
                sha.update(feature.row_lengths().numpy().astype("<i8"))
                feature = feature.flat_values
            sha.update(feature.numpy().astype("<i4"))
        for texts in (self.example_ids, self.targets):
            # With their lengths, so that one's end is not another one's start.
            sha.update(np.fromiter(map(len, texts), "<i8", len(texts)))
            sha.update(b"".join(texts))
        return sha.hexdigest()


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
    missing = {*features.TRANSFORMED, features.EXAMPLE_ID, features.TARGET} - set(spec)
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
        targets=columns[features.TARGET].numpy(),
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


def batches(
    rows: Rows,
    plan: BatchPlan,
    *,
    pad_id: int,
    replicas: int = 1,
    local: range | None = None,
) -> tf.data.Dataset:
    """The plan's batches, in its order, each cut into one piece for each replica.

    Made for `Strategy.distribute_datasets_from_function`, which hands one element
    after the other to the replicas of its worker.

    Args:
      rows: what the plan was made for.
      plan: its batches hold multiples of `replicas` rows.
      pad_id: fills `input_ids`.
      replicas: into how many equal pieces a batch is cut.
      local: the numbers of the replicas whose pieces are wanted; None for all.

    Returns:
      A dataset of {"input_ids": int32 [piece_rows, width] padded with `pad_id`,
      "labels": int32 [piece_rows] or [piece_rows, width] padded with `IGNORED`}, all
      pieces of a batch one after the other. Absent rows repeat the first one of their
      batch, so that they fit its width, and have only `IGNORED` labels.

    Raises:
      ValueError: if a batch's rows are no multiple of `replicas`.
    """
    if (np.diff(plan.offsets) % replicas).any():
        raise ValueError(
            f"Batches of {sorted({shape[0] for shape in plan.shapes})} rows cannot be "
            f"cut for {replicas} replicas. Make the plan with `replicas={replicas}`."
        )
    local = range(replicas) if local is None else local
    numbers, offsets = tf.constant(plan.rows), tf.constant(plan.offsets)
    widths = tf.constant(plan.widths)

    def gather(element):
        batch, piece = element // len(local), local.start + element % len(local)
        start = offsets[batch]
        piece_rows = (offsets[batch + 1] - start) // replicas
        wanted = numbers[start + piece * piece_rows :][:piece_rows]
        real = wanted != ABSENT
        wanted = tf.where(real, wanted, numbers[start])
        ids = _padded(rows.input_ids, wanted, widths[batch, 0], pad_id)
        if isinstance(rows.labels, tf.RaggedTensor):
            labels = _padded(rows.labels, wanted, widths[batch, 1], IGNORED)
            real = real[:, None]
        else:
            labels = tf.gather(rows.labels, wanted)
        labels = tf.where(real, labels, IGNORED)
        return {features.INPUT_IDS: ids, features.LABELS: labels}

    options = tf.data.Options()
    # There is nothing to tune, and the end of an iterator can wait for the tuner's
    # next round: as long as the epoch took, at most a minute.
    options.autotune.enabled = False
    return (
        tf.data.Dataset.range(len(plan) * len(local))
        .map(gather, num_parallel_calls=2, deterministic=True)
        .prefetch(4)
        .with_options(options)
    )


def _padded(
    feature: tf.RaggedTensor, rows: tf.Tensor, width: tf.Tensor, fill: int
) -> tf.Tensor:
    """[rows, width]; a row of the feature is no longer than `width`."""
    values = tf.gather(feature, rows).to_tensor(fill)
    missing = width - tf.shape(values)[1]
    return tf.pad(values, [[0, 0], [0, missing]], constant_values=fill)
