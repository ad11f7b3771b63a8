"""Reviewed schemas that are none: refused in words, with file and line."""

import pytest

from pipeline import schema_files
from pipeline.config import ConfigError
from tests.pipeline.conftest import ROOT


def test_shipped_schema_is_read():
    path = str(ROOT / "schemas" / "support_intent.pbtxt")
    assert schema_files.read(path)["language"].values == ("en", "zh")


@pytest.mark.parametrize(
    "content, said",
    [
        (b"text,label\nhi,a\n", 'a.pbtxt, line 1: .*no field named "text"'),
        (b"feature {\n  nam: 1\n}\n", 'a.pbtxt, line 2: .*no field named "nam"'),
        (b"", "a.pbtxt: it has no `feature`"),
        (b"caf\xe9", "a.pbtxt is no schema: it is not UTF-8 text"),
        (b"\x00\x01\x02", "a.pbtxt, line 1: "),
    ],
    ids=["csv", "key", "empty", "latin1", "binary"],
)
def test_what_is_no_schema_is_refused(tmp_path, content, said):
    path = tmp_path / "a.pbtxt"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=f"^--schema: .*{said}") as error:
        schema_files.read(str(path), "--schema")
    assert "`texttune schema infer` makes one" in str(error.value)


def test_file_that_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        schema_files.read(str(tmp_path))
