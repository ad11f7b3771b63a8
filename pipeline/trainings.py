"""Which run is meant, and where its training's TensorBoard files lie. Pure."""

import dataclasses
import os
from collections.abc import Iterator, Sequence

from pipeline import plan as plans
from pipeline import run_record
from pipeline.config import ConfigError

LATEST = "latest"
FOLDER = "tensorboard"  # In the Trainer's `model_run`.
_RUNS_TOLD = 5


@dataclasses.dataclass(frozen=True)
class Training:
    """The training that a run shows.

    Attributes:
      run_id: of the run.
      folder: of its event files.
      state: "pushed" and the like of a run that has ended; else "not ended".
    """

    run_id: str
    folder: str
    state: str


def find(runs: Sequence[str], runs_dir: str) -> list[Training]:
    """The trainings of the runs that are named, each once.

    Args:
      runs: run ids, folders of runs, or "latest": the newest run with a training.
      runs_dir: where the ids are looked for.

    Raises:
      ConfigError: if there is no such run, or none of its training to be shown.
    """
    found = [_latest(runs_dir) if r == LATEST else _named(r, runs_dir) for r in runs]
    return list(dict.fromkeys(found))


def _latest(runs_dir: str) -> Training:
    ids = newest_first(runs_dir)
    for run_id in ids:
        training = _training(os.path.join(runs_dir, run_id))
        if training and os.path.isdir(training.folder):
            return training
    if ids:
        raise ConfigError(
            f"{LATEST}: no run in {runs_dir} has a training to be shown. {newest(ids)}"
        )
    raise ConfigError(f"{LATEST}: there are no runs in {runs_dir}. {OTHER_ROOT}")


def folder_of(run: str, runs_dir: str) -> str:
    """The folder of a run that is named by its id or its folder.

    Raises:
      ConfigError: if there is no such run.
    """
    run_dir = next(filter(_is_run, (os.path.join(runs_dir, run), run)), None)
    if run_dir is None:
        ids = newest_first(runs_dir)
        raise ConfigError(
            f"there is no run {run!r}: it is no id in {runs_dir}, and no folder of a "
            f"run. {newest(ids) if ids else 'No run is there at all.'} {OTHER_ROOT}"
        )
    return run_dir


def _named(run: str, runs_dir: str) -> Training:
    run_dir = folder_of(run, runs_dir)
    training = _training(run_dir)
    run_id = _id(run_dir)
    if training is None:
        raise ConfigError(f"run {run_id} has no training: {_why_none(run_dir)}")
    if not os.path.isdir(training.folder):
        raise ConfigError(
            f"run {run_id} wrote its training to {training.folder}, and there is no "
            "such folder now. `texttune run --from Trainer` trains again."
        )
    return training


def _training(run_dir: str) -> Training | None:
    """Where the training's files are, or were."""
    summary = run_record.read_summary(run_dir) or {}
    model_run = summary.get("artifacts", {}).get("Trainer", {}).get("model_run")
    state = summary.get("outcome", "not ended")
    told = [
        event["tensorboard"]
        for event in run_record.read_events(run_dir)
        if event["kind"] == "training" and event.get("tensorboard")
    ]
    places = [os.path.join(model_run, FOLDER)] if model_run else []
    places += told[-1:]
    there = [place for place in places if os.path.isdir(place)]
    place = next(iter([*there, *places]), None)
    return Training(_id(run_dir), place, state) if place else None


def _why_none(run_dir: str) -> str:
    summary = run_record.read_summary(run_dir) or {}
    if not summary:
        return "it did not get to the Trainer yet. Try again once it trains."
    if summary.get("partial"):
        return (
            "it ran a part of the DAG without the Trainer. Name the run that it starts "
            "from."
        )
    return f"it ended ({summary.get('outcome')}) before the Trainer."


def _is_run(folder: str) -> bool:
    names = (plans.PLAN_FILE, plans.EVENTS_FILE, plans.SUMMARY_FILE)
    return any(os.path.isfile(os.path.join(folder, name)) for name in names)


def _id(run_dir: str) -> str:
    return os.path.basename(os.path.abspath(run_dir))


def newest_first(runs_dir: str) -> list[str]:
    """The ids of the runs below a folder."""
    names = (
        sorted(os.listdir(runs_dir), reverse=True) if os.path.isdir(runs_dir) else []
    )
    return [name for name in names if _is_run(os.path.join(runs_dir, name))]


def newest(ids: Sequence[str]) -> str:
    """The newest of some ids, in words."""
    return f"The newest: {', '.join(ids[:_RUNS_TOLD])}."


OTHER_ROOT = "`--root DIR` or `--config FILE` names another root."


def by_name(trainings: Sequence[Training]) -> Iterator[tuple[str, Training]]:
    """Yields each with a name of its own: its run's id, numbered from the second on."""
    seen: dict[str, int] = {}
    for training in trainings:
        count = seen[training.run_id] = seen.get(training.run_id, 0) + 1
        yield training.run_id + (f" ({count})" if count > 1 else ""), training
