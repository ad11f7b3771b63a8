"""Checkpoints that were cut off, altered or put out of reach."""

import json
import os
import re
import shutil

import numpy as np
import pytest

NEWEST, BEFORE = "update-00000030", "update-00000020"


@pytest.fixture
def three(open_store, save, tmp_path):
    """The folder of a training with checkpoints after updates 10, 20 and 30."""
    save(open_store(), 10, 20, 30)
    return tmp_path / "training"


def arrays_cut_off(checkpoint):
    path = checkpoint / "arrays.safetensors"
    os.truncate(path, path.stat().st_size // 2)


def arrays_with_another_bit(checkpoint):
    path = checkpoint / "arrays.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def arrays_gone(checkpoint):
    (checkpoint / "arrays.safetensors").unlink()


def arrays_a_folder(checkpoint):
    arrays_gone(checkpoint)
    (checkpoint / "arrays.safetensors").mkdir()


def arrays_of_another(checkpoint):
    shutil.copy(checkpoint.with_name(BEFORE) / "arrays.safetensors", checkpoint)


def state_cut_off(checkpoint):
    path = checkpoint / "state.json"
    os.truncate(path, path.stat().st_size - 1)


def state_empty(checkpoint):
    os.truncate(checkpoint / "state.json", 0)


def state_with_another_digit(checkpoint):
    path = checkpoint / "state.json"
    text = path.read_text()
    assert '"update": 30' in text
    path.write_text(text.replace('"update": 30', '"update": 31'))


def state_gone(checkpoint):
    (checkpoint / "state.json").unlink()


def state_huge(checkpoint):
    os.truncate(checkpoint / "state.json", (16 << 20) + 1)


def state_deep(checkpoint):
    (checkpoint / "state.json").write_text("[" * 100_000)


def state_of_another(checkpoint):
    for name in ("state.json", "arrays.safetensors"):
        shutil.copy(checkpoint.with_name(BEFORE) / name, checkpoint)


def a_file(checkpoint):
    shutil.rmtree(checkpoint)
    checkpoint.write_text("not a folder")


DAMAGE = {
    arrays_cut_off: r"is damaged \(arrays.safetensors has \d+ bytes of \d+\)",
    arrays_with_another_bit: "the checksum of arrays.safetensors does not match",
    arrays_gone: "it lacks arrays.safetensors",
    arrays_a_folder: r"cannot be read \(Is a directory\)",
    arrays_of_another: "the checksum of arrays.safetensors does not match",
    state_cut_off: r"its state.json of \d+ bytes is no JSON",
    state_empty: "its state.json of 0 bytes is no JSON",
    state_with_another_digit: "the checksum of its state.json does not match",
    state_gone: "it lacks state.json",
    state_huge: "its state.json is over 16777216 bytes",
    state_deep: "its state.json of 100000 bytes is no JSON",
    state_of_another: f"its state.json is that of {BEFORE}",
    a_file: "it is a file, not a folder",
}


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
def test_damaged_newest_is_told_and_the_one_before_used(
    three, open_store, told, damage
):
    damage(three / NEWEST)
    found = open_store().newest()
    assert (found.name, found.facts) == (BEFORE, {"update": 20})
    np.testing.assert_array_equal(found.arrays["counter"], 20)
    assert len(told) == 1
    assert re.search(DAMAGE[damage], told.text)
    assert told.text.startswith(f"The checkpoint {three / NEWEST} ")
    assert told.text.endswith(f"; the one before, {BEFORE}, is used.")


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
def test_damaged_ones_are_removed_once_a_newer_one_is_complete(
    three, open_store, save, told, damage
):
    damage(three / NEWEST)
    store = open_store(keep=2)
    assert store.newest().name == BEFORE
    save(store, 25)
    assert sorted(os.listdir(three)) == [BEFORE, "update-00000025"]
    assert open_store().newest().name == "update-00000025"
    assert len(told) == 1


def test_damaged_ones_do_not_count_among_those_kept(three, open_store, save):
    arrays_cut_off(three / NEWEST)
    arrays_cut_off(three / BEFORE)
    store = open_store(keep=2)
    store.newest()
    save(store, 25)
    assert sorted(os.listdir(three)) == ["update-00000010", "update-00000025"]


def test_good_one_of_the_name_of_a_damaged_one_is_kept(three, open_store, save):
    arrays_cut_off(three / NEWEST)
    store = open_store()
    store.newest()
    save(store, 25, 30, 40)
    assert sorted(os.listdir(three)) == ["update-00000025", NEWEST, "update-00000040"]


def test_format_of_another_version_is_refused_by_its_number(three, open_store, told):
    path = three / NEWEST / "state.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 2}))
    assert open_store().newest().name == BEFORE
    assert told == [
        f"The checkpoint {three / NEWEST} has format 2, and this version of texttune "
        "reads format 1: the version that wrote it can go on from it; the one before, "
        f"{BEFORE}, is used."
    ]


def test_two_damaged_ones_are_both_told_and_the_third_is_used(three, open_store, told):
    arrays_cut_off(three / NEWEST)
    state_cut_off(three / BEFORE)
    assert open_store().newest().name == "update-00000010"
    assert [NEWEST in told[0], BEFORE in told[1], len(told)] == [True, True, 2]


def test_all_damaged_gives_none_and_says_what_follows(three, open_store, told):
    for checkpoint in three.iterdir():
        arrays_with_another_bit(checkpoint)
    assert open_store().newest() is None
    assert len(told) == 3
    assert told[-1].endswith(
        "none before it is left, so the training starts from its beginning."
    )


def test_damaged_best_is_told(three, open_store, arrays_of, told):
    store = open_store()
    store.save_best(arrays_of(20), {}, update=20)
    store.wait()
    arrays_cut_off(three / "best-00000020")
    assert open_store().best() is None
    assert told.text.endswith("; there is no other best one.")


def test_finish_with_a_damaged_best_keeps_the_newest_whole(
    three, open_store, arrays_of
):
    store = open_store()
    store.save_best(arrays_of(20), {}, update=20)
    store.wait()
    arrays_with_another_bit(three / "best-00000020")
    store.finish()
    assert os.listdir(three) == [NEWEST]
    np.testing.assert_array_equal(store.newest().arrays["counter"], 30)


def unwritten_arrays(checkpoint):
    state_gone(checkpoint)
    (checkpoint / "incomplete").touch()
    (checkpoint / ".tmpAbC123").write_bytes(b"the library's own")


def unwritten_state(checkpoint):
    state_cut_off(checkpoint)
    (checkpoint / "incomplete").touch()


def empty(checkpoint):
    for path in checkpoint.iterdir():
        path.unlink()


@pytest.mark.parametrize(
    "cut_short", [unwritten_arrays, unwritten_state, empty], ids=lambda f: f.__name__
)
def test_what_a_kill_left_half_written_is_cleaned_up_without_a_word(
    three, open_store, save, told, cut_short
):
    cut_short(three / NEWEST)
    store = open_store()
    assert store.newest().name == BEFORE
    assert (three / NEWEST).is_dir()  # Reading changes nothing.
    save(store, 30)
    assert sorted(os.listdir(three)) == ["update-00000010", BEFORE, NEWEST]
    assert sorted(os.listdir(three / NEWEST)) == ["arrays.safetensors", "state.json"]
    assert told == []


def test_complete_one_that_still_says_incomplete_is_used(three, open_store, told):
    (three / NEWEST / "incomplete").touch()
    assert open_store().newest().name == NEWEST
    assert told == []


@pytest.mark.parametrize("name", ["arrays.safetensors", "state.json", "."])
def test_unreadable_one_is_told_and_the_one_before_used(
    three, open_store, told, without_rights_at, name
):
    without_rights_at(three / NEWEST / name, mode=0)
    assert open_store().newest().name == BEFORE
    assert "cannot be read (Permission denied)" in told.text


def test_old_one_that_cannot_be_removed_is_told_once(
    three, open_store, save, told, monkeypatch
):
    store = open_store(keep=1)
    remove = store._files.remove

    def refuse(path: str) -> None:
        if BEFORE in path:
            raise PermissionError(13, "Permission denied")
        remove(path)

    monkeypatch.setattr(store._files, "remove", refuse)
    save(store, 40, 50)
    (sentence,) = told
    assert f"{three / BEFORE} cannot be removed (Permission denied)" in sentence
