"""Whether a gate refuses damaged models, and blesses the model that they come from.

Pure. The damaged answers are judged as the Evaluator judges a candidate's, with the
undamaged model as the baseline: so bounds on a drop hold in a first run too.
"""

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from components.evaluator import core, damages
from components.evaluator.comparing import Asked
from components.evaluator.gate import BASELINE, CANDIDATE
from components.evaluator.rows import Rows
from components.evaluator.scores.classification import Answers
from components.evaluator.scores.facts import OF_TASK
from components.evaluator.settings import GateSettings
from components.evaluator.slices import OVERALL
from trainer_module.settings import Task

IDENTICAL, SHUFFLED = "identical copy", "shuffled output layer"
NOTHING_JUDGED = "no check of the gate could be judged, so nothing passes"
_DIGITS = 4  # Of a bound that is proposed.


@dataclasses.dataclass(frozen=True)
class Trial:
    """One model that the gate is to judge.

    Attributes:
      name: what the terminal calls it.
      what: it answers, in words.
      rows: that it was asked about.
      asked: the trial as `CANDIDATE`, the undamaged model as `BASELINE`, and the
        untuned checkpoint, about these rows.
      damaged: whether the gate has to refuse it; else it has to bless it.
    """

    name: str
    what: str
    rows: Rows
    asked: Asked
    damaged: bool = True


@dataclasses.dataclass(frozen=True)
class Undamaged:
    """What is known of the model that the damaged ones come from.

    Attributes:
      rows: the eval split.
      answers: the model's, to each row.
      untuned: the untuned checkpoint, among its answers or its refusals.
    """

    rows: Rows
    answers: Answers
    untuned: Asked

    def beside(self, trial: Asked) -> Asked:
        """A trial's `CANDIDATE`, and what it is compared with."""
        answers = {**trial.answers, BASELINE: self.answers, **self.untuned.answers}
        return Asked(answers, {**trial.refused, **self.untuned.refused})

    def of(self, numbers: Sequence[int]) -> "Undamaged":
        """The same of some rows, by their numbers."""
        untuned = {
            name: _chosen(found, numbers)
            for name, found in self.untuned.answers.items()
        }
        return Undamaged(
            self.rows.of(numbers),
            _chosen(self.answers, numbers),
            dataclasses.replace(self.untuned, answers=untuned),
        )


def identical(model: Undamaged) -> Trial:
    asked = model.beside(Asked({CANDIDATE: model.answers}))
    return Trial(IDENTICAL, "a copy of the model", model.rows, asked, damaged=False)


def shuffled(model: Undamaged, asked: Asked) -> Trial:
    """The model whose output layer is shuffled.

    Args:
      model: about the rows that the shuffled one was asked about.
      asked: the shuffled one by its name.
    """
    what = "a copy whose output units are exchanged"
    given = (
        Asked({}, {CANDIDATE: asked.refused[SHUFFLED]})
        if SHUFFLED in asked.refused
        else Asked({CANDIDATE: asked.answers[SHUFFLED]})
    )
    return Trial(SHUFFLED, what, model.rows, model.beside(given))


def damaged(model: Undamaged, *, task: Task) -> tuple[list[Trial], dict[str, str]]:
    """The trials of `damages`; and by name those that cannot be made, and why."""
    trials, left_out = [], {}
    for damage in damages.OF_TASK[task]:
        answers = damage.damaged(model.rows, model.answers)
        if answers is None:
            left_out[damage.name] = damage.why_not
            continue
        asked = model.beside(Asked({CANDIDATE: answers}))
        trials.append(Trial(damage.name, damage.what, model.rows, asked))
    return trials, left_out


def _chosen(answers: Answers, numbers: Sequence[int]) -> Answers:
    predictions = [answers.predictions[row] for row in numbers]
    return Answers(predictions, answers.names, answers.scores[list(numbers)])


