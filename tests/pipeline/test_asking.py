"""Which folder is asked, and what is said of one that cannot be."""

import re

import pytest

from pipeline import asking
from pipeline.config import ConfigError


def write_version(folder, content=""):
    folder.mkdir(parents=True)
    (folder / "saved_model.pb").write_text(content)
    return str(folder)


def test_newest_version_of_a_folder_is_asked(tmp_path):
    for number in ("2", "10", "9"):
        write_version(tmp_path / number)
    assert asking.version_dir(str(tmp_path)) == str(tmp_path / "10")


def test_version_itself_is_asked(tmp_path):
    version = write_version(tmp_path / "3")
    assert asking.version_dir(version) == version


@pytest.mark.parametrize("name", ["gone", "a-file", "empty"])
def test_folder_without_a_version_is_refused(tmp_path, name):
    (tmp_path / "a-file").write_text("")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match=f"--model .*{name}: there is no version"):
        asking.version_dir(str(tmp_path / name))


@pytest.mark.slow
@pytest.mark.parametrize("content", ["", "not a model"], ids=["empty", "damaged"])
def test_folder_that_is_no_model_is_refused_without_noise(tmp_path, content, capfd):
    version = write_version(tmp_path / "1", content)
    with pytest.raises(ConfigError, match=re.escape(f"--model {version}: ")):
        asking.answers(version, ["hello"])
    assert capfd.readouterr() == ("", "")
