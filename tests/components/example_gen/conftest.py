"""Data files as bytes, written where a test can point settings at them."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from components.example_gen.settings import DataSettings


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
