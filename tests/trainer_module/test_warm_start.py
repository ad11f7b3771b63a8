"""A training goes on from an exported model, or says what does not fit."""

import json
import pathlib
import shutil

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from trainer_module import export, warm_start
from trainer_module.progress import Refusal
from trainer_module.tasks import building

pytestmark = pytest.mark.slow

NEVER = "--set train.warm_start=never"
POOLINGS = ["cls", "mean"]


def labels_file(folder: pathlib.Path, *names: str) -> str:
    path = folder / "label_names"
    path.write_bytes("".join(f"{name}\n" for name in names).encode())
    return str(path)


@pytest.fixture(scope="module")
def exported(tiny_task, tiny_bert_dir, tiny_t5_dir, tmp_path_factory):
    """Trained models by kind, as (task, its Format-HF); all weights are moved."""

    def make(kind, task_name, checkpoint_dir, **model):
        task = tiny_task(task_name, model=model)
        random = np.random.default_rng(1)
        for variable in task.model.variables:
            variable.assign(random.normal(size=variable.shape))
        folder = tmp_path_factory.mktemp(kind) / "Format-HF"
        export.save_hugging_face(task, checkpoint_dir, str(folder))
        return task, folder

    return {
        "cls": make("cls", "classification", tiny_bert_dir, pooling="cls"),
        "mean": make("mean", "classification", tiny_bert_dir, pooling="mean"),
        "t5": make("t5", "summarization", tiny_t5_dir),
    }


@pytest.fixture
def build(settings_for, tiny_bert_dir, tiny_t5_dir, label_names_path):
    """Builds a task from an exported folder, with changes of the job."""

    def make(kind, folder, *, checkpoint_dir=None, labels=None, **model):
        task = "summarization" if kind == "t5" else "classification"
        path = checkpoint_dir or (tiny_t5_dir if kind == "t5" else tiny_bert_dir)
        if kind != "t5":
            model = {"pooling": kind, **model}
        settings = settings_for(task, path, model=model)
        return building.build(
            settings, labels or label_names_path, warm_start_dir=str(folder)
        )

    return make


@pytest.fixture
def copied(exported, tmp_path):
    """Makes a copy of an exported folder that a test may damage."""

    def copy(kind) -> pathlib.Path:
        folder = tmp_path / "copy" / "Format-HF"
        shutil.copytree(exported[kind][1], folder)
        return folder

    return copy


def change_weights(folder, change):
    file = str(folder / "model.safetensors")
    save_file(change(load_file(file)), file, metadata={"format": "pt"})


@pytest.mark.parametrize(
    "base_model, folder",
    [
        ("runs/Trainer/model/7/Format-Serving", "runs/Trainer/model/7/Format-HF"),
        ("gs://b/model/7/Format-Serving/", "gs://b/model/7/Format-HF"),
        (None, None),
    ],
)
def test_folder_lies_beside_the_saved_model(base_model, folder):
    assert warm_start.folder_of(base_model) == folder


@pytest.mark.parametrize("kind", [*POOLINGS, "t5"])
def test_every_weight_is_the_exported_ones_also_the_heads(kind, exported, build):
    task, folder = exported[kind]
    warm = build(kind, folder)
    assert len(warm.model.variables) == len(task.model.variables)
    for new, old in zip(warm.model.variables, task.model.variables, strict=True):
        np.testing.assert_array_equal(new.numpy(), old.numpy(), err_msg=new.name)
    assert len(warm.model.trainable_variables) == len(warm.model.variables)


def test_mt5_goes_on_from_what_is_exported_as_a_t5(tiny_t5_dir, settings_for, tmp_path):
    checkpoint = tmp_path / "mt5"
    shutil.copytree(tiny_t5_dir, checkpoint)
    config = json.loads((checkpoint / "config.json").read_text())
    config |= {"model_type": "mt5", "tie_word_embeddings": True}
    (checkpoint / "config.json").write_text(json.dumps(config))
    settings = settings_for("summarization", str(checkpoint))
    task = building.build(settings, None)
    export.save_hugging_face(task, str(checkpoint), str(tmp_path / "Format-HF"))
    warm = building.build(settings, None, warm_start_dir=str(tmp_path / "Format-HF"))
    assert len(warm.model.variables) == len(task.model.variables)


def test_dropout_is_the_jobs_not_the_exported_models(
    exported, settings_for, tiny_bert_dir, label_names_path
):
    settings = settings_for("classification", tiny_bert_dir, train={"dropout": 0.25})
    warm = building.build(
        settings, label_names_path, warm_start_dir=str(exported["cls"][1])
    )
    assert warm.model.config.hidden_dropout_prob == 0.25


def test_dozen_labels_keep_their_order(settings_for, tiny_bert_dir, tmp_path):
    labels = labels_file(tmp_path, *(f"label {n:02}" for n in range(12)))
    settings = settings_for("classification", tiny_bert_dir)
    task = building.build(settings, labels)
    export.save_hugging_face(task, tiny_bert_dir, str(tmp_path / "Format-HF"))
    warm = building.build(settings, labels, warm_start_dir=str(tmp_path / "Format-HF"))
    kernels = [t.model.classifier.kernel.numpy() for t in (task, warm)]
    np.testing.assert_array_equal(*kernels)


