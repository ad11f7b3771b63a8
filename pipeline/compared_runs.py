"""Which runs are compared, and what their folders hold for it. Pure."""

import os
import reprlib
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from components.evaluator import slices
from components.evaluator.gate import CANDIDATE
from components.evaluator.predictions import PREDICTIONS_FILE
from components.report.comparison import answered
from components.report.comparison.core import Side
from pipeline import plan as plans
from pipeline import run_record, trainings
from pipeline.config import ConfigError
from pipeline.run_record import Record
from trainer_module.settings import METRICS, Task

PREVIOUS = "previous"
_AGAIN = "`texttune run --no-cache` with its configuration evaluates again."


def find(run: str, runs_dir: str) -> str:
    """The folder of the run that is named.

    Args:
      run: a run's id or folder; "latest": the newest run with an evaluation;
        "previous": the one before that.
      runs_dir: where the ids are looked for.

    Raises:
      ConfigError: if there is no such run.
    """
    if run not in (trainings.LATEST, PREVIOUS):
        return trainings.folder_of(run, runs_dir)
    ids = trainings.newest_first(runs_dir)
    folders = [os.path.join(runs_dir, run_id) for run_id in ids]
    evaluated = [folder for folder in folders if _is_evaluated(folder)]
    number = 0 if run == trainings.LATEST else 1
    if number < len(evaluated):
        return evaluated[number]
    there = f"{len(evaluated)} of {len(ids)} runs" if ids else "no run"
    raise ConfigError(
        f"{run}: {there} in {runs_dir} got through the Evaluator. "
        f"{trainings.newest(ids) + ' ' if ids else ''}{trainings.OTHER_ROOT}"
    )


def page_path(folder_a: str, folder_b: str) -> str:
    """Where the page of two runs goes: beside their folders.

    Raises:
      ConfigError: if these lie in different roots.
    """
    parents = [os.path.dirname(os.path.realpath(f)) for f in (folder_a, folder_b)]
    if parents[0] != parents[1]:
        raise ConfigError(
            f"the runs lie in different roots: {parents[0]} and {parents[1]}. Say with "
            "`--output FILE` where the page is to go."
        )
    return os.path.join(parents[1], f"compare-{_id(folder_a)}-{_id(folder_b)}.html")


def pair(folder_a: str, folder_b: str) -> tuple[Side, Side]:
    """What is recorded of two runs.

    Raises:
      ConfigError: if both are one run, one has no evaluation, its record or its
        answers are damaged, or they are of different tasks.
    """
    names = _id(folder_a), _id(folder_b)
    if os.path.realpath(folder_a) == os.path.realpath(folder_b):
        raise ConfigError(
            f"both are run {names[0]}. Name two runs; `texttune runs list` shows which "
            "there are."
        )
    records = [_record(folder) for folder in (folder_a, folder_b)]
    tasks = [record["config"]["task"] for record in records]
    if tasks[0] != tasks[1]:
        raise ConfigError(
            f"run {names[0]} is one of {tasks[0]}, and run {names[1]} one of "
            f"{tasks[1]}: they have no metric in common. Name two runs of one task."
        )
    a, b = (_side(name, of) for name, of in zip(names, records, strict=True))
    return a, b


# Larger than any count, and within what a drawing takes.
_Whole = Annotated[int, Field(ge=-(2**53), le=2**53)]


class _Part(BaseModel):
    """A part of the record: what is read is what is written, so "5" is no number."""

    model_config = ConfigDict(strict=True)


class _Score(_Part):
    value: float | None
    low: float | None
    high: float | None


class _Metric(_Score):
    slice: str
    model: str
    metric: str


class _Label(_Part):
    label: str
    rows: _Whole
    model: str
    f1: _Score


class _Evaluation(_Part):
    rows: dict[str, _Whole]
    slices: dict[str, dict[str, str]] = {}
    confidence: Annotated[float, Field(gt=0, lt=1)]
    metrics: list[_Metric]
    labels: list[_Label] = []
    unknown_labels: dict[str, dict[str, _Whole]] = {}
    incomparable: dict[str, str] = {}


class _Gate(_Part):
    min_slice_rows: _Whole = 1


class _Config(_Part):
    task: Task
    model: dict[str, Any]
    gate: _Gate


class _Epoch(_Part):
    epoch: _Whole
    validation_loss: float | None = None
    metrics: dict[str, float | None] = {}
    seconds: float | None = None


class _File(_Part):
    rows_read: _Whole
    kept: _Whole
    rejected: dict[str, _Whole]
    left_out: _Whole = 0


class _Account(_Part):
    files: list[_File]
    splits: dict[str, _Whole]


class _ModelCheck(_Part):
    figures: dict[str, _Whole | float | None] = {}


