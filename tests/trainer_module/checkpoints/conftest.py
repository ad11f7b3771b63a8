"""Stores on plain files, and a user who may not do everything."""

import os

import numpy as np
import pytest

from trainer_module.checkpoints.store import Store

NOBODY = 65534


class Told(list):
    """Sentences that were told."""

    @property
    def text(self) -> str:
        return "\n".join(self)


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def open_store(tmp_path, told):
    """Opens stores on one folder, each as a new start of the training would."""
    opened = []

    def make(**options) -> Store:
        folder = options.pop("folder", tmp_path / "training")
        opened.append(Store(str(folder), tell=told.append, **options))
        return opened[-1]

    yield make
    for store in opened:
        store.close()


@pytest.fixture
def arrays_of():
    """Arrays that show which update they are of."""

    def make(update: int) -> dict[str, np.ndarray]:
        return {
            "kernel": np.full((4, 8), update, np.float32),
            "adam/m": np.full((3,), -update, np.float32),
            "counter": np.array(update, np.int64),
        }

    return make


@pytest.fixture
def save(arrays_of):
    """Saves updates one after the other, and waits for each."""

    def saved(store: Store, *updates: int) -> None:
        for update in updates:
            store.save(arrays_of(update), {"update": update}, update=update)
            store.wait()

    return saved


@pytest.fixture
def without_rights_at():
    """Sets a path's mode, and goes on as a user whom modes bind: root is not."""
    changed = []

    def set_mode(path, mode: int) -> None:
        changed.append((path, path.stat().st_mode))
        path.chmod(mode)

    def take(path, *, mode: int) -> None:
        for parent in path.resolve().parents:
            if not parent.stat().st_mode & 1:  # Pytest's folders are its user's only.
                set_mode(parent, 0o755)
        set_mode(path, mode)
        if os.geteuid() == 0:
            os.seteuid(NOBODY)

    yield take
    if os.getuid() == 0:
        os.seteuid(0)
    for path, mode in reversed(changed):
        path.chmod(mode)
