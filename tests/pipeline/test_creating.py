"""pipeline.creating: what is said of the file, in the command's own options."""

import pytest

from pipeline import creating
from pipeline.config import ConfigError

ROWS = "text,summary\n" + "Können Sie das für mich prüfen,möglich\n" * 9


def test_other_encoding_is_named_with_the_option_that_allows_it(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(ROWS.encode("cp1252"))
    with pytest.raises(ConfigError, match="--data: .*`--encoding=cp1252`"):
        creating.create_checkpoint(
            data=str(path),
            text="text",
            target="summary",
            encoding="utf-8",
            output=str(tmp_path / "t5"),
            shape={},
        )
    assert not (tmp_path / "t5").exists()
