"""A study that outlives the process: Optuna, with its storage in a SQLite file."""

import contextlib
import logging
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import optuna
import sqlalchemy
from optuna.trial import FrozenTrial, TrialState

from pipeline.config import ConfigError
from pipeline.tuning.space import Space, Values
from pipeline.tuning.trials import Result, Trial

_KEY = "texttune_key"
_REASON_KILLED = "The process was killed."
_MIN_TRIALS_OF_IMPORTANCE = 10

_STATES = {
    TrialState.COMPLETE: "done",
    TrialState.FAIL: "failed",
    TrialState.RUNNING: "running",
}


class Study:
    """The trials of one search, and what to try next.

    Use `opened`. One process at a time: it takes what runs for dead.
    """

    def __init__(
        self, study: optuna.Study, storage: optuna.storages.BaseStorage, *, seed: int
    ):
        self._study, self._storage, self._seed = study, storage, seed
        self._id = storage.get_study_id_from_name(study.study_name)

    @property
    def name(self) -> str:
        return self._study.study_name

    def trials(self) -> list[Trial]:
        """Those that have begun, in order."""
        frozen = self._study.get_trials(deepcopy=False)
        return [_read(t) for t in frozen if t.state in _STATES]

    def try_first(self, parameters: Values) -> None:
        """What the first trial of a new study uses."""
        if not self._study.get_trials(deepcopy=False):
            self._study.enqueue_trial(parameters)

    def take_over(self) -> list[int]:
        """Puts back what a dead process left running; gives the numbers."""
        left = self._study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))
        for frozen in left:
            self._put_back(frozen, _REASON_KILLED)
        return [frozen.number for frozen in left]

    def begin(self, space: Space) -> tuple[int, Values]:
        """The next trial's number, and its settings.

        The same settings come whether the search was interrupted or not: the sampler
        begins anew for each trial that counts, with a seed of its own.
        """
        counted = sum(trial.counts for trial in self.trials())
        seeds = np.random.SeedSequence([self._seed, counted])
        self._study.sampler = optuna.samplers.TPESampler(
            seed=int(seeds.generate_state(1)[0])
        )
        trial = self._study.ask()
        settings = space.suggest(trial)
        trial.set_user_attr("settings", settings)
        return trial.number, settings

    def finish(self, number: int, result: Result) -> None:
        """Records how a trial ended."""
        for name in ("run_id", "seconds", "epoch", "reason"):
            if getattr(result, name) is not None:
                self._note(number, name, getattr(result, name))
        if result.value is None:
            self._study.tell(number, state=TrialState.FAIL)
        else:
            self._study.tell(number, result.value)

    def interrupt(self, number: int, result: Result) -> None:
        """Records that a trial did not end; its settings come again next."""
        self._note(number, "run_id", result.run_id)
        self._note(number, "seconds", result.seconds)
        frozen = self._study.get_trials(deepcopy=False)[number]
        self._put_back(frozen, result.reason or "The search was interrupted.")

    def importances(self) -> dict[str, float]:
        """By key, the share of the differences between good and poor trials.

        PED-ANOVA, Watanabe et al. 2023, https://arxiv.org/abs/2304.10255. Empty where
        there are fewer than ten trials with a value, or no differences.
        """
        done = self._study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        if len(done) < _MIN_TRIALS_OF_IMPORTANCE or len({t.value for t in done}) < 2:
            return {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            evaluator = optuna.importance.PedAnovaImportanceEvaluator()
            found = optuna.importance.get_param_importances(
                self._study, evaluator=evaluator
            )
        return found if sum(found.values()) > 0 else {}

    def _put_back(self, frozen: FrozenTrial, reason: str) -> None:
        fixed = frozen.system_attrs.get("fixed_params", {})
        self._study.enqueue_trial(
            {**fixed, **frozen.params}, user_attrs={"again": frozen.number}
        )
        self._note(frozen.number, "interrupted", True)
        self._note(frozen.number, "reason", reason)
        self._study.tell(frozen.number, state=TrialState.FAIL)

    def _note(self, number: int, name: str, value: Any) -> None:
        trial_id = self._storage.get_trial_id_from_study_id_trial_number(
            self._id, number
        )
        self._storage.set_trial_user_attr(trial_id, name, value)


def _read(frozen: FrozenTrial) -> Trial:
    noted = frozen.user_attrs
    state: Any = "interrupted" if noted.get("interrupted") else _STATES[frozen.state]
    return Trial(
        number=frozen.number,
        state=state,
        settings=noted.get("settings", {}),
        value=frozen.value if frozen.state is TrialState.COMPLETE else None,
        **{
            name: noted.get(name)
            for name in ("epoch", "seconds", "run_id", "reason", "again")
        },
    )


@contextlib.contextmanager
def opened(
    path: str, *, name: str, key: str, direction: str, seed: int, log: str
) -> Iterator[Study]:
    """The study of this name; a new one where there is none.

    Args:
      path: of the SQLite file.
      name: of the study.
      key: equal for studies whose values can be compared.
      direction: "min" or "max".
      seed: of what is tried.
      log: the file that Optuna's own notes go to.

    Raises:
      ConfigError: if the file holds no studies, or cannot be written, or the study of
        this name has another key.
    """
    with _logged_to(log), _errors_in_words(path):
        storage = optuna.storages.RDBStorage(
            sqlalchemy.URL.create("sqlite", database=path).render_as_string()
        )
        try:
            study = optuna.create_study(
                storage=storage,
                study_name=name,
                direction={"min": "minimize", "max": "maximize"}[direction],
                load_if_exists=True,
            )
            known = study.user_attrs.get(_KEY)
            if known is None:
                study.set_user_attr(_KEY, key)
            elif known != key:
                raise ConfigError(_other_study(name))
            yield Study(study, storage, seed=seed)
        finally:
            storage.remove_session()
            storage.engine.dispose()


def _other_study(name: str) -> str:
    return (
        f"--study {name}: there is a study of this name, for other data, settings or "
        "another space, and values of the two cannot be compared. Choose another name, "
        "or leave --study out: a study is then named by what it is made of."
    )


@contextlib.contextmanager
def _errors_in_words(path: str) -> Iterator[None]:
    try:
        yield
    except (
        optuna.exceptions.StorageInternalError,
        sqlalchemy.exc.SQLAlchemyError,
    ) as error:
        cause = getattr(error.__cause__, "orig", None) or error.__cause__ or error
        problem = str(cause).strip().splitlines()[0]
        raise ConfigError(
            f"{path}: the trials of searches cannot be kept there ({problem}). Make "
            "room if the disk is full, restore the file from a backup, or move it away "
            "(the record of earlier trials is lost)."
        ) from error


@contextlib.contextmanager
def _logged_to(path: str) -> Iterator[None]:
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    optuna.logging.disable_default_handler()
    logger = logging.getLogger("optuna")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        handler.close()
