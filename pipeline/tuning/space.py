"""The space of a search: its settings as they are tried, told and typed. Pure."""

import dataclasses
import json
import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from pipeline.config import Config, ConfigError
from pipeline.tuning.settings import Dimension, Kind, kind_of
from trainer_module.settings import Task

Values = dict[str, Any]  # Dotted key -> value, as a configuration holds it.

_DIGITS = 4  # Of a real number that is tried: more say nothing, and are long to type.

# Around what is published for fine-tuning all weights, with room for adapters. BERT:
# Devlin et al. 2019, appendix A.3, https://arxiv.org/abs/1810.04805. T5 with AdamW:
# 1e-4 and 3e-4, https://huggingface.co/docs/transformers/model_doc/t5. The size of a
# batch is left out, so that no trial needs more memory than the configuration does.
_DEFAULTS: dict[Task, dict[str, dict[str, Any]]] = {
    "classification": {
        "train.learning_rate": {"low": 1e-5, "high": 1e-3, "log": True},
        "train.epochs": {"low": 2, "high": 10},
        "train.warmup_share": {"low": 0.0, "high": 0.2},
        "train.dropout": {"low": 0.0, "high": 0.3},
    },
    "summarization": {
        "train.learning_rate": {"low": 5e-5, "high": 3e-3, "log": True},
        "train.epochs": {"low": 2, "high": 8},
        "train.warmup_share": {"low": 0.0, "high": 0.2},
        "train.dropout": {"low": 0.0, "high": 0.2},
    },
}


class Suggesting(Protocol):
    """What draws values: a trial of Optuna."""

    def suggest_int(
        self, name: str, low: int, high: int, *, step: int, log: bool
    ) -> int: ...

    def suggest_float(
        self, name: str, low: float, high: float, *, step: float | None, log: bool
    ) -> float: ...

    def suggest_categorical(self, name: str, choices: Sequence[Any]) -> Any: ...


@dataclasses.dataclass(frozen=True)
class Setting:
    """One key of the space."""

    key: str
    dimension: Dimension
    kind: Kind

    def suggest(self, trial: Suggesting) -> Any:
        """Draws the value that a trial uses."""
        if self.dimension.choices is not None:
            by_code = {_code(choice): choice for choice in self.dimension.choices}
            return by_code[trial.suggest_categorical(self.key, list(by_code))]
        low, high = self.dimension.bounds
        step, log = self.dimension.step, self.dimension.log
        if self.kind == "whole":
            whole_step = int(step or 1)
            return trial.suggest_int(
                self.key, int(low), int(high), step=whole_step, log=log
            )
        drawn = trial.suggest_float(self.key, low, high, step=step, log=log)
        return min(max(float(f"{drawn:.{_DIGITS}g}"), low), high)

    def holds(self, value: Any) -> bool:
        """Whether the value can be drawn."""
        if self.dimension.choices is not None:
            return _code(value) in map(_code, self.dimension.choices)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        low, high = self.dimension.bounds
        steps = (value - low) / self._step if self._step else 0.0
        return low <= value <= high and abs(steps - round(steps)) < 1e-6

    @property
    def _step(self) -> float | None:
        return self.dimension.step or (1.0 if self.kind == "whole" else None)

    @property
    def size(self) -> float:
        """How many values there are; infinite for a range of real numbers."""
        if self.dimension.choices is not None:
            return len(self.dimension.choices)
        low, high = self.dimension.bounds
        return round((high - low) / self._step) + 1 if self._step else math.inf

    @property
    def in_words(self) -> str:
        if self.dimension.choices is not None:
            *first, last = map(shown, self.dimension.choices)
            return f"{', '.join(first)} or {last}"
        low, high = map(shown, map(self._as_kind, self.dimension.bounds))
        step = self.dimension.step
        how = f" in steps of {shown(self._as_kind(step))}" if step else ""
        return f"{low} to {high}{how}{', on a log scale' if self.dimension.log else ''}"

    def to_try(self) -> dict[str, Any]:
        """The values that stand for all: where each stands -> value."""
        if self.dimension.choices is not None:
            return {f"choice {typed(c)}": c for c in self.dimension.choices}
        low, high = map(self._as_kind, self.dimension.bounds)
        return {"low": low, "high": high}

    def _as_kind(self, value: float) -> int | float:
        return int(value) if self.kind == "whole" else value


class Space:
    """All settings of a search.

    Args:
      dimensions: by dotted key; checked, see `settings.TuneSettings`.
    """

    def __init__(self, dimensions: Mapping[str, Dimension]):
        self.settings = tuple(
            Setting(key, dimension, kind_of(key))
            for key, dimension in dimensions.items()
        )

    @classmethod
    def of(cls, config: Config) -> "Space":
        """That of the section `tune`; of the task, if the section has none."""
        return cls(config.tune.space or default_space(config.task))

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(setting.key for setting in self.settings)

    @property
    def size(self) -> float:
        """How many unlike trials there are; may be infinite."""
        return math.prod(setting.size for setting in self.settings)

    @property
    def dimensions(self) -> dict[str, Any]:
        """As JSON, by key: equal for equal spaces."""
        return {
            s.key: s.dimension.model_dump(mode="json", exclude_defaults=True)
            for s in self.settings
        }

    def suggest(self, trial: Suggesting) -> Values:
        return {setting.key: setting.suggest(trial) for setting in self.settings}

    def own(self, config: Config) -> Values:
        """The settings of the configuration itself."""
        return {key: value_of(config, key) for key in self.keys}

    def outside(self, values: Values) -> tuple[str, ...]:
        """The keys whose value the space does not hold."""
        return tuple(s.key for s in self.settings if not s.holds(values[s.key]))

    def parameters(self, values: Values) -> dict[str, Any]:
        """What is to be drawn for `values`, all of which the space holds."""
        return {key: _code(value) for key, value in values.items()}


