"""Which models can be held against the candidate. Pure."""

import dataclasses
from collections.abc import Collection, Mapping, Sequence

from components.evaluator.scores.classification import Answers
from components.evaluator.slices import SEEN, UNSEEN, seen_column

_LABELS_SHOWN = 5
RESET = "`texttune run` again with `--set gate.baseline=reset`"


@dataclasses.dataclass(frozen=True)
class Asked:
    """What came of asking some models.

    Attributes:
      answers: by model, to each row.
      refused: by model, why it has none.
    """

    answers: Mapping[str, Answers]
    refused: Mapping[str, str] = dataclasses.field(default_factory=dict)


def why_not(candidate: Answers, baseline: Answers) -> str | None:
    """Why a baseline's scores say nothing of the candidate; None if they do.

    The same labels in another order are compared by their names. Others are not the
    same task: a model that has one label less to confuse has it easier.
    """
    more = sorted(set(candidate.names) - set(baseline.names))
    less = sorted(set(baseline.names) - set(candidate.names))
    if not (more or less):
        return None
    parts = [f"lacks {_listed(more)}"] * bool(more)
    parts += [f"has {_listed(less)}, which the new one lacks"] * bool(less)
    return in_words(f"The model blessed last {' and '.join(parts)}.")


def in_words(why: str) -> str:
    """With the way out: this model alone is judged, and the next is held against it."""
    return f"{why} To bless a model without this comparison, once: {RESET}."


def _listed(labels: Sequence[str]) -> str:
    shown = ", ".join(map(repr, labels[:_LABELS_SHOWN]))
    more = len(labels) - _LABELS_SHOWN
    kind = "label" if len(labels) == 1 else "labels"
    return f"the {kind} {shown}" + (f" and {more} more" if more > 0 else "")


def columns_seen(
    values: Mapping[str, Sequence[str]], in_train: Mapping[str, Collection[str]]
) -> dict[str, list[str]]:
    """For each column of `in_train`, whether train has the value of each row."""
    return {
        seen_column(column): [SEEN if v in known else UNSEEN for v in values[column]]
        for column, known in in_train.items()
    }
