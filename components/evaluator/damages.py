"""Answers as a broken model would give them, which a gate has to refuse. Pure.

Each damage maps (rows, the model's answers) to answers; None where it cannot be made.
"""

import collections
import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from components.evaluator.rows import Rows
from components.evaluator.scores.classification import Answers
from trainer_module.settings import Task

# Up to a mark that white space follows, or one that needs none after it.
_SENTENCE = re.compile(r".*?(?:[.!?](?=\s|$)|[。！？]|\n|$)", re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Damage:
    """One way to break a model.

    Attributes:
      name: what the terminal calls it.
      what: is answered, in words.
      damaged: (rows, answers) -> answers, or None.
      why_not: it cannot be made, where it gives None.
    """

    name: str
    what: str
    damaged: Callable[[Rows, Answers], Answers | None]
    why_not: str = ""


def constant_label(rows: Rows, answers: Answers) -> Answers:
    """The best that a classifier can do without reading: the commonest label, and each
    label's share of the rows as its probability."""
    counts = collections.Counter(rows.targets)
    shares = np.array([counts[name] for name in answers.names], float)
    shares = shares + (shares.sum() == 0)  # None of the labels is known: all alike.
    scores = np.tile(shares / shares.sum(), (len(rows.targets), 1))
    label = answers.names[int(shares.argmax())]
    return Answers([label] * len(rows.targets), answers.names, scores)


def swapped_labels(_rows: Rows, answers: Answers) -> Answers | None:
    """Every label's name stands for the next one's, with its probabilities."""
    names = answers.names
    if len(names) < 2:
        return None
    next_of = dict(zip(names, [*names[1:], names[0]], strict=True))
    predictions = [next_of[label] for label in answers.predictions]
    return Answers(predictions, names, np.roll(answers.scores, 1, axis=1))


def constant_text(_rows: Rows, answers: Answers) -> Answers:
    """The text that the model writes most often, whatever it reads."""
    counts = collections.Counter(answers.predictions)
    ((text, _),) = counts.most_common(1)
    return dataclasses.replace(answers, predictions=[text] * len(answers.predictions))


def no_text(_rows: Rows, answers: Answers) -> Answers:
    return dataclasses.replace(answers, predictions=[""] * len(answers.predictions))


def first_sentence(rows: Rows, answers: Answers) -> Answers:
    """Up to the first final mark or line end of what is read."""
    return dataclasses.replace(answers, predictions=list(map(_first, rows.sources)))


def other_rows_text(_rows: Rows, answers: Answers) -> Answers | None:
    """Each row has the text of the next row that has another one."""
    texts = answers.predictions
    if len(set(texts)) < 2:
        return None
    found = list(texts)
    following = next(text for text in texts if text != texts[-1])
    for row in reversed(range(len(texts))):
        found[row] = following
        if row and texts[row - 1] != texts[row]:
            following = texts[row]
    return dataclasses.replace(answers, predictions=found)


def one_answer_short(_rows: Rows, answers: Answers) -> Answers:
    """All but the first row's: taken as they come, each would be another row's."""
    return Answers(answers.predictions[1:], answers.names, answers.scores[1:])


def _first(text: str) -> str:
    found = _SENTENCE.match(text.strip())
    return found.group().strip() if found else ""


_SHORT = Damage(
    "one answer missing",
    "all answers but the first row's",
    one_answer_short,
)
OF_TASK: Mapping[Task, Sequence[Damage]] = {
    "classification": (
        Damage("constant answer", "the commonest label to every row", constant_label),
        Damage(
            "swapped labels",
            "every label replaced by the next one",
            swapped_labels,
            why_not="the model knows one label only",
        ),
        _SHORT,
    ),
    "summarization": (
        Damage("constant answer", "the commonest answer to every row", constant_text),
        Damage("empty answers", "an empty text to every row", no_text),
        Damage("copied source", "the first sentence of the source", first_sentence),
        Damage(
            "another row's answer",
            "the answer to the next row that has another one",
            other_rows_text,
            why_not="the model answers every row alike",
        ),
        _SHORT,
    ),
}