def default_space(task: Task) -> dict[str, Dimension]:
    """The space where a configuration has none."""
    return {key: Dimension(**how) for key, how in _DEFAULTS[task].items()}


def resolved(space: Space, with_values: Callable[[Values], Config]) -> Space:
    """The same space, with each choice as the configuration reads it.

    Each end of a range and each choice is held against the configuration's own rules.

    Args:
      space: what is to be searched.
      with_values: the configuration with other values.

    Raises:
      ConfigError: naming the key, the value, what is wrong, and the way out.
    """
    read: dict[str, Dimension] = {}
    base = with_values({})
    for setting in space.settings:
        _refuse_below_null(base, setting.key)
        found = []
        for where, value in setting.to_try().items():
            try:
                config = with_values({setting.key: value})
            except ConfigError as error:
                raise ConfigError(_refused(setting, where, value, error)) from error
            found.append(value_of(config, setting.key))
        dimension = setting.dimension
        if dimension.choices is not None:
            _refuse_equal(setting, found)
            dimension = dimension.model_copy(update={"choices": tuple(found)})
        read[setting.key] = dimension
    return Space(read)


def _refuse_below_null(config: Config, key: str) -> None:
    parent = key.rpartition(".")[0]
    if value_of(config, parent) is None:
        raise ConfigError(
            f"tune.space.{key}: `{parent}` is null in the configuration, so there is "
            f"nothing to set in it. Give it a value: `--set '{parent}={{}}'`, or give "
            f"`{parent}` itself choices."
        )


def _refused(setting: Setting, where: str, value: Any, error: ConfigError) -> str:
    said = str(error).splitlines()[0]
    said = said.removeprefix(f"--set {override(setting.key, value)[:80]}: ")
    if setting.dimension.choices is None:
        way = f"--set tune.space.{setting.key}.{where}=VALUE"
        where = f"{where} {typed(value)}"
    else:
        way = f"--set 'tune.space.{setting.key}.choices=[...]'"
    return (
        f"tune.space.{setting.key}: {where} cannot be tried, since the configuration "
        f"itself refuses it: {said} Change the space: `{way}`."
    )


def _refuse_equal(setting: Setting, choices: Sequence[Any]) -> None:
    codes = [_code(choice) for choice in choices]
    for number, code in enumerate(codes):
        if code in codes[:number]:
            raise ConfigError(
                f"tune.space.{setting.key}: two of the choices are the same value, "
                f"{typed(choices[number])}. Remove one of them."
            )


def value_of(config: Config, key: str) -> Any:
    """What a configuration holds at a dotted key; None below a null."""
    found: Any = config.model_dump(mode="json")
    for part in key.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found


def override(key: str, value: Any) -> str:
    """What stands behind `--set`."""
    return f"{key}={typed(value)}"


def typed(value: Any) -> str:
    """A value as it is typed in YAML."""
    if isinstance(value, float):
        mantissa, e, exponent = repr(value).partition("e")
        # YAML 1.1 takes 1e-05 for a text.
        return f"{mantissa}.0e{exponent}" if e and "." not in mantissa else repr(value)
    if isinstance(value, str) and value.isidentifier() and not _is_word(value):
        return value
    return json.dumps(value, default=str)


def _is_word(text: str) -> bool:
    """Whether YAML 1.1 reads it as something else than a text."""
    return text.lower() in ("null", "true", "false", "yes", "no", "on", "off", "y", "n")


def command(program: Sequence[str], values: Values) -> str:
    """A line for a shell: the program's words, then `--set` for each value."""
    words = [*program]
    for key, value in values.items():
        words += ["--set", override(key, value)]
    return shlex.join(words)


def in_short(values: Values) -> str:
    """`learning_rate 0.0003, epochs 5`: told in one line."""
    told = (f"{_last_part(key)} {shown(value)}" for key, value in values.items())
    return ", ".join(told)


def shown(value: Any) -> str:
    """A value for people, who read 3e-05 as well as YAML reads 3.0e-05."""
    return f"{value:.{_DIGITS}g}" if isinstance(value, float) else typed(value)


def _last_part(key: str) -> str:
    return key.partition(".")[2]


def _code(choice: Any) -> Any:
    """What Optuna keeps of a choice: a plain value, or its JSON."""
    if choice is None or isinstance(choice, bool | int | float | str):
        return choice
    return json.dumps(choice, sort_keys=True, default=str)
