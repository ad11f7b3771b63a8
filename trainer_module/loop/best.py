"""Which epoch is the best, and when no better one is to be expected. Pure."""

import math
from typing import Any

from trainer_module.settings import EarlyStopping, KeepBest


class Best:
    """Follows one metric of the eval split over the epochs.

    Args:
      keep: the metric, and whether less or more of it is better.
      stopping: when to give up; None never does.
    """

    def __init__(self, keep: KeepBest, stopping: EarlyStopping | None):
        self._keep, self._stopping = keep, stopping
        self.value: float | None = None
        self.epoch: int | None = None
        self._reference: float | None = None
        self._epochs_without = 0

    def offer(self, value: float, *, epoch: int) -> bool:
        """Whether this is the best value so far; NaN never is."""
        is_best = self._better(value, self.value, by=0.0)
        if is_best:
            self.value, self.epoch = value, epoch
        change = self._stopping.min_change if self._stopping else 0.0
        if self._better(value, self._reference, by=change):
            self._reference, self._epochs_without = value, 0
        else:
            self._epochs_without += 1
        return is_best

    @property
    def exhausted(self) -> bool:
        """Whether early stopping ends the training here."""
        return (
            self._stopping is not None
            and self._epochs_without >= self._stopping.patience_epochs
        )

    def facts(self) -> dict[str, Any]:
        """What `restore` takes: JSON."""
        return {
            "value": self.value,
            "epoch": self.epoch,
            "reference": self._reference,
            "epochs_without": self._epochs_without,
        }

    def restore(self, facts: dict[str, Any]) -> None:
        self.value, self.epoch = facts["value"], facts["epoch"]
        self._reference = facts["reference"]
        self._epochs_without = facts["epochs_without"]

    def _better(self, value: float, than: float | None, *, by: float) -> bool:
        if math.isnan(value):
            return False
        if than is None:
            return True
        return value < than - by if self._keep.direction == "min" else value > than + by
