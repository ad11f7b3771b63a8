"""Which batches an update gets, and how long the loop waits for them."""

import dataclasses
import itertools
import time
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import tensorflow as tf

from trainer_module.input import batching, records
from trainer_module.input.batching import BatchPlan
from trainer_module.input.records import Rows
from trainer_module.loop.evaluator import Numbered


@dataclasses.dataclass(frozen=True)
class Window:
    """The batches of one update.

    Attributes:
      batches: as the strategy takes them.
      next_batch: of the epoch, where the next window begins.
      examples: rows, without those that only fill a batch.
      real_tokens: input and label tokens, without padding.
      padded_tokens: with padding.
      waiting_seconds: from when they were asked for to when they were there.
      rows: int64 [examples], row numbers.
    """

    batches: list
    next_batch: int
    examples: int
    real_tokens: int
    padded_tokens: int
    waiting_seconds: float
    rows: np.ndarray


class Feed:
    """Turns a split's rows into the batches of a strategy.

    Args:
      rows: the split.
      strategy: the batches are made for its replicas.
      pad_id: what input ids are padded with.
      clock: seconds, monotonic.
    """

    def __init__(
        self,
        rows: Rows,
        *,
        strategy: tf.distribute.Strategy,
        pad_id: int,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.rows, self._strategy, self._pad_id = rows, strategy, pad_id
        self._clock = clock

    def element_spec(self, plan: BatchPlan):
        return self._distributed(plan).element_spec

    def windows(self, plan: BatchPlan, *, first: int, size: int) -> Iterator[Window]:
        """The windows of an epoch from batch `first` on; the last may be smaller.

        Args:
          plan: the epoch.
          first: a batch number, a multiple of `size`.
          size: batches of a window.
        """
        batches = iter(self._distributed(plan.from_batch(first)))
        for start in range(first, len(plan), size):
            numbers = range(start, min(start + size, len(plan)))
            asked = self._clock()
            taken = list(itertools.islice(batches, len(numbers)))
            rows = np.concatenate([plan.batch(n) for n in numbers])
            yield Window(
                batches=taken,
                next_batch=numbers.stop,
                examples=int(plan.examples[start : numbers.stop].sum()),
                real_tokens=int(plan.real_tokens[start : numbers.stop].sum()),
                padded_tokens=int(plan.padded_tokens[start : numbers.stop].sum()),
                waiting_seconds=self._clock() - asked,
                rows=rows[rows != batching.ABSENT],
            )

    def numbered(self, plan: BatchPlan) -> Numbered:
        """The batches of a validation with their row numbers."""
        return self._distributed(plan), [plan.batch(n) for n in range(len(plan))]

    def names(self, rows: Iterable[int]) -> list[str]:
        return [self.rows.example_ids[n].decode("utf-8", "replace") for n in rows]

    def _distributed(self, plan: BatchPlan):
        replicas = self._strategy.num_replicas_in_sync

        def of_worker(context: tf.distribute.InputContext) -> tf.data.Dataset:
            here = replicas // context.num_input_pipelines
            first = context.input_pipeline_id * here
            return records.batches(
                self.rows,
                plan,
                pad_id=self._pad_id,
                replicas=replicas,
                local=range(first, first + here),
            )

        return self._strategy.distribute_datasets_from_function(of_worker)
