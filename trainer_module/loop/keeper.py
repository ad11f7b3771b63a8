"""Keeps a training: its weights, its optimizer and how far it is."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from trainer_module.checkpoints.store import CheckpointError, Store
from trainer_module.progress import Refusal, report

Variables = Mapping[str, list[tf.Variable]]


class Keeper:
    """Between the loop and `checkpoints.store.Store`.

    Args:
      store: where the training is kept.
      variables: what an update reads and changes, by group; see `Trainer.variables`.
      due: whether it is time to save.
      writes: whether this worker is the one that does.
    """

    def __init__(
        self,
        store: Store,
        variables: Variables,
        *,
        due: Callable[[], bool],
        writes: bool = True,
    ):
        self._store, self._variables, self._due = store, variables, due
        self._writes = writes
        self._best: dict[str, np.ndarray] | None = None

    def due(self) -> bool:
        return self._writes and self._due()

    def save(self, facts: dict[str, Any], *, update: int, wait: bool = False) -> None:
        """Saves everything; see `Store.save` for what happens on a full disk.

        Raises:
          CheckpointError: if `wait`, and something is not on the disk.
        """
        if not self._writes:
            return
        self._store.save(arrays_of(self._variables), facts, update=update)
        if wait:
            self._store.wait()

    def save_best(self, facts: dict[str, Any], *, update: int) -> None:
        """Keeps the weights as the best ones, in memory as well as on the disk."""
        self._best = arrays_of({"weights": self._variables["weights"]})
        if self._writes:
            self._store.save_best(self._best, facts, update=update)

    def best_arrays(self, *, epoch: int) -> dict[str, np.ndarray]:
        """The weights of the best epoch, of this process or of one before it.

        Raises:
          Refusal: if they cannot be read.
        """
        if self._best is not None:
            return self._best
        saved = self._store.best()
        if saved is None or saved.facts["best"]["epoch"] != epoch:
            raise Refusal(
                f"The weights of the best epoch, {epoch}, cannot be read from "
                f"{self._store.folder}. Remove this folder to train anew."
            )
        return saved.arrays

    def finish(self, facts: dict[str, Any], *, update: int) -> None:
        """Leaves on the disk what a finished training needs to be exported again."""
        if not self._writes:
            return
        try:
            self._store.save({}, facts, update=update)
            self._store.finish()
        except CheckpointError as error:
            report("note", message=str(error))  # The weights are there; go on.


def arrays_of(variables: Variables) -> dict[str, np.ndarray]:
    """Copies on the host, by group, place and name."""
    return {
        f"{group}/{place:04d}/{variable.name}": np.array(variable.numpy())
        for group, members in variables.items()
        for place, variable in enumerate(members)
    }


def restore(variables: Variables, arrays: Mapping[str, np.ndarray]) -> None:
    """Assigns what `arrays_of` gave of the same groups.

    Raises:
      ValueError: if a name or a shape differs; then nothing was assigned.
    """
    named = {
        f"{group}/{place:04d}/{variable.name}": variable
        for group, members in variables.items()
        for place, variable in enumerate(members)
    }
    wrong = sorted(set(named) ^ set(arrays))
    wrong += [
        f"{name} {arrays[name].shape} for {tuple(variable.shape)}"
        for name, variable in named.items()
        if name in arrays and arrays[name].shape != tuple(variable.shape)
    ]
    if wrong:
        raise ValueError(f"{len(wrong)} arrays do not fit: {', '.join(wrong[:5])}.")
    for name, variable in named.items():
        variable.assign(arrays[name])
