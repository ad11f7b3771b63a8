"""What each row adds to each sum, and the metrics that are functions of the sums."""

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np
import scipy.sparse

from components.evaluator.scores.facts import OF_TASK, Best

Value = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclasses.dataclass(frozen=True)
class Metric:
    """One number for a set of rows.

    Attributes:
      name: as configurations and reports give it.
      best: whether more of it is better, less of it, or neither.
      block: the sums that it is made of.
      value: float [..., width of the block], float [...] (how many rows) ->
        float [...]; NaN where there is nothing to compute it from.
    """

    name: str
    best: Best
    block: str
    value: Value


@dataclasses.dataclass(frozen=True)
class Sheet:
    """The sums of one model's answers.

    Attributes:
      lines: float64 [rows, columns], sparse.
      blocks: which columns each block has.
    """

    lines: scipy.sparse.csr_array
    blocks: Mapping[str, slice]

    @classmethod
    def of(cls, blocks: Mapping[str, np.ndarray | scipy.sparse.sparray]) -> "Sheet":
        """Puts blocks of [rows, width] side by side."""
        ends = np.cumsum([block.shape[1] for block in blocks.values()]).tolist()
        columns = {
            name: slice(start, end)
            for name, start, end in zip(blocks, [0, *ends], ends, strict=False)
        }
        parts = [scipy.sparse.csr_array(block) for block in blocks.values()]
        lines = scipy.sparse.hstack(parts, format="csr", dtype=np.float64)
        return cls(scipy.sparse.csr_array(lines), columns)

    @property
    def rows(self) -> int:
        return int(self.lines.shape[0])

    def only(self, chosen: np.ndarray) -> "Sheet":
        """The sheet of some rows: bool [rows], or their numbers."""
        return Sheet(self.lines[chosen], self.blocks)

    def block(self, name: str) -> "Sheet":
        """The sheet of one block alone."""
        lines = scipy.sparse.csr_array(self.lines[:, self.blocks[name]])
        return Sheet(lines, {name: slice(0, lines.shape[1])})

    def of_rows(self, block: str) -> np.ndarray:
        """float64 [rows], what each row adds to a block of one column."""
        return np.asarray(self.block(block).lines.sum(axis=1))

    def sums(self, times: np.ndarray) -> np.ndarray:
        """float64 [..., rows], how often each row counts -> [..., columns]."""
        return np.asarray(times @ self.lines)

    def value(self, metric: Metric, sums: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The metric of some sums.

        Args:
          sums: [..., columns], as `sums` gives them.
          rows: [...], how many rows each of them is over.
        """
        return metric.value(sums[..., self.blocks[metric.block]], rows)


def metrics_of(task: str, made_of: Mapping[str, tuple[str, Value]]) -> list[Metric]:
    """The metrics of a task, in the order of its facts.

    Args:
      made_of: for each, its block and its value.
    """
    return [
        Metric(name, facts.best, *made_of[name])
        for name, facts in OF_TASK[task].items()
    ]


def mean(sums: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The mean of a block of one column."""
    return divided(sums[..., 0], rows)


def divided(amount: np.ndarray, by: np.ndarray) -> np.ndarray:
    """`amount / by`; NaN where `by` is zero."""
    amount, by = np.broadcast_arrays(amount, by)
    found = np.full(amount.shape, np.nan)
    return np.divide(amount, by, out=found, where=by != 0)
