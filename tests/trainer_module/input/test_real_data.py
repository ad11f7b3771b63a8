"""Padding of published texts, where they lie beside the repository: below a tenth."""

import csv
import json

import numpy as np
import pytest

from tests import public_data
from trainer_module.input import batching

pytestmark = pytest.mark.slow


def texts_of(name: str) -> list[tuple[str, str]]:
    path = public_data.path_of(name)
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            return [(row["text"], row["category"]) for row in csv.DictReader(file)]
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [
        (r.get("dialogue") or r["source"], r.get("summary") or r["target"])
        for r in rows
    ]


@pytest.fixture(scope="module")
def bert_lengths(minilm_dir):
    """Tokens of Banking77 for MiniLM, cut at 96."""
    import tensorflow as tf

    from trainer_module import tokenization
    from trainer_module.settings import ModelSettings

    texts = [text for text, _ in texts_of("banking77/train.csv")]
    settings = ModelSettings(checkpoint=minilm_dir, max_source_tokens=96)
    tokenizer = tokenization.load(minilm_dir, settings)
    return [tokenizer.encode(tf.constant(texts)).row_lengths().numpy()]


@pytest.fixture(scope="module")
def t5_lengths(tmp_path_factory):
    """Tokens of a file for a T5 made from its texts, sources cut at 512."""
    import tensorflow as tf

    from trainer_module import tokenization
    from trainer_module.create_checkpoint import create
    from trainer_module.settings import CreateCheckpoint, ModelSettings

    made = {}

    def lengths(name: str) -> list[np.ndarray]:
        if name not in made:
            rows = texts_of(name)
            path = str(tmp_path_factory.mktemp("t5") / "checkpoint")
            shape = CreateCheckpoint(vocabulary_size=4000, layers=1, width=16, heads=2)
            create((text for row in rows for text in row), shape, path)
            settings = ModelSettings(
                checkpoint=path, prefix="summarize: ", max_source_tokens=512
            )
            tokenizer = tokenization.load(path, settings)
            sources, targets = map(tf.constant, zip(*rows, strict=True))
            made[name] = [
                tokenizer.encode(sources).row_lengths().numpy(),
                tokenizer.encode_target(targets).row_lengths().numpy(),
            ]
        return made[name]

    return lengths


def check(lengths: list[np.ndarray], batch_size: int) -> None:
    shares = []
    for table in (batching.MAX_SHAPES, batching.MAX_SHAPES_UNCOMPILED):
        most = table[len(lengths)]
        first, second = (
            batching.plan_training(
                lengths, batch_size=batch_size, seed=0, epoch=epoch, max_shapes=most
            )
            for epoch in (0, 1)
        )
        assert len(first.shapes) <= most
        assert first.shapes == second.shapes
        shares.append(first.padding_share)
    compiled, uncompiled = shares
    assert uncompiled <= compiled < 0.1


@pytest.mark.parametrize("batch_size", [16, 32])
def test_banking77_is_padded_by_less_than_a_tenth(bert_lengths, batch_size):
    check(bert_lengths, batch_size)


@pytest.mark.parametrize("batch_size", [16, 32])
@pytest.mark.parametrize("max_source_tokens", [384, 512])
@pytest.mark.parametrize(
    "name", ["tweetsumm/tweetsumm.jsonl", "scitldr/train.clean.jsonl"]
)
def test_summaries_are_padded_by_less_than_a_tenth(
    t5_lengths, name, max_source_tokens, batch_size
):
    sources, targets = t5_lengths(name)
    check([np.minimum(sources, max_source_tokens), targets], batch_size)
