"""components.data_gate.served: the newest version, and what lies beside it."""

import pytest

from components.data_gate.drift import served


def make_version(folder, profile=b"{}", model="saved_model.pb"):
    (folder / "assets.extra").mkdir(parents=True)
    (folder / model).write_text("")
    if profile is not None:
        (folder / "assets.extra" / "data_profile.json").write_bytes(profile)


@pytest.mark.parametrize("make", [True, False], ids=["empty", "missing"])
def test_folder_without_a_version_has_nothing_to_compare_with(tmp_path, make):
    folder = tmp_path / "serving"
    if make:
        folder.mkdir()
    assert served.newest(str(folder)) is None
    assert served.fingerprint(str(folder)) == ""


def test_newest_version_is_the_highest_number_and_not_the_last_name(tmp_path):
    for number in ("2", "9", "10"):
        make_version(tmp_path / number, profile=number.encode())
    found = served.newest(str(tmp_path))
    assert found == served.Served(str(tmp_path / "10"), 10, b"10")


@pytest.mark.parametrize(
    "name, model",
    [
        (".incoming-3", "saved_model.pb"),
        ("3.old", "saved_model.pb"),
        ("-3", "saved_model.pb"),
        ("3", "other.pb"),
    ],
    ids=["in_progress", "no_number", "negative", "no_model"],
)
def test_what_is_no_version_is_passed_over(tmp_path, name, model):
    make_version(tmp_path / "2", profile=b"two")
    make_version(tmp_path / name, model=model)
    assert served.newest(str(tmp_path)).profile == b"two"


def test_version_0_is_none(tmp_path):
    make_version(tmp_path / "0")
    assert served.newest(str(tmp_path)) is None


def test_version_without_a_profile_says_why(tmp_path):
    make_version(tmp_path / "1", profile=b"one")
    make_version(tmp_path / "2", profile=None)
    found = served.newest(str(tmp_path))
    assert (found.version, found.profile) == (2, None)
    assert found.problem == (
        "it has no assets.extra/data_profile.json, for it was promoted by hand or by "
        "an earlier release"
    )


def test_profile_that_is_a_folder_cannot_be_read(tmp_path):
    make_version(tmp_path / "1", profile=None)
    (tmp_path / "1" / "assets.extra" / "data_profile.json").mkdir()
    assert "cannot be read (Is a directory)" in served.newest(str(tmp_path)).problem


def test_fingerprint_changes_with_the_version_and_with_its_profile(tmp_path):
    seen = {served.fingerprint(str(tmp_path))}
    make_version(tmp_path / "1", profile=b"one")
    seen.add(served.fingerprint(str(tmp_path)))
    make_version(tmp_path / "2", profile=b"one")
    seen.add(served.fingerprint(str(tmp_path)))
    (tmp_path / "2" / "assets.extra" / "data_profile.json").write_bytes(b"two")
    seen.add(served.fingerprint(str(tmp_path)))
    (tmp_path / "2" / "assets.extra" / "data_profile.json").unlink()
    seen.add(served.fingerprint(str(tmp_path)))
    assert len(seen) == 5
    assert served.fingerprint(str(tmp_path)) in seen
