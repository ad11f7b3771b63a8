"""The untuned checkpoint's answers, which the Trainer has left in its ModelRun."""

import dataclasses
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from tfx.dsl.io import fileio

from components.evaluator.comparing import Asked
from components.evaluator.gate import UNTUNED
from components.evaluator.scores.classification import Answers
from trainer_module import signatures

NOT_ASKED = "the Trainer did not ask the untuned checkpoint (`train.ask_untuned`)."


def join(asked: Asked, model_run_uri: str, example_ids: Sequence[str]) -> Asked:
    """What was asked, and the untuned checkpoint; rows go by their example_id."""
    path = os.path.join(model_run_uri, signatures.UNTUNED_FILE)
    if not fileio.exists(path):
        return _refused(asked, NOT_ASKED)
    with fileio.open(path) as file:
        told = json.loads(file.read())
    if "refused" in told:
        return _refused(asked, told["refused"])
    missing = sorted(set(example_ids) - set(told["example_ids"]))
    if missing:
        return _refused(
            asked,
            f"the untuned checkpoint was not asked about {len(missing)} rows, such as "
            f"{missing[0]!r}.",
        )
    answers = {**asked.answers, UNTUNED: _answers(told, example_ids)}
    return dataclasses.replace(asked, answers=answers)


def _answers(told: Mapping[str, Any], example_ids: Sequence[str]) -> Answers:
    place = {example_id: row for row, example_id in enumerate(told["example_ids"])}
    order = [place[example_id] for example_id in example_ids]
    rows, names = len(told["example_ids"]), told["names"]
    scores = np.array(told["scores"], float).reshape(rows, len(names))
    return Answers([told["predictions"][row] for row in order], names, scores[order])


def _refused(asked: Asked, why: str) -> Asked:
    return dataclasses.replace(asked, refused={**asked.refused, UNTUNED: why})
