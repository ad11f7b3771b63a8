"""Trainings that were given up are removed, and nothing else is."""

import os
import shutil
import time

import pytest

from trainer_module.checkpoints.housekeeping import remove_abandoned

DAY = 24 * 60 * 60


@pytest.fixture
def root(tmp_path):
    path = tmp_path / "trainings"
    path.mkdir()
    return path


@pytest.fixture
def training(root, open_store, save):
    """Makes a training's folder that was last written to so many days ago."""

    def make(name: str, *, days: float, within=root):
        save(open_store(folder=within / name), 1, 2)
        age(within / name, days)
        return within / name

    return make


def age(folder, days: float) -> None:
    then = time.time() - days * DAY
    for path in [*folder.rglob("*"), folder]:
        os.utime(path, (then, then), follow_symlinks=False)


def names(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_only_what_nobody_wrote_to_for_long_is_removed(root, training, told):
    training("0123", days=7.1)
    training("4567", days=6.9)
    training("89ab", days=400)
    removed = remove_abandoned(str(root), keep=str(root / "89ab"), tell=told.append)
    assert removed == [str(root / "0123")]
    assert names(root) == ["4567", "89ab"]
    assert told == []


@pytest.mark.parametrize("form", ["{}/kept", "{}/kept/", "kept"])
def test_present_training_stays_however_it_is_named(root, training, form):
    training("kept", days=400)
    assert remove_abandoned(str(root), keep=form.format(root)) == []
    assert names(root) == ["kept"]


def test_one_late_write_is_enough_to_stay(root, training):
    file = training("0123", days=400) / "update-00000001" / "state.json"
    os.utime(file)
    assert remove_abandoned(str(root), keep="none") == []
    assert file.is_file()


def test_age_is_counted_in_days_by_the_given_clock(root, training):
    training("0123", days=0)
    tomorrow = time.time() + DAY

    def removed(days: float) -> list[str]:
        return remove_abandoned(
            str(root), keep="none", max_age_days=days, now=lambda: tomorrow
        )

    assert removed(1.1) == []
    assert removed(0.9) == [str(root / "0123")]


def no_state(folder):
    for file in folder.glob("*/state.json"):
        file.unlink()


def state_of_something_else(folder):
    for file in folder.glob("*/state.json"):
        file.write_text('{"format": 1, "version": 4}')


def only_names(folder):
    for checkpoint in folder.iterdir():
        shutil.rmtree(checkpoint)
        checkpoint.mkdir()


@pytest.mark.parametrize("change", [no_state, state_of_something_else, only_names])
def test_folder_without_a_checkpoint_that_can_be_read_stays(root, training, change):
    folder = training("0123", days=400)
    change(folder)
    age(folder, 400)
    before = sorted(folder.rglob("*"))
    assert remove_abandoned(str(root), keep="none") == []
    assert sorted(folder.rglob("*")) == before


def test_first_checkpoint_that_was_never_complete_is_removed(root):
    checkpoint = root / "0123" / "update-00000001"
    checkpoint.mkdir(parents=True)
    (checkpoint / "incomplete").touch()
    age(root / "0123", 8)
    assert remove_abandoned(str(root), keep="none") == [str(root / "0123")]
    assert names(root) == []


def test_other_files_beside_the_checkpoints_stay(root, training):
    folder = training("0123", days=8)
    (folder / "notes.txt").write_text("mine")
    age(folder, 8)
    assert remove_abandoned(str(root), keep="none") == [str(folder)]
    assert names(folder) == ["notes.txt"]


def test_links_are_not_followed(root, training, tmp_path):
    elsewhere = training("theirs", days=400, within=tmp_path)
    (root / "link").symlink_to(elsewhere)
    os.utime(root / "link", (1, 1), follow_symlinks=False)
    linked = training("0123", days=400)
    (linked / "update-00000009").symlink_to(elsewhere / "update-00000001")
    age(linked, 400)
    assert remove_abandoned(str(root), keep="none") == [str(linked)]
    assert names(elsewhere) == ["update-00000001", "update-00000002"]
    assert names(linked) == ["update-00000009"]
    assert (root / "link").is_symlink()


def test_root_that_is_not_there_or_a_file_is_no_error(root, told):
    (root / "file").write_text("")
    assert remove_abandoned(f"{root}/none", keep="a", tell=told.append) == []
    assert told == []
    assert remove_abandoned(f"{root}/file", keep="a", tell=told.append) == []
    assert told == [
        f"Old checkpoints in {root}/file cannot be removed (Not a directory). They "
        "only take up room: remove those of other trainings by hand."
    ]


def test_one_that_cannot_be_removed_is_told_and_the_others_go(
    root, training, told, without_rights_at
):
    stays = training("0123", days=8)
    goes = training("4567", days=8)
    for path in [root, *goes.rglob("*"), goes]:
        path.chmod(0o777)
    age(goes, 8)
    without_rights_at(stays / "update-00000001", mode=0o555)
    removed = remove_abandoned(str(root), keep="none", tell=told.append)
    assert removed == [str(goes)]
    (sentence,) = told
    assert f"{stays} cannot be removed (Permission denied)" in sentence
