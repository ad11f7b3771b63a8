import json

import pytest

from trainer_module.progress import EVENTS_VARIABLE


@pytest.fixture
def notes(tmp_path, monkeypatch):
    """Gives the notes that the run's events hold so far."""
    path = tmp_path / "events.jsonl"
    monkeypatch.setenv(EVENTS_VARIABLE, str(path))

    def told() -> list[str]:
        lines = path.read_text().splitlines() if path.exists() else []
        return [e["message"] for e in map(json.loads, lines) if e["kind"] == "note"]

    return told
