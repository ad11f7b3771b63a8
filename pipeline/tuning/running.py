"""`texttune tune` put together: the study of a job, its trials as runs, the outcome."""

import dataclasses
import hashlib
import json
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

from pipeline import local_run
from pipeline.config import Config, ConfigError
from pipeline.lock import Held, RootLock
from pipeline.plan import Plan, TrialOf
from pipeline.preparing import Options, prepare, unusable
from pipeline.terminal import Terminal
from pipeline.tuning import search as searches
from pipeline.tuning import space as spaces
from pipeline.tuning import table
from pipeline.tuning.space import Space, Values
from pipeline.tuning.terminal import SearchTerminal, TrialTerminal
from pipeline.tuning.trials import Result, Trial, best_first, result_of
from trainer_module.progress import DataRefused

Run = Callable[[Config, Options, Terminal], int]

FOLDER, DATABASE = "tuning", "tuning.sqlite"
_LAST_NODE = "Trainer"
_NOT_LEARNED = ("train.tensorboard", "train.checkpoint_minutes")


@dataclasses.dataclass(frozen=True)
class Asked:
    """What the command line says.

    Attributes:
      with_values: the job with other settings, as `--set` would give it.
      run_command, tune_command: the words that run this job, and that search again.
      trials: of the study in the end; None takes the configuration's.
      minutes: after which no further trial begins.
      study: its name; None for one made from what it is of.
    """

    with_values: Callable[[Values], Config]
    run_command: Sequence[str]
    tune_command: Sequence[str]
    trials: int | None = None
    minutes: float | None = None
    study: str | None = None


def tune(asked: Asked, run: Run = local_run.run) -> int:
    """Searches, and returns the exit code.

    Args:
      asked: the job, and how it is searched.
      run: runs the DAG for one trial, and shows it to a terminal.

    Raises:
      ConfigError: before any trial, for what cannot be searched; later, if the data
        has changed or the trials cannot be kept.
    """
    config = asked.with_values({})
    keep = config.train.keep_best
    terminal = SearchTerminal(metric=keep.metric, direction=keep.direction)
    space = spaces.resolved(Space.of(config), asked.with_values)
    try:
        plan = prepare(config, Options(to_node=_LAST_NODE))
    except DataRefused as refusal:
        terminal.data_refused(refusal.findings)
        return local_run.DATA_REFUSED
    lock = _locked(str(config.runner.root))
    try:
        with local_run.signals_interrupt():
            return _Tuning(asked, plan, space, terminal, run).search()
    except KeyboardInterrupt:
        terminal.interrupted(spaces.command(asked.tune_command, {}))
        return local_run.INTERRUPTED
    except OSError as error:
        raise unusable(error) from error
    finally:
        lock.release()


def _locked(root: str) -> RootLock:
    folder = os.path.join(root, FOLDER)
    lock = RootLock(folder)
    try:
        os.makedirs(folder, exist_ok=True)
        lock.acquire()
    except Held as held:
        raise ConfigError(
            f"another `texttune tune` is at work in {root}. Wait until it has ended, "
            "or choose another folder with --root."
        ) from held
    except OSError as error:
        raise unusable(error) from error
    return lock