def run(trials: Sequence[Trial], gate: GateSettings, *, task: Task) -> dict[str, Any]:
    """The outcome as plain data.

      proven    whether every trial was judged as it has to be
      trials    [{"name", "what", "rows", "damaged", "blessed", "as_expected",
                "reasons"}]; the reasons of a refusal, in words
      ways_on   sentences: what to do about each trial that was judged otherwise

    Args:
      trials: the undamaged model among them.
      gate: `baseline` plays no part: the baseline is always compared with.
    """
    gate = gate.model_copy(update={"baseline": "compare"})
    judged = {t.name: core.evaluate(t.rows, t.asked, gate, task=task) for t in trials}
    shown = [_shown(trial, judged[trial.name]) for trial in trials]
    return {
        "proven": all(trial["as_expected"] for trial in shown),
        "trials": shown,
        "ways_on": list(_ways_on(shown, judged, gate, task)),
    }


def _shown(trial: Trial, found: Mapping[str, Any]) -> dict[str, Any]:
    blessed = found["blessed"]
    reasons = [found["refused"]] if found["refused"] else []
    reasons += [c["in_words"] for c in found["checks"] if c["passed"] is False]
    return {
        "name": trial.name,
        "what": trial.what,
        "rows": len(trial.rows.targets),
        "damaged": trial.damaged,
        "blessed": blessed,
        "as_expected": blessed is not trial.damaged,
        "reasons": [] if blessed else (reasons or [NOTHING_JUDGED]),
    }


def _ways_on(
    shown: Sequence[Mapping[str, Any]],
    judged: Mapping[str, Mapping[str, Any]],
    gate: GateSettings,
    task: Task,
) -> Iterator[str]:
    (model,) = (trial for trial in shown if not trial["damaged"])
    if not model["blessed"]:
        yield (
            "The model itself does not pass this gate, so that the refusals prove "
            "nothing. Test a run whose model was blessed, or a gate that this model "
            "passes."
        )
    undamaged = _scores(judged[model["name"]])
    for trial in shown:
        if trial["damaged"] and trial["blessed"]:
            damaged = _scores(judged[trial["name"]])
            yield f"{trial['name']}: {_bound(damaged, undamaged, gate, task)}"


def _scores(found: Mapping[str, Any]) -> dict[str, Mapping[str, float]]:
    """{metric: {"value", "low", "high"}} of all rows, where all three are known."""
    return {
        m["metric"]: m
        for m in found["metrics"]
        if (m["slice"], m["model"]) == (OVERALL, CANDIDATE) and m["low"] is not None
    }


def _bound(
    damaged: Mapping[str, Mapping[str, float]],
    undamaged: Mapping[str, Mapping[str, float]],
    gate: GateSettings,
    task: Task,
) -> str:
    """The bound that refuses the damage and lets the model pass, in words.

    One that the gate has comes before one that it lacks, and then the metric that
    tells the two apart best.
    """
    found = []
    for metric, facts in OF_TASK[task].items():
        both = metric in damaged and metric in undamaged
        if not both or facts.best == "neither" or math.isinf(facts.most):
            continue
        is_floor = facts.best == "high"
        less, more = damaged[metric], undamaged[metric]
        if not is_floor:
            less, more = more, less
        end = "low" if is_floor else "high"
        # Inwards, so that what is shown is itself inside.
        low = math.ceil(less[end] * 10**_DIGITS) / 10**_DIGITS
        high = math.floor(more[end] * 10**_DIGITS) / 10**_DIGITS
        if less["value"] < more["value"] and low < high:
            rule = "floors" if is_floor else "ceilings"
            has = metric in getattr(gate, rule)
            found.append((has, (high - low) / facts.most, metric, rule, low, high))
    if not found:
        return (
            "no bound on a metric can refuse it and let the model pass: the model is "
            "no better than it."
        )
    has, _, metric, rule, low, high = max(found)
    key = f"gate.{rule}.{metric}"
    room = (
        f"above {low:.4f} and at most {high:.4f}"
        if rule == "floors"
        else f"at least {low:.4f} and below {high:.4f}"
    )
    now = (
        f"`{key}` is {getattr(gate, rule)[metric]:g}; set it" if has else f"set `{key}`"
    )
    return f"{now} {room}, which refuses it and lets the model pass."
