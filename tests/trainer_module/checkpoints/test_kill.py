"""A kill at any moment leaves a checkpoint to go on from."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from trainer_module.checkpoints import folder as folders
from trainer_module.checkpoints.files import LocalFiles
from trainer_module.checkpoints.store import Store

ROOT = Path(__file__).resolve().parents[3]
KILLS = 12


def killed_after(seconds: float, folder: Path) -> list[str]:
    """Starts the training, kills it a while after its first save; what it printed."""
    training = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("saving.py")), str(folder)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    lines = [training.stdout.readline(), training.stdout.readline()]
    time.sleep(seconds)
    training.send_signal(signal.SIGKILL)
    rest, _ = training.communicate(timeout=60)
    assert training.returncode == -signal.SIGKILL
    return [line.strip() for line in [*lines, *rest.splitlines()]]


def test_process_killed_at_random_moments_goes_on_where_it_was(tmp_path, told):
    folder = tmp_path / "training"
    moments = random.Random(0)
    on_disk = 0
    for _ in range(KILLS):
        start, *updates = killed_after(moments.uniform(0, 0.1), folder)
        assert start == f"from {on_disk}"  # And nothing was told before.
        store = Store(str(folder), keep=2, tell=told.append)
        newest, best = store.newest(), store.best()
        store.close()
        on_disk = newest.facts["update"]
        assert on_disk - int(updates[-1]) in (0, 1)  # One may have been in flight.
        # The best one is saved first, so it may be of the update in flight.
        best_update = best.facts["update"] if best else 0
        assert best_update in (on_disk // 3 * 3, on_disk + 1)
        for saved in filter(None, (newest, best)):
            update = saved.facts["update"]
            np.testing.assert_array_equal(saved.arrays["a"], np.full(50_000, update))
            np.testing.assert_array_equal(saved.arrays["b"], np.full(3, -update))
        # One in flight, and one that was to be removed.
        assert len(os.listdir(folder)) <= 3 + 2
    assert told == []


class Killed(BaseException):
    """Ends everything at once: nothing catches it to clean up."""


class FilesUntilKilled(LocalFiles):
    """Files of this machine that change nothing more after some changes."""

    def __init__(self, changes: int):
        self.left = changes

    def _change(self) -> None:
        if self.left == 0:
            raise Killed
        self.left -= 1

    def make(self, folder):
        self._change()
        super().make(folder)

    def write(self, path, content):
        self._change()
        super().write(path, content[: len(content) // 2])  # Killed in the middle.
        self._change()
        super().write(path, content)

    def new_file(self, path):
        self._change()
        return super().new_file(path)

    def remove(self, path):
        self._change()
        super().remove(path)


def test_removal_cut_short_leaves_one_that_is_whole_or_half_written(
    tmp_path, open_store, save
):
    states = []
    for changes in range(10):
        store = open_store(folder=tmp_path / str(changes))
        save(store, 1)
        path = str(tmp_path / str(changes) / "update-00000001")
        with contextlib.suppress(Killed):
            folders.remove(FilesUntilKilled(changes), path)
        whole = os.path.exists(f"{path}/state.json")
        states.append("whole" if whole else "half" if os.path.exists(path) else "gone")
        if whole:
            assert store.newest().facts == {"update": 1}
        else:
            assert not os.path.exists(path) or folders.is_half_written(
                LocalFiles(), path
            )
    assert states[0] == "whole" and "half" in states and states[-1] == "gone"


def train_until_killed(store: Store, save, arrays_of) -> list[str]:
    """Goes through all that a training does with its checkpoints; the steps done."""
    done = []
    try:
        save(store, 10)
        done.append("10")
        for update in (20, 30):
            store.save_best(arrays_of(update), {"best": update}, update=update)
            save(store, update)
            done.append(str(update))
        store.finish()
        done.append("finish")
    except Killed:
        pass
    return done


NEWEST_AFTER = {"10": {10, 20}, "20": {20, 30}, "30": {30}, "finish": {30}}
BEST_AFTER = {"10": {None, 20}, "20": {20, 30}, "30": {30}, "finish": {30}}


@pytest.mark.parametrize("keep", [1, 2])
def test_kill_between_any_two_changes_leaves_what_was_on_the_disk(
    tmp_path, open_store, save, arrays_of, told, monkeypatch, keep
):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # Power stays on.
    changes, done = 0, []
    while "finish" not in done:
        folder = tmp_path / f"after-{changes}"
        files = FilesUntilKilled(changes)
        done = train_until_killed(
            open_store(folder=folder, keep=keep, files=files), save, arrays_of
        )
        again = open_store(folder=folder, keep=keep)
        newest, best = again.newest(), again.best()
        if done:
            assert newest.facts["update"] in NEWEST_AFTER[done[-1]], changes
            assert (best and best.facts["best"]) in BEST_AFTER[done[-1]], changes
        save(again, 40)  # The next start cleans up, and then there is no more.
        again.save_best(arrays_of(40), {"best": 40}, update=40)
        again.wait()
        assert len(os.listdir(folder)) <= keep + 1, changes
        changes += 1
    assert changes > 40
    assert told == []
