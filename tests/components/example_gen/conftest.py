"""Data files as bytes, written where a test can point settings at them."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from components.example_gen import reading
from components.example_gen.settings import DataSettings
from trainer_module.progress import DataRefused


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., str]:
    """Returns a function (content, name) -> path; text is written as UTF-8."""

    def write(content: str | bytes, name: str = "data.csv") -> str:
        raw = content.encode("utf-8") if isinstance(content, str) else content
        path = tmp_path / name
        path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
        return str(path)

    return write


@pytest.fixture
def settings() -> Callable[..., DataSettings]:
    """Returns a function (train, **changes) -> settings for columns text and label."""

    def settings(train: str = "data.csv", **changes) -> DataSettings:
        return DataSettings(
            train=train, **{"text": "text", "target": "label", **changes}
        )

    return settings


@pytest.fixture
def pairs(write, settings):
    """Reads a file and returns the (text, label) pairs."""

    def pairs(content, name="data.csv", **changes):
        path = write(content, name)
        rows = reading.read_rows(path, settings(path, **changes))
        return [(row.cells["text"], row.cells["label"]) for row in rows]

    return pairs


@pytest.fixture
def refusal(write, settings):
    """Reads a file that is refused, and returns the message without the folder."""

    def refusal(content, name="data.csv", **changes):
        path = write(content, name)
        with pytest.raises(DataRefused) as error:
            list(reading.read_rows(path, settings(path, **changes)))
        return str(error.value).replace(path, name)

    return refusal