class _Fingerprints(_Part):
    data: str | None = None
    checkpoint: str | None = None
    code: dict[str, str] = {}


class _RecordShape(_Part):
    """What a comparison reads of summary.json; a newer release may write more."""

    outcome: str
    name: str | None = None
    config: _Config
    evaluation: _Evaluation
    push: dict[str, Any] | None = None
    data: _Account | None = None
    training: list[_Epoch] | None = None
    model_check: _ModelCheck | None = None
    fingerprints: _Fingerprints | None = None
    artifacts: dict[str, dict[str, str]] = {}
    seconds: float | None = None
    peak_memory_mb: float | None = None


class _ListedConfig(_Part):
    task: str = ""


class _ListedEvaluation(_Part):
    metrics: list[_Metric]


class _ListedShape(_Part):
    """What a list of runs reads of summary.json."""

    outcome: str
    name: str | None = None
    config: _ListedConfig
    evaluation: _ListedEvaluation | None
    push: dict[str, Any] | None = None
    seconds: float | None = None


def _record(folder: str) -> Record:
    """The record of a run with scores.

    Raises:
      ConfigError: if there is none.
    """
    record = run_record.read_summary(folder)
    path = os.path.join(folder, plans.SUMMARY_FILE)
    if record is None:
        raise ConfigError(f"run {_id(folder)} {why_no_record(folder)}.")
    if not record["evaluation"]:
        raise ConfigError(
            f"run {_id(folder)} ended ({record['outcome']}) without an evaluation, so "
            "there is nothing to compare. `texttune runs list` shows the runs that "
            "have one."
        )
    try:
        _RecordShape.model_validate(record)
    except ValidationError as error:
        raise ConfigError(
            f"{path} is damaged, or of another release: {_in_words(error)} {_AGAIN}"
        ) from error
    main = METRICS[record["config"]["task"]][0]
    of_all = (slices.OVERALL, CANDIDATE, main)
    metrics = record["evaluation"]["metrics"]
    if of_all not in [(m["slice"], m["model"], m["metric"]) for m in metrics]:
        why = record["evaluation"].get("refused") or f"its record has no {main}."
        raise ConfigError(f"run {_id(folder)} has no scores: {why} {_AGAIN}")
    return record


def _in_words(error: ValidationError) -> str:
    """The first thing that is wrong, and where."""
    first = error.errors()[0]
    where, allowed = ".".join(map(str, first["loc"])), first["msg"]
    sentence = f"`{where}`: {allowed[:1].lower()}{allowed[1:]}."
    if first["type"] == "missing":
        return sentence
    return f"{sentence} Received: {reprlib.repr(first['input'])}."


def listed(folder: str) -> Record | None:
    """The record of a run as a list shows it; None if there is none to be shown."""
    record = run_record.read_summary(folder)
    try:
        _ListedShape.model_validate(record)
    except ValidationError:
        return None
    return record


def has_ended(folder: str) -> bool:
    """Whether the run has left a record, be it a damaged one."""
    return os.path.lexists(os.path.join(folder, plans.SUMMARY_FILE))


def why_no_record(folder: str) -> str:
    """What is wrong with a run that has no record that can be read."""
    path = os.path.join(folder, plans.SUMMARY_FILE)
    if has_ended(folder):
        return f"has a record that cannot be read: {path} is damaged"
    return f"has not ended, or was killed: there is no {path} yet"


def _side(run_id: str, record: Record) -> Side:
    evaluation = (record.get("artifacts") or {}).get("Evaluator", {}).get("evaluation")
    if not evaluation:
        return Side(run_id, record, None, f"run {run_id} records no Evaluator.")
    path = os.path.join(evaluation, PREDICTIONS_FILE)
    if not os.path.exists(path):
        why = f"the answers of run {run_id} are gone: there is no {path} now."
        return Side(run_id, record, None, why)
    try:
        with open(path, encoding="utf-8") as file:
            return Side(run_id, record, answered.read(file))
    except answered.Unreadable as unreadable:
        error: Exception = unreadable
        why = str(unreadable)
    except UnicodeDecodeError as no_text:
        error, why = no_text, f"byte {no_text.start:,} is no UTF-8"
    except OSError as refused:
        error, why = refused, refused.strerror or str(refused)
    raise ConfigError(
        f"run {run_id}: the answers in {path} cannot be read: {why}. {_AGAIN} Without "
        "this file the runs are compared by their records alone."
    ) from error


def _is_evaluated(folder: str) -> bool:
    record = run_record.read_summary(folder)
    return record is not None and bool(record["evaluation"])


def _id(folder: str) -> str:
    return os.path.basename(os.path.abspath(folder))
