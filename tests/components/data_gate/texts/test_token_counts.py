"""Tokens of many texts, equal to those of each one, by the packaged BERT."""

import pytest

from components.data_gate.texts import token_counts
from pipeline import checkpoints
from pipeline.config import load
from tests.pipeline.conftest import ROOT
from trainer_module.settings import ModelSettings

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def minilm() -> str:
    return checkpoints.locate(load(str(ROOT / "configs" / "intent.yaml")))


@pytest.fixture(scope="module")
def count_tokens(minilm):
    return token_counts.counter(
        minilm, ModelSettings(checkpoint=minilm, max_source_tokens=4)
    )


def test_texts_of_several_batches_are_counted_in_their_order(count_tokens):
    texts = ["card " * (i % 7) for i in range(2500)]
    found = count_tokens("text", texts)
    assert found.lengths.tolist() == [i % 7 + 2 for i in range(2500)]
    assert found.unknowns.sum() == 0 and not found.pieces


def test_unknown_pieces_are_told_with_how_often(count_tokens):
    found = count_tokens("text", ["a 😀", "b", "😀 😀 🐈"])
    assert found.unknowns.tolist() == [1, 0, 3]
    assert found.pieces == {"😀": 3, "🐈": 1}


def test_no_text_has_no_counts(count_tokens):
    found = count_tokens("text", [])
    assert found.lengths.tolist() == [] and found.unknowns.tolist() == []


def test_bert_reads_as_many_tokens_as_it_has_positions(minilm):
    assert token_counts.max_positions(minilm) == 512


def test_checkpoint_without_positions_reads_any_number(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "t5"}')
    assert token_counts.max_positions(str(tmp_path)) is None
