"""What is kept, what is removed, and what a failure to write does."""

import json
import os
import threading
import time
import weakref
from concurrent import futures

import numpy as np
import pytest

from trainer_module.checkpoints import files as file_systems
from trainer_module.checkpoints.store import CheckpointError, Store


def names(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_saved_arrays_and_facts_come_back_as_they_were(open_store):
    arrays = {
        "float32": np.arange(6, dtype=np.float32).reshape(2, 3),
        "float16": np.array([0.5], np.float16),
        "scalar": np.array(7, np.int64),
        "none": np.zeros((0, 3), np.float32),
        "flags": np.array([True, False]),
        "transposed": np.arange(6.0).reshape(2, 3).T,
        "every second": np.arange(6)[::2],
        "big-endian": np.arange(3, dtype=">f4"),
    }
    facts = {"update": 12, "history": [{"loss": 0.1, "rouge_l": float("inf")}]}
    store = open_store()
    store.save(arrays, facts, update=12)
    found = open_store().newest() if store.wait() is None else None
    assert (found.name, found.facts) == ("update-00000012", facts)
    assert set(found.arrays) == set(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(found.arrays[name], array)
        assert found.arrays[name].shape == array.shape
        assert found.arrays[name].dtype == array.dtype.newbyteorder("=")


def test_nothing_saved_gives_nothing_and_makes_no_folder(open_store, tmp_path, told):
    store = open_store()
    assert (store.newest(), store.best()) == (None, None)
    store.finish()
    assert names(tmp_path) == [] and told == []


def test_facts_are_those_of_the_call_though_the_caller_goes_on(open_store, arrays_of):
    history = [1]
    store = open_store(files=Held(threading.Event()))
    store.save(arrays_of(1), {"history": history}, update=1)
    history.append(2)
    store._files.gate.set()
    assert store.newest().facts == {"history": [1]}


class Held(file_systems.LocalFiles):
    """Files of this machine whose writing waits for `gate`."""

    def __init__(self, gate: threading.Event):
        self.gate = gate

    def make(self, folder: str) -> None:
        assert self.gate.wait(30)
        super().make(folder)


def test_save_returns_before_it_is_written_and_the_next_waits(open_store, arrays_of):
    gate = threading.Event()
    store = open_store(files=Held(gate))
    store.save(arrays_of(1), {}, update=1)  # Returns though the gate is shut.
    second = threading.Thread(
        target=lambda: store.save(arrays_of(2), {}, update=2), daemon=True
    )
    second.start()
    second.join(0.2)
    assert second.is_alive()
    gate.set()
    second.join(30)
    assert not second.is_alive()
    assert store.newest().name == "update-00000002"


@pytest.mark.parametrize("keep", [1, 2, 3])
def test_newest_few_and_the_best_are_kept(open_store, save, arrays_of, tmp_path, keep):
    store = open_store(keep=keep)
    save(store, 10, 20)
    store.save_best(arrays_of(20), {"best": 20}, update=20)
    save(store, 30, 40)
    kept = [f"update-{n:08d}" for n in (10, 20, 30, 40)][-keep:]
    assert names(tmp_path / "training") == ["best-00000020", *kept]


def test_new_best_replaces_the_one_before(open_store, arrays_of, tmp_path):
    store = open_store()
    for update in (5, 9):
        store.save_best(arrays_of(update), {"best": update}, update=update)
        store.wait()
    assert names(tmp_path / "training") == ["best-00000009"]
    assert store.best().facts == {"best": 9}
    assert store.newest() is None


def test_second_save_after_an_update_is_the_newer_one(open_store, arrays_of, tmp_path):
    store = open_store(keep=2)
    for note in ("first", "second", "third"):
        store.save(arrays_of(7), {"note": note}, update=7)
        store.wait()
    assert store.newest().facts == {"note": "third"}
    assert names(tmp_path / "training") == ["update.2-00000007", "update.3-00000007"]


def test_updates_of_more_digits_are_newer(open_store, save):
    store = open_store()
    save(store, 99_999_999, 100_000_000)
    assert store.newest().name == "update-100000000"


def test_files_of_others_in_the_folder_are_left_alone(open_store, save, tmp_path):
    folder = tmp_path / "training"
    (folder / "update-notes").mkdir(parents=True)
    (folder / "best.txt").write_text("mine")
    save(open_store(keep=1), 1, 2)
    assert names(folder) == ["best.txt", "update-00000002", "update-notes"]


def test_interrupted_wait_can_be_waited_for_again(open_store, arrays_of, monkeypatch):
    gate = threading.Event()
    store = open_store(files=Held(gate))
    store.save(arrays_of(1), {}, update=1)
    with monkeypatch.context() as patch:
        patch.setattr(futures, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            store.wait()
    threading.Timer(0.1, gate.set).start()
    store.wait()
    assert store._files.names(f"{store._folder}/update-00000001") == [
        "arrays.safetensors",
        "state.json",
    ]


def interrupted(writing) -> None:
    raise KeyboardInterrupt


def test_arrays_are_let_go_once_they_are_written(open_store):
    store = open_store()
    array = np.zeros(10)
    held = weakref.ref(array)
    store.save({"a": array}, {}, update=1)
    del array
    store.wait()
    for _ in range(100):  # The thread's own name for them goes a moment later.
        if held() is None:
            break
        time.sleep(0.01)
    assert held() is None


def test_each_file_is_on_the_disk_before_the_next_is_written(
    open_store, save, tmp_path, monkeypatch
):
    synced = []
    fsync = os.fsync

    def recorded(descriptor: int) -> None:
        folder = tmp_path / "training" / "update-00000002"
        path = os.readlink(f"/proc/self/fd/{descriptor}")
        there = sorted(os.listdir(folder)) if folder.is_dir() else []
        synced.append((os.path.basename(path), there))
        fsync(descriptor)

    store = open_store()
    save(store, 1)
    monkeypatch.setattr(os, "fsync", recorded)
    save(store, 2)
    arrays, state, marker = "arrays.safetensors", "state.json", "incomplete"
    assert synced == [
        ("training", []),
        (marker, [marker]),
        (arrays, [arrays, marker]),
        (state, [arrays, marker, state]),
        ("update-00000002", [arrays, marker, state]),
        ("training", [arrays, marker, state]),
    ]


def test_finished_training_keeps_the_best_and_the_facts(
    open_store, save, arrays_of, tmp_path, told
):
    store = open_store()
    save(store, 10, 20, 30)
    store.save_best(arrays_of(20), {"best": 20}, update=20)
    for _ in range(2):  # A second time changes nothing.
        store.finish()
        again = open_store()
        assert again.newest().arrays == {}
        assert again.newest().facts == {"update": 30}
        np.testing.assert_array_equal(again.best().arrays["counter"], 20)
        assert names(tmp_path / "training") == ["best-00000020", "update.2-00000030"]
    assert told == []


def test_finish_without_a_best_one_keeps_the_newest_whole(open_store, save, tmp_path):
    store = open_store()
    save(store, 10, 20)
    store.finish()
    assert names(tmp_path / "training") == ["update-00000020"]
    np.testing.assert_array_equal(store.newest().arrays["counter"], 20)


def test_finish_after_a_failure_raises_and_removes_nothing(
    open_store, save, arrays_of, tmp_path
):
    store = open_store()
    save(store, 10, 20)
    store.save_best(arrays_of(5), {}, update=5)
    store.wait()
    before = names(tmp_path / "training")
    store._files.make = cannot  # The best one of update 20 does not reach the disk.
    store.save_best(arrays_of(20), {}, update=20)
    with pytest.raises(CheckpointError, match="after update 20"):
        store.finish()
    assert names(tmp_path / "training") == before


def cannot(folder: str) -> None:
    raise OSError(28, "No space left on device")


def test_full_disk_is_told_once_and_the_training_goes_on(
    open_store, save, mounted, told
):
    disk = mounted("size=2m")
    store = open_store(folder=disk / "training")
    save(store, 1)
    large = {"w": np.zeros(1 << 20, np.float32)}
    for update in (2, 3):
        store.save(large, {}, update=update)
        with pytest.raises(CheckpointError, match="No space left on device"):
            store.wait()
    assert names(disk / "training") == ["update-00000001"]
    (sentence,) = told
    assert "after update 2, could not be written to" in sentence
    assert "it takes 4 MB, 2 MB are free" in sentence
    assert "--set runner.root=FOLDER" in sentence
    save(store, 4)
    assert store.newest().name == "update-00000004"
    assert told[1:] == [
        f"Checkpoints can be written again: {disk}/training/update-00000004 is."
    ]


def test_failed_best_is_not_forgotten_when_a_later_save_succeeds(
    open_store, save, arrays_of, tmp_path
):
    store = open_store()
    make = store._files.make
    store._files.make = cannot
    store.save_best(arrays_of(1), {}, update=1)
    store._settle()
    store._files.make = make
    store.save(arrays_of(2), {}, update=2)
    with pytest.raises(CheckpointError, match="best checkpoint so far, after update 1"):
        store.wait()
    assert names(tmp_path / "training") == ["update-00000002"]


def test_folder_that_may_not_be_written_is_told_and_raised_by_wait(
    open_store, arrays_of, told, tmp_path, without_rights_at
):
    without_rights_at(tmp_path, mode=0o555)
    store = open_store()
    store.save(arrays_of(1), {}, update=1)
    with pytest.raises(CheckpointError, match="Permission denied"):
        store.wait()
    assert len(told) == 1
    assert store.newest() is None


def test_file_in_place_of_the_training_folder_is_told(
    open_store, arrays_of, tmp_path, told
):
    (tmp_path / "training").write_text("a file")
    store = open_store()
    store.save(arrays_of(1), {}, update=1)
    with pytest.raises(CheckpointError, match="could not be written"):
        store.wait()
    assert len(told) == 1
    with pytest.raises(CheckpointError, match="cannot be listed.*Not a directory"):
        store.newest()


@pytest.mark.parametrize(
    "arrays, facts, match",
    [
        ({"a": np.array(["text"])}, {}, r"arrays\['a'\].*its type is str"),
        ({"a": np.array([None])}, {}, r"arrays\['a'\].*its type is object"),
        ({"__metadata__": np.ones(1)}, {}, "any name but __metadata__"),
        ({}, {"when": object()}, "not JSON serializable"),
    ],
    ids=["text", "object", "reserved", "fact"],
)
def test_what_files_do_not_hold_is_refused_at_once(
    open_store, tmp_path, arrays, facts, match
):
    with pytest.raises(TypeError, match=match):
        open_store().save(arrays, facts, update=1)
    assert names(tmp_path) == []


def test_facts_that_belong_into_arrays_are_refused(open_store):
    with pytest.raises(ValueError, match=r"8388608 bytes.*Received: \d+.*`arrays`"):
        open_store().save({}, {"weights": [0.25] * 2_000_000}, update=1)


def test_keep_of_none_is_refused():
    with pytest.raises(ValueError, match="`keep` must be at least 1. Received: 0"):
        Store("folder", keep=0)


def test_negative_update_is_refused(open_store):
    with pytest.raises(ValueError, match="Received: -1"):
        open_store().save({}, {}, update=-1)


def test_checkpoint_can_be_read_by_those_who_may_read_other_files(
    open_store, save, tmp_path
):
    usual = tmp_path / "usual"
    usual.write_text("")
    save(open_store(), 1)
    for file in (tmp_path / "training" / "update-00000001").iterdir():
        assert file.stat().st_mode == usual.stat().st_mode, file.name


def test_state_is_json_for_people_too(open_store, save, tmp_path):
    save(open_store(), 3)
    path = tmp_path / "training" / "update-00000003" / "state.json"
    state = json.loads(path.read_text("utf-8"))
    assert state["format"] == 1
    assert state["body"]["facts"] == {"update": 3}
    size_bytes = path.with_name("arrays.safetensors").stat().st_size
    assert state["body"]["arrays"]["size_bytes"] == size_bytes
