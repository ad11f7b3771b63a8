"""A small T5 directory made from texts alone."""

import json
import os

import numpy as np
import pytest
import transformers
from safetensors.numpy import load_file

from trainer_module.create_checkpoint import SENTINELS, create
from trainer_module.settings import CreateCheckpoint

pytestmark = pytest.mark.slow

SHAPE = CreateCheckpoint(vocabulary_size=200, layers=1, width=16, heads=2)


def test_folder_has_safetensors_config_and_tokenizer_and_no_pickle(tiny_t5_dir):
    assert sorted(os.listdir(tiny_t5_dir)) == [
        "config.json",
        "generation_config.json",
        "model.safetensors",
        "special_tokens_map.json",
        "spiece.model",
        "tokenizer.json",
        "tokenizer_config.json",
    ]


def test_embedding_holds_every_token_of_the_tokenizer(tiny_t5_dir):
    with open(os.path.join(tiny_t5_dir, "config.json")) as f:
        config = json.load(f)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_t5_dir)
    weights = load_file(os.path.join(tiny_t5_dir, "model.safetensors"))
    assert weights["shared.weight"].shape == (config["vocab_size"], 16)
    assert 0 <= config["vocab_size"] - len(tokenizer) < 8
    assert max(tokenizer.get_vocab().values()) < config["vocab_size"]
    assert (config["num_layers"], config["num_heads"], config["d_kv"]) == (1, 2, 8)
    assert tokenizer.convert_ids_to_tokens([0, 1, 2]) == ["<pad>", "</s>", "<unk>"]
    assert len([t for t in tokenizer.get_vocab() if t.startswith("<extra_id_")]) == (
        SENTINELS
    )


def test_every_weight_of_the_folder_is_read_back(tiny_t5_dir):
    model, info = transformers.TFT5ForConditionalGeneration.from_pretrained(
        tiny_t5_dir, use_safetensors=True, output_loading_info=True
    )
    assert info["missing_keys"] == [] and info["unexpected_keys"] == []
    written = load_file(os.path.join(tiny_t5_dir, "model.safetensors"))
    assert len(written) == len(model.weights)
    assert sum(w.size for w in written.values()) == model.count_params()


def test_same_seed_gives_the_same_folder_and_another_seed_other_weights(
    tiny_t5_dir, sentences, tmp_path
):
    create(sentences, SHAPE, str(tmp_path / "same"))
    other = SHAPE.model_copy(update={"seed": 1})
    create(iter(sentences), other, str(tmp_path / "other"))

    def bytes_of(folder, name):
        with open(os.path.join(folder, name), "rb") as f:
            return f.read()

    for name in os.listdir(tiny_t5_dir):
        assert bytes_of(tiny_t5_dir, name) == bytes_of(tmp_path / "same", name), name
    spiece = "spiece.model"
    assert bytes_of(tmp_path / "other", spiece) == bytes_of(tiny_t5_dir, spiece)
    ours = load_file(os.path.join(tiny_t5_dir, "model.safetensors"))
    theirs = load_file(str(tmp_path / "other" / "model.safetensors"))
    name = next(n for n in ours if "wi" in n)
    assert not np.array_equal(ours[name], theirs[name])


def test_little_text_gives_a_smaller_vocabulary(tmp_path):
    create(["my card is lost"] * 5, SHAPE, str(tmp_path / "made"))
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(tmp_path / "made"))
    assert 10 < len(tokenizer) - SENTINELS < 50


def test_texts_longer_than_a_sentence_are_learned_from(tmp_path):
    create(["my card is lost. " * 500], SHAPE, str(tmp_path / "made"))
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(tmp_path / "made"))
    assert tokenizer.unk_token_id not in tokenizer("my lost card")["input_ids"]


@pytest.mark.parametrize(
    "texts, message",
    [
        ([], "No text to learn"),
        (["", " \u200b\n"], "No text to learn"),
        (["".join(map(chr, range(0x4E00, 0x4E00 + 300)))], "no vocabulary of 200.*304"),
    ],
    ids=["none", "blank", "more_characters_than_pieces"],
)
def test_texts_that_give_no_vocabulary_are_refused_and_leave_nothing(
    tmp_path, texts, message
):
    with pytest.raises(ValueError, match=message):
        create(texts, SHAPE, str(tmp_path / "made"))
    assert os.listdir(tmp_path) == []


def test_failure_half_way_leaves_no_folder_and_the_next_try_succeeds(
    tmp_path, sentences, monkeypatch
):
    def fail(*_args, **_kwargs):
        raise OSError("disk full")

    path = str(tmp_path / "made")
    with monkeypatch.context() as patch:
        patch.setattr(transformers.T5TokenizerFast, "save_pretrained", fail)
        with pytest.raises(OSError, match="disk full"):
            create(sentences, SHAPE, path)
    assert os.listdir(tmp_path) == []
    create(sentences, SHAPE, path + "/")
    assert os.listdir(tmp_path) == ["made"]
