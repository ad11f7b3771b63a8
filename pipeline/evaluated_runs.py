"""Which run is meant, and where the artifacts of its evaluation lie. Pure."""

import dataclasses
import os

from pydantic import ValidationError

from components.evaluator.settings import GateSettings, check_gate
from pipeline import run_record, trainings
from pipeline.config import ConfigError, load
from pipeline.run_record import Record
from trainer_module.settings import Task

# The artifacts that tell what was evaluated, and how.
_NEEDED = (
    ("ExampleGen", "examples"),
    ("Trainer", "model"),
    ("Trainer", "model_run"),
    ("Evaluator", "evaluation"),
)
_SERVING = "Format-Serving"  # As TFX names it, in a Model.
_AGAIN = "`texttune run --no-cache` with its configuration makes a whole run."


@dataclasses.dataclass(frozen=True)
class EvaluatedRun:
    """A run whose model was evaluated.

    Attributes:
      run_id: of the run.
      folder: of its record.
      task: of its job.
      record: its summary.json.
      examples, model, model_run, evaluation: folders of artifacts, all there.
    """

    run_id: str
    folder: str
    task: Task
    record: Record
    examples: str
    model: str
    model_run: str
    evaluation: str

    @property
    def serving_model(self) -> str:
        return os.path.join(self.model, _SERVING)


def find(run: str, runs_dir: str) -> EvaluatedRun:
    """The run that is named.

    Args:
      run: a run's id or folder, or "latest": the newest run with an evaluation.
      runs_dir: where the ids are looked for.

    Raises:
      ConfigError: if there is no such run, it has not got to its evaluation, or an
        artifact is not there any more.
    """
    if run == trainings.LATEST:
        run_dir = _latest(runs_dir)
    else:
        run_dir = trainings.folder_of(run, runs_dir)
    run_id = os.path.basename(os.path.abspath(run_dir))
    record = run_record.read_summary(run_dir)
    if record is None:
        raise ConfigError(
            f"run {run_id} has not ended, or its summary.json is damaged. Try again "
            "once it has ended."
        )
    lacking = [f"{node}.{key}" for node, key in _NEEDED if not _uri(record, node, key)]
    if lacking:
        raise ConfigError(
            f"run {run_id} has no evaluation of its own: {_why_none(record)} It lacks "
            f"{', '.join(lacking)}. {_AGAIN}"
        )
    uris = {key: _uri(record, node, key) for node, key in _NEEDED}
    found = EvaluatedRun(run_id, run_dir, record["config"]["task"], record, **uris)
    for folder in (*uris.values(), found.serving_model):
        if not os.path.isdir(folder):
            raise ConfigError(
                f"run {run_id} left {folder}, and there is no such folder now. {_AGAIN}"
            )
    return found


def gate_of(run: EvaluatedRun, config_path: str | None) -> GateSettings:
    """The gate of the run's own configuration, or that of a file.

    Raises:
      ConfigError: if it does not suit the run: another task, columns that its rows
        do not have.
    """
    if config_path is None:
        try:
            return GateSettings.model_validate(run.record["config"]["gate"])
        except ValidationError as error:
            raise ConfigError(
                f"the gate in the record of run {run.run_id} is of another release: "
                f"{error.errors()[0]['msg']}. Give a gate with `--config FILE`."
            ) from error
    config = load(config_path)
    if config.task != run.task:
        raise ConfigError(
            f"{config_path}: this is a job of {config.task}, and run {run.run_id} one "
            f"of {run.task}. Give a configuration of the same task."
        )
    try:
        check_gate(config.gate, run.task, run.record["config"]["data"]["slices"] or ())
    except ValueError as error:
        raise ConfigError(
            f"{config_path}: its gate does not suit run {run.run_id}: {error}."
        ) from error
    return config.gate


def _latest(runs_dir: str) -> str:
    ids = trainings.newest_first(runs_dir)
    for run_id in ids:
        run_dir = os.path.join(runs_dir, run_id)
        record = run_record.read_summary(run_dir)
        if record and all(_uri(record, node, key) for node, key in _NEEDED):
            return run_dir
    if ids:
        raise ConfigError(
            f"{trainings.LATEST}: no run in {runs_dir} has got through its Evaluator. "
            f"{trainings.newest(ids)}"
        )
    raise ConfigError(
        f"{trainings.LATEST}: there are no runs in {runs_dir}. {trainings.OTHER_ROOT}"
    )


def _uri(record: Record, node: str, key: str) -> str:
    """Where the artifact lies; an output of a node that failed counts for none."""
    if node == "Evaluator" and not record["evaluation"]:
        return ""
    return record["artifacts"].get(node, {}).get(key, "")


def _why_none(record: Record) -> str:
    if record["partial"]:
        return "it ran a part of the DAG. Name the whole run that it starts from."
    return f"it ended ({record['outcome']}) before that."
