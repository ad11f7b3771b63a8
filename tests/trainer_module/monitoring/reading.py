"""Event files, read as TensorBoard itself reads them."""

import numpy as np
from tensorboard.backend.event_processing.plugin_event_accumulator import (
    EventAccumulator,
)
from tensorboard.util import tensor_util


def read(folder) -> EventAccumulator:
    everything = {"scalars": 0, "text": 0, "histograms": 0, "hparams": 0}
    events = EventAccumulator(str(folder), tensor_size_guidance=everything)
    events.Reload()
    return events


def tags(events: EventAccumulator) -> set[str]:
    return set(events.Tags()["tensors"])


def values(events: EventAccumulator, tag: str) -> dict[int, np.ndarray | float | bytes]:
    """Step -> what was written, in the order of the files.

    Raises:
      AssertionError: if a step is there twice, or they go back.
    """
    found = events.Tensors(tag)
    steps = [event.step for event in found]
    assert steps == sorted(set(steps)), steps
    arrays = [tensor_util.make_ndarray(event.tensor_proto) for event in found]
    return {
        step: array.item() if array.ndim == 0 else array
        for step, array in zip(steps, arrays, strict=True)
    }
