"""Files that are written whole or not at all: what a failure leaves behind."""

import os
import resource
import stat

import pytest

from pipeline import whole_file

TOO_LARGE = "x" * 100_000


@pytest.fixture
def full_disk():
    """No file may grow beyond 10,000 bytes: writing on is an OSError."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_full_disk_leaves_what_was_there(tmp_path, full_disk):
    path = tmp_path / "page.html"
    path.write_text("before")
    with pytest.raises(OSError):
        whole_file.write(str(path), TOO_LARGE)
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["page.html"]


def test_full_disk_leaves_no_torn_file(tmp_path, full_disk):
    with pytest.raises(OSError):
        whole_file.write(str(tmp_path / "page.html"), TOO_LARGE)
    assert os.listdir(tmp_path) == []


def test_copy_to_a_full_disk_leaves_no_torn_file(tmp_path, request):
    (tmp_path / "source").write_text(TOO_LARGE)
    request.getfixturevalue("full_disk")
    with pytest.raises(OSError):
        whole_file.copy(str(tmp_path / "source"), str(tmp_path / "copy"))
    assert os.listdir(tmp_path) == ["source"]


def test_folder_is_refused_and_nothing_is_left(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        whole_file.write(str(tmp_path / "folder"), "text")
    assert os.listdir(tmp_path) == ["folder"]


def test_link_stays_and_its_file_is_written(tmp_path):
    (tmp_path / "file").write_text("before")
    (tmp_path / "link").symlink_to("file")
    whole_file.write(str(tmp_path / "link"), "after")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "after"


def test_pipe_is_written_to_and_stays_one(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        whole_file.write(str(path), "text")
        assert os.read(reader, 100) == b"text"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_text_that_utf8_does_not_have_leaves_no_file(tmp_path):
    with pytest.raises(UnicodeEncodeError):
        whole_file.write(str(tmp_path / "page.html"), "\ud800")
    assert os.listdir(tmp_path) == []
    whole_file.write(str(tmp_path / "a.json"), "\ud800", errors="backslashreplace")
    assert (tmp_path / "a.json").read_text() == "\\ud800"
