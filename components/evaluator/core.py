"""From what the models answered to the verdict. Pure: no TensorFlow, no TFX."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from components.evaluator import comparing, evaluation
from components.evaluator.comparing import Asked
from components.evaluator.gate import BASELINE, CANDIDATE, UNTUNED
from components.evaluator.rows import Rows
from components.evaluator.settings import GateSettings
from trainer_module.settings import Task

NO_BASELINE_ASKED = "The model blessed last was not asked: `gate.baseline` is `reset`."


def evaluate(
    rows: Rows, asked: Asked, gate: GateSettings, *, task: Task
) -> dict[str, Any]:
    """The evaluation, as plain data; see `evaluation`.

    It has "notes" too, sentences for the reader, and "refused": why the candidate
    could not be evaluated at all, or None. A model that did not give one answer to
    each row is taken as one that gave none.

    Args:
      asked: `gate.CANDIDATE` in its answers or refusals, and the other models that
        there are.
    """
    notes = [NO_BASELINE_ASKED] if gate.baseline == "reset" else []
    asked = _counted(asked, len(rows.targets))
    if CANDIDATE in asked.refused:
        found = evaluation.without_answers(len(rows.targets), gate)
        return {**found, "notes": notes, "refused": asked.refused[CANDIDATE]}
    incomparable = _incomparable(asked, gate)
    of_task = {
        "classification": evaluation.of_labels,
        "summarization": evaluation.of_texts,
    }
    found = of_task[task](rows, asked.answers, gate, incomparable)
    return {**found, "notes": notes, "refused": None}


def _counted(asked: Asked, rows: int) -> Asked:
    """Refuses models whose answers cannot be laid beside the rows."""
    refused = {
        model: f"The {model} gave {len(given.predictions):,} answers to {rows:,} rows, "
        "so it cannot be told which is whose."
        for model, given in asked.answers.items()
        if not len(given.predictions) == len(given.scores) == rows
    }
    kept = {m: given for m, given in asked.answers.items() if m not in refused}
    return dataclasses.replace(
        asked, answers=kept, refused={**asked.refused, **refused}
    )


def _incomparable(asked: Asked, gate: GateSettings) -> Mapping[str, str]:
    found = {}
    if BASELINE in asked.refused:
        found[BASELINE] = comparing.in_words(asked.refused[BASELINE])
    elif BASELINE in asked.answers:
        why = comparing.why_not(asked.answers[CANDIDATE], asked.answers[BASELINE])
        if why:
            found[BASELINE] = why
    if UNTUNED in asked.refused:
        found[UNTUNED] = asked.refused[UNTUNED]
    return found
