"""Runs that were evaluated, in small: made by the project's own writers."""

import json
import pathlib

import numpy as np

from components.evaluator import evaluation, predictions
from components.evaluator.gate import CANDIDATE
from components.evaluator.rows import Rows
from components.evaluator.scores.classification import Answers
from components.evaluator.settings import GateSettings
from pipeline import run_record

NAMES = ("fee", "late", "lost")


def labelled(predicted, names=NAMES, sure=0.8):
    """A classifier's answers, as sure of each as of the others."""
    scores = np.full((len(predicted), len(names)), (1 - sure) / (len(names) - 1))
    for row, label in enumerate(predicted):
        scores[row, names.index(label)] = sure
    return Answers(list(predicted), list(names), scores)


def written(texts):
    """The answers of a model that writes."""
    return Answers(list(texts), [], np.zeros((len(texts), 0)))


def rows(targets, *, ids=None, sources=None, channels=None):
    count = len(targets)
    return Rows(
        example_ids=ids or [f"r{n}" for n in range(count)],
        sources=sources or [f"text {n}" for n in range(count)],
        targets=list(targets),
        columns={"channel": channels or ["app", "web"] * (count // 2)},
    )


def record(of_rows, answers, run_id="1", **changed):
    """The summary.json of a whole run."""
    task = "classification" if answers.names else "summarization"
    metric = "accuracy" if answers.names else "rouge_l"
    gate = GateSettings(floors={metric: 0.1}, min_slice_rows=2, draws=200)
    of_task = evaluation.of_labels if answers.names else evaluation.of_texts
    epoch = {"epoch": 1, "updates": 5, "loss": 2.0, "validation_loss": 1.5}
    epoch |= {"metrics": {"loss": 1.5, metric: 0.5}, "best": True, "seconds": 20.0}
    file = {"path": "rows.csv", "rows_read": 9, "kept": 9, "rejected": {}}
    found = {
        "run_id": run_id,
        "name": "tiny",
        "key": "k",
        "partial": False,
        "outcome": "pushed",
        "push": {"pushed": 1, "pushed_version": run_id},
        "seconds": 60.0,
        "peak_memory_mb": 700,
        "config": {
            "task": task,
            "model": {"checkpoint": "package:small"},
            "train": {"seed": 1},
            "gate": gate.model_dump(mode="json"),
        },
        "fingerprints": {"data": "d" * 64, "checkpoint": "c" * 64, "code": {}},
        "data": {"files": [file], "splits": {"train": 5, "eval": 4}},
        "training": [epoch],
        "evaluation": {
            **of_task(of_rows, {CANDIDATE: answers}, gate),
            **{"notes": [], "refused": None},
        },
        "model_check": {"figures": {"requests": 5, "load_seconds": 0.5}},
        "artifacts": {},
    }
    return json.loads(json.dumps({**found, **changed}))


def lines(of_rows, answers):
    return list(predictions.lines(of_rows, {CANDIDATE: answers}))


def write(root: pathlib.Path, run_id, of_rows, answers, **changed) -> pathlib.Path:
    """Leaves a run and its Evaluator's artifact below a root; gives its folder."""
    artifact = root / "artifacts" / run_id
    artifact.mkdir(parents=True)
    path = artifact / predictions.PREDICTIONS_FILE
    path.write_text("".join(lines(of_rows, answers)))
    artifacts = {"Evaluator": {"evaluation": str(artifact)}}
    folder = root / "runs" / run_id
    folder.mkdir(parents=True)
    made = record(of_rows, answers, run_id, artifacts=artifacts, **changed)
    run_record.write(made, str(folder))
    return folder
