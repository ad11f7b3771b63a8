"""Runs a gate on damaged copies of a run's model, and on an identical one."""

import contextlib
import json
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from components.evaluator import predictions, self_test
from components.evaluator.comparing import Asked
from components.evaluator.gate import CANDIDATE
from components.evaluator.rows import Rows
from components.evaluator.scores.classification import Answers
from components.evaluator.settings import GateSettings
from pipeline import whole_file
from pipeline.config import ConfigError
from pipeline.evaluated_runs import EvaluatedRun
from pipeline.quiet import quiet_stderr

OUTCOME_FILE = "gate-selftest.json"
# Of a model that writes, which takes long: to tell a broken one needs no more rows.
MOST_ROWS_WRITTEN = 200
_INTERRUPTED = 130


def prove(run: EvaluatedRun, gate: GateSettings, *, of: str) -> dict[str, Any]:
    """Asks the copies, judges all trials, and writes the outcome to the run's folder.

    Args:
      of: where the gate comes from, in words.

    Returns:
      What `self_test.run` gives, with "run_id", "task", "gate", "rows" (of the eval
      split), "left_out" ({name of a damage: why}) and "notes".

    Raises:
      ConfigError: if the run's model cannot be copied or does not answer, or the
        outcome not be written.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    with quiet_stderr():
        outcome = _proved(run, gate, of)
    _write(outcome, os.path.join(run.folder, OUTCOME_FILE))
    return outcome


def _proved(run: EvaluatedRun, gate: GateSettings, of: str) -> dict[str, Any]:
    from components.evaluator import untuned

    rows = _rows(run, gate)
    numbers = _rows_to_ask(len(rows.targets), run)
    asked = _ask_copies(run, rows.of(numbers))
    if self_test.IDENTICAL in asked.refused:
        raise ConfigError(
            f"run {run.run_id}: its model cannot be asked, so there is nothing to "
            f"damage. {asked.refused[self_test.IDENTICAL]}"
        )
    model = self_test.Undamaged(
        rows,
        _answers(run, rows, numbers, asked),
        untuned.join(Asked({}), run.model_run, rows.example_ids),
    )
    trials, left_out = self_test.damaged(model, task=run.task)
    found = self_test.run(
        [
            self_test.identical(model),
            *trials,
            self_test.shuffled(model.of(numbers), asked),
        ],
        gate,
        task=run.task,
    )
    return {
        "run_id": run.run_id,
        "task": run.task,
        "gate": of,
        "rows": len(rows.targets),
        **found,
        "left_out": left_out,
        "notes": list(_notes(run, len(rows.targets), len(numbers))),
    }


def _rows(run: EvaluatedRun, gate: GateSettings) -> Rows:
    from tfx.types import artifact_utils, standard_artifacts

    from components.evaluator.reading import SPLIT, TRAIN_SPLIT, read_rows

    examples = standard_artifacts.Examples()
    examples.uri = run.examples
    examples.split_names = artifact_utils.encode_split_names([TRAIN_SPLIT, SPLIT])
    return read_rows(examples, gate)


def _rows_to_ask(rows: int, run: EvaluatedRun) -> list[int]:
    """Numbers of rows from all over the eval split: all of them, or enough."""
    if run.task == "classification" or rows <= MOST_ROWS_WRITTEN:
        return list(range(rows))
    return [n * rows // MOST_ROWS_WRITTEN for n in range(MOST_ROWS_WRITTEN)]


def _ask_copies(run: EvaluatedRun, rows: Rows) -> Asked:
    """The identical and the shuffled copy, about some rows."""
    from apache_beam.pipeline import Pipeline

    from components.evaluator import damaged_models
    from components.evaluator.asking import ask

    with _folder_of_copies() as folder:
        models = {}
        for name in (self_test.IDENTICAL, self_test.SHUFFLED):
            models[name] = os.path.join(folder, name.replace(" ", "-"))
            try:
                damaged_models.copy(
                    run.serving_model,
                    models[name],
                    task=run.task,
                    shuffled=name == self_test.SHUFFLED,
                )
            except damaged_models.Unusable as error:
                raise ConfigError(
                    f"run {run.run_id}: its model in {run.serving_model} cannot be "
                    f"copied: {error}"
                ) from error
        return ask(
            Pipeline,
            rows.sources,
            models,
            task=run.task,
            folder=os.path.join(folder, "answers"),
        )


@contextlib.contextmanager
def _folder_of_copies() -> Iterator[str]:
    """A temporary folder, which is removed also where a signal ends the process."""
    with tempfile.TemporaryDirectory(prefix="texttune-gate-") as folder:

        def end(number: int, frame: object) -> None:
            # No exception: TensorFlow would make an error of its own of it.
            shutil.rmtree(folder, ignore_errors=True)
            os._exit(_INTERRUPTED)

        before = {
            sign: signal.signal(sign, end)
            for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
            if signal.getsignal(sign) is not signal.SIG_IGN
        }
        try:
            yield folder
        finally:
            for sign, handler in before.items():
                signal.signal(sign, handler)


def _answers(
    run: EvaluatedRun, rows: Rows, numbers: Sequence[int], asked: Asked
) -> Answers:
    """The undamaged model's answers to all rows.

    Those that it was not asked for again are the ones that the Evaluator got.
    """
    again = asked.answers[self_test.IDENTICAL]
    if len(numbers) == len(rows.targets):
        return again
    known = _recorded(run)
    known |= {
        rows.example_ids[row]: text
        for row, text in zip(numbers, again.predictions, strict=True)
    }
    missing = [i for i in rows.example_ids if i not in known]
    if missing:
        raise ConfigError(
            f"run {run.run_id}: its evaluation in {run.evaluation} has no answer to "
            f"{len(missing):,} rows of the eval split, such as {missing[0]!r}. The "
            "examples or the evaluation were changed since."
        )
    texts = [known[example_id] for example_id in rows.example_ids]
    return Answers(texts, [], np.zeros((len(texts), 0)))


def _recorded(run: EvaluatedRun) -> dict[str, str]:
    path = os.path.join(run.evaluation, predictions.PREDICTIONS_FILE)
    try:
        with open(path, encoding="utf-8") as f:
            return predictions.read(f, CANDIDATE)
    except (OSError, ValueError, KeyError) as error:
        raise ConfigError(
            f"run {run.run_id}: the answers in {path} cannot be read: {error}. "
            "`texttune run --no-cache` with its configuration evaluates again."
        ) from error


def _notes(run: EvaluatedRun, rows: int, asked: int) -> Iterator[str]:
    if asked < rows:
        yield (
            f"The copies wrote to {asked} of the {rows:,} rows; the other answers are "
            "those that the Evaluator got."
        )
    if not run.record["evaluation"]["blessed"]:
        yield "In its run this model was refused."


def _write(outcome: dict[str, Any], path: str) -> None:
    """Whole or not at all."""
    try:
        whole_file.write(path, json.dumps(outcome, indent=1))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}.") from error
