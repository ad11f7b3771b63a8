"""Histograms of weights and gradients."""

import collections
from collections.abc import Iterable
from typing import Any

import numpy as np
import tensorflow as tf
from tensorboard.plugins.histogram.summary_v2 import histogram_pb
from tensorboard.util import tensor_util

from trainer_module.monitoring.notes import note

_BINS = 30  # As many as TensorBoard shows.


def write(group: str, arrays: Iterable[tuple[str, Any]], *, step: int) -> None:
    """Writes a histogram of each array, as <group>/<name>, with the default writer.

    Values that are not finite have no place in a histogram; they are noted.

    Args:
      group: "weights" or "gradients".
      arrays: (name, array of numbers); a tensor's ":0" is left out of its name.
      step: updates done.
    """
    seen: collections.Counter[str] = collections.Counter()
    for name, values in arrays:
        plain = name.removesuffix(":0")
        seen[plain] += 1
        tag = f"{group}/{plain}" + (f"_{seen[plain]}" if seen[plain] > 1 else "")
        array = np.asarray(values, np.float32).ravel()
        finite = array[np.isfinite(array)]
        if finite.size < array.size:
            note(
                f"At update {step} {array.size - finite.size} of {array.size} values "
                f"of {tag} are not finite; its histogram is of the others."
            )
        tf.summary.experimental.write_raw_pb(
            _histogram(tag, finite).SerializeToString(), step=step
        )


def _histogram(tag: str, finite: np.ndarray) -> Any:
    """What `tf.summary.histogram` writes, which takes a minute for 23 million values.

    Args:
      tag: its name.
      finite: [values] float array.
    """
    summary = histogram_pb(tag, [])
    if finite.size:
        counts, edges = np.histogram(finite.astype(np.float64), bins=_BINS)
        rows = np.stack([edges[:-1], edges[1:], counts], axis=1)
        tensor = tensor_util.make_tensor_proto(rows, dtype=np.float64)
        summary.value[0].tensor.CopyFrom(tensor)
    return summary