class _Tuning:
    """The parts of one command, once all is known to be good."""

    def __init__(
        self,
        asked: Asked,
        plan: Plan,
        space: Space,
        terminal: SearchTerminal,
        run: Run,
    ):
        self._asked, self._plan, self._space = asked, plan, space
        self._terminal, self._run = terminal, run
        config = plan.config
        self._keep = config.train.keep_best
        self._trials = asked.trials or config.tune.trials
        self._root = str(config.runner.root)
        self._told = 0
        self._key = key_of(plan, space)
        self._name = asked.study or f"{config.name}-{self._key[:8]}"
        self._table = os.path.join(self._root, FOLDER, f"{self._name}.csv")

    def search(self) -> int:
        from pipeline.tuning import study as studies  # Optuna takes a while.

        began = time.monotonic()
        minutes = self._asked.minutes
        with studies.opened(
            os.path.join(self._root, DATABASE),
            name=self._name,
            key=self._key,
            direction=self._keep.direction,
            seed=self._plan.config.train.seed,
            log=os.path.join(self._root, FOLDER, f"{self._name}.log"),
        ) as study:
            self._begin(study)
            search = searches.Search(
                study,
                self._space,
                run=self._run_trial,
                tell=lambda trial: self._tell(study.trials(), trial),
                trials=self._trials,
                deadline=None if minutes is None else began + 60 * minutes,
            )
            code = search.go_on()
            self._end(study, code, search.ended_because)
        return code

    def _begin(self, study: Any) -> None:
        left = study.take_over()
        self._terminal.header(self._name, self._space, study.trials(), self._trials)
        self._terminal.spans(self._plan.span_notes)
        for number in left:
            self._terminal.note(
                f"trial {number} was interrupted, and is run again with its settings."
            )
        if study.trials():
            return
        own = self._space.own(self._plan.config)
        outside = self._space.outside(own)
        if outside:
            held = ", ".join(f"{key} is {spaces.shown(own[key])}" for key in outside)
            self._terminal.note(
                "the configuration's own settings are not tried, since they lie "
                f"outside of the space: {held}."
            )
        else:
            study.try_first(self._space.parameters(own))
            self._terminal.note(
                "the first trial is that of the configuration's own settings."
            )

    def _run_trial(self, number: int, settings: Values) -> Result:
        title = f"trial {number}: {spaces.in_short(settings)}"
        terminal = TrialTerminal(title)
        options = Options(
            to_node=_LAST_NODE,
            wait=True,
            tuning=TrialOf(study=self._name, trial=number),
        )
        try:
            config = self._asked.with_values(settings)
            code = self._run(config, options, terminal)
        except ConfigError as error:
            return Result(exit_code=local_run.USAGE, reason=str(error))
        if terminal.record is None:
            return Result(exit_code=code, reason=" ".join(terminal.refused))
        result = result_of(
            terminal.record,
            metric=self._keep.metric,
            direction=self._keep.direction,
        )
        if result.data != self._plan.fingerprints.data:
            raise ConfigError(
                "the data has changed since the search began, so its trials cannot be "
                "compared any more. The same command begins a new study, of the data "
                "as it is now."
            )
        return result

    def _tell(self, trials: Sequence[Trial], last: Trial) -> None:
        self._told += 1
        self._terminal.trial(trials, last)
        table.write(self._table, trials, keys=self._space.keys)

    def _end(self, study: Any, code: int, why: str) -> None:
        trials = study.trials()
        table.write(self._table, trials, keys=self._space.keys)
        if code == local_run.INTERRUPTED:
            self._terminal.interrupted(spaces.command(self._asked.tune_command, {}))
            return
        if not why and not self._told:
            why = f"All are done already; --trials {2 * self._trials} adds as many."
        best = best_first(trials, direction=self._keep.direction)
        self._terminal.ended(
            best,
            why=why,
            importances=study.importances(),
            way_on=spaces.command(
                self._asked.run_command, best[0].settings if best else {}
            ),
            table=self._table,
        )


def key_of(plan: Plan, space: Space) -> str:
    """Equal for studies whose values can be compared: SHA-256, 64 hex digits."""
    config = plan.config
    left_out = (*space.keys, *_NOT_LEARNED)
    # What is fetched or made is known by its name, also before it is there.
    checkpoint = config.model.checkpoint
    is_named = checkpoint == "create" or checkpoint.startswith("hub:")
    parts = {
        "task": config.task,
        "data": plan.fingerprints.data,
        "read": config.data.model_dump(
            mode="json",
            exclude={"train", "eval", "spans", "gate", "slices", "reviewed_schema"},
        ),
        "checkpoint": None if is_named else plan.fingerprints.checkpoint,
        "served": plan.fingerprints.served
        if config.train.warm_start == "blessed"
        else None,
        "model": _without(config.model.model_dump(mode="json"), left_out, "model."),
        "train": _without(config.train.model_dump(mode="json"), left_out, "train."),
        "space": space.dimensions,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _without(
    section: dict[str, Any], left_out: Sequence[str], prefix: str
) -> dict[str, Any]:
    return {
        name: _without(value, left_out, f"{prefix}{name}.")
        if isinstance(value, dict)
        else value
        for name, value in section.items()
        if f"{prefix}{name}" not in left_out
    }
