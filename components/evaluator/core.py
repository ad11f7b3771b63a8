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
    asked = _without(asked, _miscounted(asked, len(rows.targets)))
    asked = _without(asked, _improbable(asked, rows))
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


def reasons(found: Mapping[str, Any]) -> list[str]:
    """The verdict of an evaluation, one sentence for each check, failed ones first."""
    refused = [found["refused"]] if found["refused"] else []
    return refused + [check["in_words"] for check in found["checks"]]


def _miscounted(asked: Asked, rows: int) -> dict[str, str]:
    """{model: why}, of those whose answers cannot be laid beside the rows."""
    return {
        model: f"The {model} gave {len(given.predictions):,} answers to {rows:,} rows, "
        "so it cannot be told which is whose."
        for model, given in asked.answers.items()
        if not len(given.predictions) == len(given.scores) == rows
    }


def _improbable(asked: Asked, rows: Rows) -> dict[str, str]:
    """{model: why}, of those with a score that is no probability."""
    found = {}
    for model, given in asked.answers.items():
        wrong = ~((given.scores >= 0) & (given.scores <= 1)).all(axis=1)  # NaN too.
        if wrong.any():
            found[model] = (
                f"The {model} gave a score that is no probability to {wrong.sum():,} "
                f"of {len(wrong):,} rows, such as "
                f"{rows.example_ids[int(wrong.argmax())]!r}."
            )
    return found


def _without(asked: Asked, refused: Mapping[str, str]) -> Asked:
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
