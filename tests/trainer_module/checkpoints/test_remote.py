"""The same on a file system that only TensorFlow reaches: its own in memory."""

import time
import uuid

import numpy as np
import pytest
import tensorflow as tf

from trainer_module.checkpoints import files as file_systems
from trainer_module.checkpoints.files import RemoteFiles
from trainer_module.checkpoints.housekeeping import remove_abandoned
from trainer_module.checkpoints.store import CheckpointError

pytestmark = pytest.mark.slow
gfile = tf.io.gfile


@pytest.fixture
def folder() -> str:
    return f"ram://{uuid.uuid4().hex}/trainings/0123"


def put(path: str, content: bytes) -> None:
    with gfile.GFile(path, "wb") as file:
        file.write(content)


def content(path: str) -> bytes:
    with gfile.GFile(path, "rb") as file:
        return file.read()


def test_uri_is_remote_and_a_path_is_not():
    assert isinstance(file_systems.at("gs://bucket/run"), RemoteFiles)
    assert isinstance(file_systems.at("/run"), file_systems.LocalFiles)


def test_newest_and_best_are_kept_and_come_back(open_store, save, arrays_of, folder):
    store = open_store(folder=folder, keep=2)
    save(store, 1, 2)
    store.save_best(arrays_of(2), {"best": 2}, update=2)
    save(store, 3, 3)
    names = ["best-00000002", "update-00000003", "update.2-00000003"]
    assert RemoteFiles().names(folder) == names
    again = open_store(folder=folder)
    assert again.newest().name == "update.2-00000003"
    for name, array in arrays_of(2).items():
        np.testing.assert_array_equal(again.best().arrays[name], array)
    again.finish()
    assert again.newest().arrays == {}
    assert RemoteFiles().names(folder) == ["best-00000002", "update.3-00000003"]


def test_cut_off_one_is_passed_over(open_store, save, folder, told):
    save(open_store(folder=folder), 1, 2)
    path = f"{folder}/update-00000002/arrays.safetensors"
    put(path, content(path)[:-1])
    assert open_store(folder=folder).newest().name == "update-00000001"
    assert "arrays.safetensors has" in told.text


def test_half_written_one_is_cleaned_up(open_store, save, folder, told):
    save(open_store(folder=folder), 1, 2)
    gfile.remove(f"{folder}/update-00000002/state.json")
    put(f"{folder}/update-00000002/incomplete", b"")
    store = open_store(folder=folder)
    assert store.newest().name == "update-00000001"
    save(store, 2)
    assert RemoteFiles().names(folder) == ["update-00000001", "update-00000002"]
    assert told == []


def test_system_that_tensorflow_does_not_know_is_an_error_in_words(
    open_store, arrays_of, told
):
    store = open_store(folder="nowhere://bucket/run")
    with pytest.raises(CheckpointError, match="cannot be listed.*not implemented"):
        store.newest()
    store.save(arrays_of(1), {}, update=1)
    with pytest.raises(CheckpointError, match="could not be written to nowhere://"):
        store.wait()
    assert len(told) == 1


def test_training_of_unknown_age_stays(open_store, save, folder):
    save(open_store(folder=folder), 1)
    assert gfile.stat(f"{folder}/update-00000001/state.json").mtime_nsec == 0
    root = folder.rpartition("/")[0]
    assert remove_abandoned(root, keep="x") == []
    assert RemoteFiles().names(root) == ["0123"]


def test_abandoned_training_is_removed_from_what_has_times(open_store, save, tmp_path):
    root = f"file://{tmp_path}/trainings"
    save(open_store(folder=f"{root}/0123"), 1)
    (tmp_path / "trainings" / "other" / "notes").mkdir(parents=True)
    day = 24 * 60 * 60
    for days, removed in ((6, []), (8, [f"{root}/0123"])):
        now = time.time() + days * day
        assert remove_abandoned(root, keep="x", now=lambda n=now: n) == removed
    assert RemoteFiles().names(root) == ["other"]
