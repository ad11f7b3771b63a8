"""Limits on lengths, by the tokens of the packaged BERT."""

import itertools

import pytest

from pipeline import schema_files, schema_tools
from pipeline.config import load
from tests.e2e import jobs

pytestmark = pytest.mark.slow


def rows():
    """60 messages of three words, each one token of this vocabulary."""
    table = jobs.rows(60)
    pairs = itertools.product(jobs.OTHER_WORDS, repeat=2)
    for row, (first, second) in zip(table, pairs, strict=False):
        row["message"] = f"{first} {second} card"
    return table


@pytest.fixture
def config(job, write, tmp_path):
    job["data"] = {
        "train": jobs.write_csv(tmp_path / "rows.csv", rows()),
        **{"text": "message", "target": "intent", "id": "id"},
    }
    return load(write(job))


def test_text_may_be_twice_as_long_as_the_longest(config, tmp_path):
    path = str(tmp_path / "made.pbtxt")
    schema_tools.infer(config, job="job", output=path, force=False)
    columns = schema_files.read(path)
    assert columns["text"].max_tokens == 2 * 5  # With [CLS] and [SEP].
    assert schema_tools.diff(config, columns)[0] == []

    table = rows()
    table[8]["message"] = "card " * 8
    table[9]["message"] = "card " * 9
    jobs.write_csv(tmp_path / "rows.csv", table)
    (found,) = schema_tools.diff(config, columns)[0]
    assert found.stops and len(found.lines) == 1
    assert "(r9): 11 tokens" in found.lines[0]