@pytest.mark.parametrize(
    "names, said",
    [
        (["fee", "late"], r"the 2 labels .* the 3 of .*new: none; gone: 'lost'"),
        (["a", "fee", "late", "z"], r"new: 'a', 'z'; gone: 'lost'"),
        (["late", "fee", "lost"], "the same names in another order"),
        ([f"n{n}" for n in range(9)], "new: 'n0', 'n1', .* and 4 more; gone: 'fee'"),
    ],
    ids=["fewer", "others", "order", "many"],
)
def test_other_labels_are_refused(names, said, exported, build, tmp_path):
    labels = labels_file(tmp_path, *names)
    with pytest.raises(Refusal, match=f"train.warm_start: .*{said}.*{NEVER}"):
        build("cls", exported["cls"][1], labels=labels)


@pytest.mark.parametrize("there, here", [POOLINGS, POOLINGS[::-1]])
def test_other_pooling_is_refused_with_the_key(there, here, exported, build):
    said = f"pooling: {there}`, and this job has {here}. .*model.pooling={there}.*"
    with pytest.raises(Refusal, match=f"{said}{NEVER}"):
        build(here, exported[there][1])


def test_model_of_the_other_task_is_refused(exported, build):
    with pytest.raises(Refusal, match="model_type 'bert' there, 't5' in the checkp"):
        build("t5", exported["cls"][1])


@pytest.mark.parametrize(
    "kind, changes, said",
    [
        (
            "cls",
            {"hidden_size": 32, "num_hidden_layers": 2},
            "hidden_size 32 there, 16 in the checkpoint; num_hidden_layers 2 there, 1",
        ),
        ("t5", {"num_decoder_layers": 4}, "num_decoder_layers 4 there, 1 in"),
        ("t5", {"feed_forward_proj": "gated-gelu"}, "'gated-gelu' there, 'relu' in"),
    ],
)
def test_other_shape_is_refused_with_both_sides(kind, changes, said, copied, build):
    folder = copied(kind)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **changes}))
    with pytest.raises(Refusal, match=f"of another architecture .*{said}.*{NEVER}"):
        build(kind, folder)


@pytest.mark.parametrize("kind, name", [("mean", "vocab.txt"), ("t5", "spiece.model")])
def test_other_vocabulary_is_refused(kind, name, copied, build):
    folder = copied(kind)
    (folder / name).write_bytes((folder / name).read_bytes() + b"\n")
    with pytest.raises(Refusal, match=f"{name} is not the {name} of .*{NEVER}"):
        build(kind, folder)


def test_other_treatment_of_capitals_is_refused(copied, build):
    folder = copied("cls")
    (folder / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    with pytest.raises(Refusal, match="do_lower_case.* is False in .* True in"):
        build("cls", folder)


def test_folder_that_is_not_there_is_refused(build, tmp_path):
    with pytest.raises(Refusal, match=f"there is no {tmp_path}/gone.*{NEVER}"):
        build("cls", tmp_path / "gone")


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "vocab.txt"])
def test_folder_that_lacks_a_file_is_refused(name, copied, build):
    folder = copied("cls")
    (folder / name).unlink()
    with pytest.raises(Refusal, match=f"lacks {name}.*{NEVER}"):
        build("cls", folder)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_damaged_file_is_refused(name, copied, build):
    folder = copied("cls")
    (folder / name).write_bytes((folder / name).read_bytes()[:100])
    with pytest.raises(Refusal, match=rf"train.warm_start(.|\n)*{NEVER}"):
        build("cls", folder)


@pytest.mark.parametrize(
    "change",
    [
        lambda weights: dict(list(weights.items())[1:]),
        lambda weights: {**weights, "zzz": np.zeros(3, np.float32)},
        lambda weights: {k: v[..., :-1].copy() for k, v in weights.items()},
    ],
    ids=["missing", "left_over", "other_shape"],
)
@pytest.mark.parametrize("kind", ["mean", "t5"])
def test_weights_that_do_not_all_match_are_refused(kind, change, copied, build):
    folder = copied(kind)
    change_weights(folder, change)
    with pytest.raises(Refusal, match=rf"cannot be loaded as TF(.|\n)*{NEVER}"):
        build(kind, folder)


@pytest.mark.parametrize(
    "head, said",
    [
        (b"damaged", "classifier.safetensors cannot be read"),
        ({"weight": np.zeros((3, 8), np.float32)}, r"holds \{.*needs \{.*\(3, 16\)"),
    ],
    ids=["damaged", "other_shape"],
)
def test_head_of_another_layer_is_refused(head, said, copied, build):
    folder = copied("mean")
    file = folder / warm_start.CLASSIFIER_FILE
    if isinstance(head, bytes):
        file.write_bytes(head)
    else:
        save_file(head, str(file))
    with pytest.raises(Refusal, match=f"{said}.*{NEVER}"):
        build("mean", folder)
