"""Published data, where it lies beside the repository, passes with its own job."""

from pathlib import Path

import pytest

from components.data_gate import core
from components.data_gate.rules.near_duplicates import find, jaccard, shingles
from components.example_gen import core as example_gen
from pipeline.config import files
from tests import public_data

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def read():
    """Returns a function (job) -> (configuration, splits), read once."""
    found = {}

    def read(name):
        public_data.path_of(name)
        if name not in found:
            config = files.load(str(ROOT / "configs" / f"{name}.yaml"))
            splits = example_gen.ingest(config.data, config.task).splits
            found[name] = config, splits
        return found[name]

    return read


def check(config, splits):
    found = core.check(splits, [], domains={}, settings=config.data, task=config.task)
    return {(f.severity, f.rule): f for f in found}


def test_banking77_passes_with_its_leaks_and_near_duplicates_noted(read):
    found = check(*read("banking77"))
    assert set(found) == {("note", "leaked_text"), ("note", "near_duplicate")}
    assert "7 of 3080 (0.23%)" in found["note", "leaked_text"].message
    assert "54 of 3080 (1.75%)" in found["note", "near_duplicate"].message


def test_tweetsumm_passes_without_a_finding(read):
    assert check(*read("tweetsumm")) == {}


def test_near_duplicates_of_banking77_are_those_of_comparing_all(read):
    _, splits = read("banking77")
    train = [row.text for row in splits["train"]]
    held = [row.text for row in splits["eval"]][::31]  # 100, for time.
    known = [shingles(text) for text in train]
    similar = [
        number
        for number, ours in enumerate(map(shingles, held))
        if any(jaccard(ours, theirs) >= 0.75 for theirs in known)
    ]
    assert len(similar) > 3
    found = find(train, held, similarity=0.75)
    assert [pair.held for pair in found.pairs] == similar
