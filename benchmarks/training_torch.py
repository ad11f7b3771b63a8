"""The peer of training.py: a plain loop of PyTorch around a model of `transformers`.

Run by it with the Python of .venv-torch. What such a loop usually does: random order,
each batch padded to its longest row, AdamW (fused), clipping, a linear schedule. The
arguments are what to do (`train`, `weights` or `rate`) and the folder of the job.
"""

import itertools
import json
import os
import resource
import sys
import time
from collections.abc import Iterator

os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")

import torch  # noqa: E402
import transformers  # noqa: E402

IGNORED = -100


def padded(rows: list, fill: int) -> torch.Tensor:
    """As DataCollatorWithPadding does: to the longest row of the batch."""
    return torch.nn.utils.rnn.pad_sequence(
        [torch.tensor(row) for row in rows], batch_first=True, padding_value=fill
    )


def batches(rows: list, job: dict) -> Iterator[tuple[list[int], dict]]:
    """(row numbers, batch) of the first `job["updates"]` batches of an epoch."""

    def collate(numbers):
        ids = padded([rows[number][0] for number in numbers], job["pad_id"])
        labels = [rows[number][1] for number in numbers]
        if isinstance(labels[0], list):
            labels = padded(labels, IGNORED)
        else:
            labels = torch.tensor(labels)
        mask = (ids != job["pad_id"]).long()
        inputs = {"input_ids": ids, "attention_mask": mask, "labels": labels}
        return numbers, inputs

    loader = torch.utils.data.DataLoader(
        range(len(rows)),
        batch_size=job["batch_size"],
        shuffle=True,
        collate_fn=collate,
        generator=torch.Generator().manual_seed(job["seed"]),
    )
    return itertools.islice(loader, job["updates"])


def load(job: dict):
    rate = job["dropout"]
    if job["task"] == "summarization":
        return transformers.T5ForConditionalGeneration.from_pretrained(
            job["checkpoint"], dropout_rate=rate
        )
    return transformers.BertForSequenceClassification.from_pretrained(
        job["checkpoint"],
        num_labels=len(job["label_names"]),
        hidden_dropout_prob=rate,
        attention_probs_dropout_prob=rate,
    )


def train(folder: str, job: dict) -> dict:
    with open(os.path.join(folder, "rows.json"), encoding="utf-8") as file:
        rows = json.load(file)
    torch.manual_seed(job["seed"])
    model = load(job)
    model.train()
    plain = [p for n, p in model.named_parameters() if "bias" in n or "norm" in n]
    kept = {id(p) for p in plain}
    decaying = [p for p in model.parameters() if id(p) not in kept]
    optimizer = torch.optim.AdamW(
        [{"params": decaying}, {"params": plain, "weight_decay": 0.0}],
        lr=job["learning_rate"],
        weight_decay=job["weight_decay"],
        eps=1e-6,
        fused=True,
    )
    updates = -(-len(rows) // job["batch_size"])
    schedule = transformers.get_linear_schedule_with_warmup(
        optimizer, round(0.1 * updates), updates
    )

    def update(batch) -> float:
        with torch.autocast("cpu", torch.bfloat16, enabled=job["bfloat16"]):
            loss = model(**batch).loss
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), job["clip_norm"])
        optimizer.step()
        schedule.step()
        return loss.item()

    started = time.perf_counter()
    for _, batch in batches(rows, {**job, "updates": 1}):
        update(batch)
    first = time.perf_counter()
    losses = [update(batch) for _, batch in batches(rows, job)]
    seconds = time.perf_counter() - first
    tokens, padding, used = 0, 0, []
    for numbers, batch in batches(rows, job):
        used += numbers
        tokens += batch["input_ids"].numel()
        padding += int((batch["attention_mask"] == 0).sum())
        if batch["labels"].dim() == 2:
            tokens += batch["labels"].numel()
            padding += int((batch["labels"] == IGNORED).sum())
    return {
        "first_seconds": first - started,
        "seconds": seconds,
        "padding_share": padding / tokens,
        "loss": sum(losses) / len(losses),
        "updates": len(losses),
        "rows": used,
    }


def weights(folder: str, job: dict) -> dict:
    """Random weights for the checkpoint's config.json, which both sides can read."""
    torch.manual_seed(job["seed"])
    config = transformers.T5Config.from_pretrained(job["checkpoint"])
    transformers.T5ForConditionalGeneration(config).save_pretrained(job["checkpoint"])
    return {}


def rate(folder: str, job: dict) -> dict:
    """FLOP/s of float32 products of 2048 x 2048, the best of ten."""
    a = torch.rand(2048, 2048)
    best = float("inf")
    for _ in range(10):
        started = time.perf_counter()
        a @ a
        best = min(best, time.perf_counter() - started)
    return {"flops_per_second": 2 * 2048**3 / best}


def main() -> None:
    doing, folder = sys.argv[1:]
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    with open(os.path.join(folder, "job.json"), encoding="utf-8") as file:
        job = json.load(file)
    found = {"train": train, "weights": weights, "rate": rate}[doing](folder, job)
    peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({**found, "peak_mb": peak_kb / 1024}))


if __name__ == "__main__":
    main()
