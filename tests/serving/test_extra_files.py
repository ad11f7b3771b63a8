"""Publishing with extra files: in the same step, and part of what a version is."""

import os

import pytest

from serving import promotion
from tests.serving.models import leftovers, make_model, tree

PROFILE = "assets.extra/data_profile.json"


def test_extra_files_are_in_the_version_and_not_in_the_model(tmp_path):
    base_dir, model = tmp_path / "base", make_model(tmp_path / "model")
    before = tree(model)
    promotion.publish(model, str(base_dir), extra_files={PROFILE: b"seven"})
    assert tree(base_dir / "1") == {**before, PROFILE: b"seven"}
    assert tree(model) == before


def test_extra_file_replaces_that_of_an_old_version_published_again(tmp_path):
    base_dir, model = tmp_path / "base", make_model(tmp_path / "model")
    promotion.publish(model, str(base_dir), extra_files={PROFILE: b"old"})
    old = str(base_dir / "1")
    assert promotion.publish(old, str(base_dir)).created is False
    new = promotion.publish(old, str(base_dir), extra_files={PROFILE: b"newer"})
    assert new == promotion.Publication(2, True)
    assert tree(base_dir / "2")[PROFILE] == b"newer"
    assert tree(old)[PROFILE] == b"old"


@pytest.mark.parametrize(
    "extra_files, publication",
    [
        ({PROFILE: b"seven"}, promotion.Publication(1, False)),
        ({PROFILE: b"eight"}, promotion.Publication(2, True)),
        ({}, promotion.Publication(2, True)),
    ],
    ids=["same", "other_of_the_same_size", "none"],
)
def test_same_model_is_the_same_version_with_the_same_extra_files_only(
    tmp_path, extra_files, publication
):
    base_dir, model = str(tmp_path / "base"), make_model(tmp_path / "model")
    promotion.publish(model, base_dir, extra_files={PROFILE: b"seven"})
    again = promotion.publish(model, base_dir, extra_files=extra_files)
    assert again == publication


@pytest.mark.parametrize(
    "path", ["saved_model.pb", "assets.extra/../saved_model.pb", "/x", "assets.extra"]
)
def test_extra_file_that_the_server_would_read_is_refused(tmp_path, path):
    base_dir, model = tmp_path / "base", make_model(tmp_path / "model")
    with pytest.raises(ValueError, match="must lie below assets.extra/"):
        promotion.publish(model, str(base_dir), extra_files={path: b""})
    assert not base_dir.exists()


def test_a_version_is_never_seen_without_its_extra_files(tmp_path, monkeypatch):
    base_dir, model = tmp_path / "base", make_model(tmp_path / "model")
    rename, seen = os.rename, []

    def look_then_rename(source, target):
        seen.append((tree(source).get(PROFILE), os.path.exists(target)))
        rename(source, target)

    monkeypatch.setattr(os, "rename", look_then_rename)
    promotion.publish(model, str(base_dir), extra_files={PROFILE: b"seven"})
    assert seen == [(b"seven", False)]


def test_extra_file_that_does_not_fit_leaves_nothing(tmp_path, mounted):
    disk = mounted("size=2m")
    large = {PROFILE: b"x" * 3_000_000}
    with pytest.raises(promotion.NoSpaceLeft, match=r"3\.0 MB needed"):
        promotion.publish(make_model(tmp_path / "model"), str(disk), extra_files=large)
    assert promotion.versions(str(disk)) == [] and leftovers(disk) == []


NOTE = "assets.extra/run_facts.json"


def test_note_is_in_the_version_and_makes_no_other_one(tmp_path):
    base_dir, model = tmp_path / "base", make_model(tmp_path / "model")
    first = promotion.publish(model, str(base_dir), notes={NOTE: b"run 1"})
    again = promotion.publish(model, str(base_dir), notes={NOTE: b"run 22"})
    assert (first, again) == (
        promotion.Publication(1, True),
        promotion.Publication(1, False),
    )
    assert tree(base_dir / "1") == {**tree(model), NOTE: b"run 1"}


def test_model_of_a_release_without_notes_keeps_its_version(tmp_path):
    base_dir, model = str(tmp_path / "base"), make_model(tmp_path / "model")
    promotion.publish(model, base_dir, extra_files={PROFILE: b"seven"})
    again = promotion.publish(
        model, base_dir, extra_files={PROFILE: b"seven"}, notes={NOTE: b"run 2"}
    )
    assert again == promotion.Publication(1, False)


def test_note_that_the_server_would_read_is_refused(tmp_path):
    model = make_model(tmp_path / "model")
    with pytest.raises(ValueError, match="must lie below assets.extra/"):
        promotion.publish(model, str(tmp_path / "base"), notes={"variables/x": b""})
