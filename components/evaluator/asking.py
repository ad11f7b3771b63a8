"""Asks the models for their answers to the eval rows, through Beam.

One pass: each worker loads every model once, and asks all of them about a batch before
the next one. Answers go through files, so that a worker's memory holds one batch.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import apache_beam as beam
import numpy as np
from tfx.dsl.io import fileio

from components.evaluator import batches
from components.evaluator.answers import NoAnswer, ServedModel, join
from components.evaluator.comparing import Asked
from components.evaluator.scores.classification import Answers
from trainer_module import progress
from trainer_module.settings import Task


def ask(
    pipeline_of_beam: Any,
    texts: Sequence[str],
    models: Mapping[str, str],
    *,
    task: Task,
    folder: str,
) -> Asked:
    """What each model answers to each text, in their order.

    Args:
      pipeline_of_beam: () -> a Beam pipeline to run in.
      models: name -> folder of its SavedModel.
      folder: for the workers' files; it is removed at the end.
    """
    fileio.makedirs(folder)
    plan = batches.of_like_length(texts)
    told = [
        (number, len(plan), [texts[row] for row in rows])
        for number, rows in enumerate(plan)
    ]
    with pipeline_of_beam() as pipeline:
        _ = (
            pipeline
            | beam.Create(told)
            | beam.Reshuffle()  # Or one worker would have them all.
            | beam.ParDo(_AskBatch(dict(models), task, folder))
        )
    parts = [_read(folder, number) for number in range(len(plan))]
    fileio.rmtree(folder)
    refused: dict[str, str] = {}
    for part in parts:
        for model, why in part["refused"].items():
            refused.setdefault(model, why)
    answers = {
        model: join([_answers(part["answers"][model]) for part in parts], plan)
        for model in models
        if model not in refused
    }
    return Asked(answers, refused)


class _AskBatch(beam.DoFn):
    """Asks every model about a batch, and leaves the answers in a file.

    A model that does not answer is told of in the file: an error inside of Beam would
    come out as a report of Beam's.
    """

    def __init__(self, models: dict[str, str], task: Task, folder: str):
        self._paths, self._task, self._folder = models, task, folder
        self._models: dict[str, ServedModel] = {}

    def process(self, element: tuple[int, int, list[str]]) -> Iterator[int]:
        number, count, texts = element
        part: dict[str, dict[str, Any]] = {"answers": {}, "refused": {}}
        for name in self._paths:
            try:
                found = self._model(name).answer(texts)
            except NoAnswer as refusal:
                part["refused"][name] = str(refusal)
            else:
                part["answers"][name] = {
                    "predictions": list(found.predictions),
                    "names": list(found.names),
                    "scores": found.scores.tolist(),
                }
        with fileio.open(os.path.join(self._folder, _file(number)), "w") as file:
            file.write(json.dumps(part))
        progress.report("evaluating", batch=number, batches=count)
        yield number

    def _model(self, name: str) -> ServedModel:
        if name not in self._models:
            self._models[name] = ServedModel(
                self._paths[name], name=f"The {name}", task=self._task
            )
        return self._models[name]


def _read(folder: str, number: int) -> dict[str, dict[str, Any]]:
    with fileio.open(os.path.join(folder, _file(number))) as file:
        return json.loads(file.read())


def _answers(plain: Mapping[str, Any]) -> Answers:
    rows, names = len(plain["predictions"]), plain["names"]
    scores = np.array(plain["scores"], float).reshape(rows, len(names))
    return Answers(plain["predictions"], names, scores)


def _file(number: int) -> str:
    return f"answers-{number:05d}.json"
