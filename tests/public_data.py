"""The public data sets, which lie beside the repository where a machine has them."""

from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def path_of(name: str) -> Path:
    """The file or folder; skips the test that needs it where it is not there."""
    path = DATA / name
    if not path.exists():
        # Others publish it under licences of their own, so no clone has it.
        pytest.skip(f"{path} is not there: public data is no part of the repository")
    return path
