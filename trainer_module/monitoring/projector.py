"""Embeddings for TensorBoard's projector."""

import dataclasses
import os
from collections.abc import Mapping, Sequence

import numpy as np
import tensorflow as tf
from tensorboard.plugins import projector as plugin

from trainer_module.monitoring.texts import one_line

LABEL_CHARACTERS = 200


@dataclasses.dataclass(frozen=True)
class Embedding:
    """Points of a space, and what each of them is.

    Attributes:
      name: of the tensor and of its files: letters, digits and underscores.
      vectors: [rows, dims] float array.
      columns: name -> one text a row, e.g. {"label": ..., "text": ...}.
    """

    name: str
    vectors: np.ndarray
    columns: Mapping[str, Sequence[str]]

    def __post_init__(self) -> None:
        if np.ndim(self.vectors) != 2:
            raise ValueError(
                f"Embedding {self.name}: `vectors` must be [rows, dims]. "
                f"Received: {np.shape(self.vectors)}."
            )
        rows = {name: len(column) for name, column in self.columns.items()}
        if set(rows.values()) != {len(self.vectors)}:
            raise ValueError(
                f"Embedding {self.name}: each column must have a text for each of the "
                f"{len(self.vectors)} vectors. Received: {rows}."
            )


def write(folder: str, embeddings: Sequence[Embedding]) -> None:
    """Writes `projector_config.pbtxt` and two .tsv files for each embedding."""
    config = plugin.ProjectorConfig()
    for embedding in embeddings:
        tensors = f"{embedding.name}_tensors.tsv"
        metadata = f"{embedding.name}_metadata.tsv"
        _save(os.path.join(folder, tensors), _rows(embedding.vectors))
        _save(os.path.join(folder, metadata), _metadata(embedding.columns))
        config.embeddings.add(
            tensor_name=embedding.name,
            tensor_shape=embedding.vectors.shape,
            tensor_path=tensors,
            metadata_path=metadata,
        )
    plugin.visualize_embeddings(folder, config)


def _rows(vectors: np.ndarray) -> list[str]:
    return ["\t".join(f"{value:.6g}" for value in row) for row in vectors.tolist()]


def _metadata(columns: Mapping[str, Sequence[str]]) -> list[str]:
    rows = ["\t".join(map(_label, row)) for row in zip(*columns.values(), strict=True)]
    # The projector takes the only column of a file as values from its first line on.
    return rows if len(columns) == 1 else ["\t".join(columns), *rows]


def _label(text: str) -> str:
    return one_line(text, most_characters=LABEL_CHARACTERS) or "(empty)"


def _save(path: str, lines: Sequence[str]) -> None:
    tf.io.gfile.makedirs(os.path.dirname(path))
    with tf.io.gfile.GFile(path, "w") as file:
        file.write("".join(f"{line}\n" for line in lines))
