"""What a served model answers, checked before anything is computed from it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow_text  # noqa: F401  Registers the ops of the tokenizers.

from components.evaluator.scores.classification import Answers
from trainer_module import signatures
from trainer_module.settings import Task

_MOST_CHARACTERS_SHOWN = 60
_OUTPUTS = {
    "classification": (signatures.LABEL, signatures.ALL_LABELS, signatures.ALL_SCORES),
    "summarization": (signatures.OUTPUT_TEXT,),
}


class NoAnswer(Exception):
    """The model does not answer as one of its task has to; the message says how."""


class ServedModel:
    """A SavedModel, asked by its `serving_default` signature.

    Args:
      path: its folder.
      name: what messages call it.
      task: which decides on the outputs that it must have.

    Raises:
      NoAnswer: if it cannot be loaded, or lacks the signature or an output.
    """

    def __init__(self, path: str, *, name: str, task: Task):
        self._name, self._task = name, task
        try:
            self._loaded = tf.saved_model.load(path)
        except (OSError, ValueError, tf.errors.OpError) as error:
            raise NoAnswer(f"{name} in {path} cannot be loaded: {error}") from error
        signature = self._loaded.signatures.get(signatures.SERVING_DEFAULT)
        outputs = signature.structured_outputs if signature is not None else {}
        missing = [output for output in _OUTPUTS[task] if output not in outputs]
        if missing:
            raise NoAnswer(
                f"{name} in {path} has no output {missing} in its signature "
                f"{signatures.SERVING_DEFAULT}, which {task} needs. It has: "
                f"{sorted(outputs)}."
            )
        self._signature = signature

    def answer(self, texts: Sequence[str]) -> Answers:
        """The answers to some texts, in their order; one that writes knows no names.

        Raises:
          NoAnswer: if they are not one for each text, or hold no probability.
        """
        given = tf.constant([t.encode("utf-8", "surrogateescape") for t in texts])
        try:
            found = {k: v.numpy() for k, v in self._signature(given).items()}
        except tf.errors.OpError as error:
            raise NoAnswer(
                f"{self._name} failed on {len(texts)} texts, such as "
                f"{_short(texts[0])!r}: {error.message.strip().splitlines()[0]}"
            ) from error
        for output in _OUTPUTS[self._task]:
            if len(found[output]) != len(texts):
                raise NoAnswer(
                    f"{self._name} gave {len(found[output])} answers ({output}) to "
                    f"{len(texts)} texts, so it cannot be told which is whose."
                )
        predictions = [_text(p) for p in found[_OUTPUTS[self._task][0]]]
        if self._task == "summarization":
            return Answers(predictions, [], np.zeros((len(texts), 0)))
        return self._with_scores(texts, predictions, found)

    def _with_scores(
        self, texts: Sequence[str], predictions: list[str], found: dict[str, Any]
    ) -> Answers:
        names, scores = found[signatures.ALL_LABELS], found[signatures.ALL_SCORES]
        wrong = ~((scores >= 0) & (scores <= 1)).all(axis=1)  # NaN is neither.
        if wrong.any():
            row = int(np.argmax(wrong))
            raise NoAnswer(
                f"{self._name} gave a score that is no probability to {wrong.sum()} of "
                f"{len(texts)} texts, such as {_short(texts[row])!r}: "
                f"{scores[row].tolist()[:5]}."
            )
        if (names != names[:1]).any():
            raise NoAnswer(f"{self._name} gave its labels in an order that changes.")
        return Answers(predictions, [_text(n) for n in names[0]], scores.astype(float))


def join(parts: Sequence[Answers], rows: Sequence[Sequence[int]]) -> Answers:
    """The answers to batches of rows, in the order of the rows.

    Args:
      rows: for each part, the numbers of its rows; each from 0 on comes once.
    """
    order = [row for batch in rows for row in batch]
    place = np.argsort(order, kind="stable")
    predictions = [p for part in parts for p in part.predictions]
    scores = np.concatenate([part.scores for part in parts])
    return Answers([predictions[i] for i in place], parts[0].names, scores[place])


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _short(text: str) -> str:
    return text[:_MOST_CHARACTERS_SHOWN]
