"""Whole jobs in small: a two-layer BERT, and messages that a keyword decides."""

import csv
import dataclasses
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import yaml
from safetensors.numpy import save_file

ROOT = pathlib.Path(__file__).parents[2]
KEYWORDS = {"Card lost?": "card", "login_problem": "password", "退款": "refund"}
OTHER_WORDS = "the my please help today again why is it not now with an old new".split()
WIDTH, LAYERS, FEED_FORWARD = 16, 2, 32


def rows(count: int) -> list[dict[str, str]]:
    """`count` rows; the label follows from one word of the message."""
    random = np.random.default_rng(0)
    labels = list(KEYWORDS)
    found = []
    for n in range(count):
        label = labels[n % len(labels)]
        words = [*random.choice(OTHER_WORDS, 4, replace=False), KEYWORDS[label]]
        found.append(
            {
                "id": f"r{n}",
                "message": f"{' '.join(words)} {n}",
                "intent": label,
                "channel": ["app", "phone"][n % 2],
                "summary": f"about {KEYWORDS[label]}",
            }
        )
    return found


def write_csv(path: pathlib.Path, table: list[dict[str, str]]) -> str:
    with open(path, "w", newline="", encoding="utf-8") as f:
        writer = csv.DictWriter(f, list(table[0]))
        writer.writeheader()
        writer.writerows(table)
    return str(path)


def write_bert(folder: pathlib.Path) -> str:
    """A BERT with random weights, in the format of published ones."""
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *OTHER_WORDS]
    pieces += [*KEYWORDS.values(), *"0123456789", *(f"##{d}" for d in range(10))]
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n")
    config = {
        "model_type": "bert",
        "architectures": ["BertModel"],
        "vocab_size": len(pieces),
        "hidden_size": WIDTH,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": 2,
        "intermediate_size": FEED_FORWARD,
        "max_position_embeddings": 64,
        "type_vocab_size": 2,
        "pad_token_id": 0,
    }
    (folder / "config.json").write_text(json.dumps(config))
    save_file(
        dict(_bert_weights(len(pieces))),
        str(folder / "model.safetensors"),
        metadata={"format": "pt"},
    )
    return str(folder)


def _bert_weights(vocabulary_size: int):
    random = np.random.default_rng(1)

    def dense(name, rows_out, columns_in):
        weight = random.normal(0, 0.1, (rows_out, columns_in)).astype(np.float32)
        yield f"{name}.weight", weight
        yield f"{name}.bias", np.zeros(rows_out, np.float32)

    def norm(name):
        yield f"{name}.weight", np.ones(WIDTH, np.float32)
        yield f"{name}.bias", np.zeros(WIDTH, np.float32)

    sizes = {"word": vocabulary_size, "position": 64, "token_type": 2}
    for name, size in sizes.items():
        weight = random.normal(0, 0.5, (size, WIDTH)).astype(np.float32)
        yield f"embeddings.{name}_embeddings.weight", weight
    yield from norm("embeddings.LayerNorm")
    for n in range(LAYERS):
        layer = f"encoder.layer.{n}"
        for part in ("query", "key", "value"):
            yield from dense(f"{layer}.attention.self.{part}", WIDTH, WIDTH)
        yield from dense(f"{layer}.attention.output.dense", WIDTH, WIDTH)
        yield from norm(f"{layer}.attention.output.LayerNorm")
        yield from dense(f"{layer}.intermediate.dense", FEED_FORWARD, WIDTH)
        yield from dense(f"{layer}.output.dense", WIDTH, FEED_FORWARD)
        yield from norm(f"{layer}.output.LayerNorm")
    yield from dense("pooler.dense", WIDTH, WIDTH)


def classification(folder: pathlib.Path, data: str, checkpoint: str) -> dict:
    """A job that learns its rows within seconds."""
    return {
        "name": "tiny-intent",
        "task": "classification",
        "data": {
            "train": data,
            "text": "message",
            "target": "intent",
            "id": "id",
            "slices": ["channel"],
            "eval_share": 0.3,
            # A score on some 20 rows is known to +-0.2 only.
            "gate": {"max_interval_half_width": 0.3},
        },
        "model": {"checkpoint": checkpoint, "max_source_tokens": 16},
        "train": {
            "epochs": 20,
            "batch_size": 8,
            "learning_rate": 5e-3,
            "dropout": 0.0,
        },
        "gate": {
            "floors": {"accuracy": 0.9},
            "max_drop": {"accuracy": 0.05},
            "slices": {"channel": {"floors": {"accuracy": 0.5}}},
        },
        "serving": {"check_requests": 4},
        "runner": {"root": str(folder / "root")},
    }


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a run ended."""

    code: int
    output: str
    root: pathlib.Path

    @property
    def summary(self) -> dict:
        folders = [path for path in (self.root / "runs").iterdir() if path.is_dir()]
        newest = sorted(folders)[-1]
        return json.loads((newest / "summary.json").read_text(encoding="utf-8"))

    @property
    def versions(self) -> list[str]:
        served = self.root / "serving"
        folders = served.glob("*/[0-9]*") if served.exists() else []
        return sorted(path.name for path in folders)

    @property
    def evaluated(self) -> dict[str, float]:
        """The Evaluator's metrics of the whole eval split."""
        return {
            m["metric"]: m["value"]
            for m in self.summary["evaluation"]["metrics"]
            if m["slice"] == "Overall" and m["model"] == "candidate"
        }

    @property
    def validated(self) -> dict[str, float]:
        """Those that the training took after its best epoch, but for the loss."""
        best = [epoch for epoch in self.summary["training"] if epoch["best"]][-1]
        return {k: v for k, v in best["metrics"].items() if k != "loss"}

    @property
    def states(self) -> dict[str, str]:
        return {n["node"]: n["state"] for n in self.summary["nodes"]}


def command(*arguments: str) -> list[str]:
    return [sys.executable, str(ROOT / "local_runner.py"), *arguments]


def environment() -> dict[str, str]:
    # Beside what the caller has: no hub can be reached, and no GPU is used.
    return {**os.environ, "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}


def run(folder: pathlib.Path, job: dict, *arguments: str) -> Outcome:
    """Runs a job as a user would, and gives how it ended."""
    path = folder / "job.yaml"
    path.write_text(yaml.safe_dump(job, allow_unicode=True), encoding="utf-8")
    done = subprocess.run(
        command("--config", str(path), *arguments),
        env=environment(),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    return Outcome(done.returncode, done.stdout, pathlib.Path(job["runner"]["root"]))


def selftest(*arguments: str) -> subprocess.CompletedProcess:
    """`texttune gate selftest`, as a user would call it."""
    return texttune("gate", "selftest", *arguments)


def texttune(*arguments: str) -> subprocess.CompletedProcess:
    """A command, as a user would call it."""
    return subprocess.run(
        [sys.executable, "-m", "pipeline.cli", *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment(),
        timeout=300,
    )
