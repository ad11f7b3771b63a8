"""The `tune` section of a configuration: how many trials, of which settings. Pure."""

import difflib
import json
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, Field, field_validator, model_validator

from trainer_module.settings import ModelSettings, Section, TrainSettings

SECTIONS: dict[str, type[BaseModel]] = {"train": TrainSettings, "model": ModelSettings}

# What a search must not touch, and why.
NOT_TUNED = {
    "train.keep_best": "it is what the trials are compared by",
    "train.max_decoded_rows": "the trials would be compared on unlike rows",
    "train.seed": "the best seed is luck, and says nothing about other data",
    "train.warm_start": "what a trial starts from would change with each promotion",
    "train.checkpoint_minutes": "it changes nothing that is learned",
    "train.tensorboard": "it changes nothing that is learned",
    "model.checkpoint": "another checkpoint is another job; tune each on its own",
    "model.create": "another checkpoint is another job; tune each on its own",
    "model.max_target_tokens": "the losses of trials would be of unlike targets",
}
_LEAF_KEYS = {"low", "high", "step", "log", "choices"}
Kind = Literal["whole", "real", "other"]


class Dimension(Section):
    """The values that one setting may take: a range, both ends in it, or choices.

    `step` is between values of a range; `log` draws its exponent, not its value.
    """

    low: float | None = None
    high: float | None = None
    step: float | None = Field(None, gt=0)
    log: bool = False
    choices: tuple[Any, ...] | None = None

    @model_validator(mode="after")
    def _is_a_range_or_choices(self) -> "Dimension":
        if self.choices is not None:
            others = self.model_dump(exclude_defaults=True, exclude={"choices"})
            if others:
                raise ValueError(
                    f"`choices` and {sorted(others)} stand together; a setting has "
                    "either a range or choices. Remove one of them"
                )
            distinct = {
                json.dumps(c, sort_keys=True, default=str) for c in self.choices
            }
            if len(distinct) < max(len(self.choices), 2):
                raise ValueError(
                    f"`choices` needs two values or more, each once. Received: "
                    f"{list(self.choices)}. A single value belongs into the section "
                    "of the setting itself"
                )
            return self
        if self.low is None or self.high is None:
            raise ValueError(
                "a setting needs `low` and `high`, or `choices`. Received: "
                f"{self.model_dump(exclude_unset=True)}"
            )
        self._check_range(self.low, self.high)
        return self

    def _check_range(self, low: float, high: float) -> None:
        if low >= high:
            raise ValueError(
                f"`low` must be less than `high`. Received: low {low:g}, high {high:g}"
            )
        if self.log and low <= 0:
            raise ValueError(
                f"`log: true` needs a `low` above 0, whose logarithm there is. "
                f"Received: {low:g}. Raise `low`, or remove `log`"
            )
        if self.log and self.step is not None:
            raise ValueError(
                "`log` and `step` stand together, and equal steps are not those of a "
                "logarithm. Remove one of them"
            )
        if self.step is not None:
            steps = (high - low) / self.step
            if abs(steps - round(steps)) > 1e-6 * max(steps, 1.0) or round(steps) < 1:
                reached = low + max(int(steps), 1) * self.step
                raise ValueError(
                    f"`high` is no whole number of steps above `low`, so it would "
                    f"never be tried. Received: low {low:g}, high {high:g}, step "
                    f"{self.step:g}. Write `high: {reached:g}`"
                )

    @property
    def bounds(self) -> tuple[float, float]:
        """`low` and `high` of a range."""
        if self.low is None or self.high is None:
            raise TypeError("These are choices, not a range.")
        return self.low, self.high


class TuneSettings(Section):
    """How settings are searched for; see `texttune tune`.

    `space` is by dotted keys, such as train.learning_rate; empty takes the one of the
    task.
    """

    trials: int = Field(20, ge=1, le=10000)
    space: dict[str, Dimension] = {}

    @field_validator("space", mode="before")
    @classmethod
    def _dotted(cls, space: Any) -> Any:
        """`--set tune.space.train.epochs.high=9` comes as groups within groups."""
        if not isinstance(space, Mapping):
            return space
        flat: dict[str, Any] = {}
        for key, value in _leaves(space):
            if not isinstance(value, Mapping):
                raise ValueError(
                    f"`{key}` needs `low` and `high`, or `choices`, like "
                    f"{{choices: [1, 2]}}. Received: {value!r}"
                )
            known = flat.get(key)
            is_whole = "choices" in value or {"low", "high"} <= set(value)
            flat[key] = {**known, **value} if known and not is_whole else value
        return flat

    @field_validator("space")
    @classmethod
    def _keys_can_be_tuned(cls, space: dict[str, Dimension]) -> dict[str, Dimension]:
        for key, dimension in space.items():
            _check_key(key)
            _check_kind(key, dimension)
            within = [other for other in space if other.startswith(f"{key}.")]
            if within:
                raise ValueError(
                    f"`{key}` and `{within[0]}` stand together, and the first holds "
                    "the second. Remove one of them"
                )
        return space


def _leaves(group: Mapping, prefix: str = "") -> list[tuple[str, Any]]:
    found = []
    for key, value in group.items():
        name = f"{prefix}{key}"
        inner = isinstance(value, Mapping) and value and not set(value) & _LEAF_KEYS
        # A misspelt key of a setting is not a group: it is refused where it stands.
        is_section = not prefix and key in SECTIONS
        all_inner = inner and all(isinstance(v, Mapping) for v in value.values())
        if all_inner or (inner and is_section):
            found += _leaves(value, f"{name}.")
        else:
            found.append((name, value))
    return found


def kind_of(key: str) -> Kind:
    """Whether a setting is a whole number, a real one, or anything else.

    Raises:
      ValueError: if there is no such setting.
    """
    annotation = _annotation(key)
    if annotation is int:
        return "whole"
    return "real" if annotation is float else "other"


def _check_key(key: str) -> None:
    for held, why in NOT_TUNED.items():
        if key == held or key.startswith(f"{held}."):
            raise ValueError(
                f"`{key}` cannot be searched for: {why}. Remove it from the space"
            )
    _annotation(key)


def _check_kind(key: str, dimension: Dimension) -> None:
    if dimension.choices is not None:
        return
    kind = kind_of(key)
    if kind == "other":
        raise ValueError(
            f"`{key}` is no number, so it has no range. Give `choices` instead"
        )
    numbers = {"low": dimension.low, "high": dimension.high, "step": dimension.step}
    for name, value in numbers.items():
        if kind == "whole" and value is not None and not float(value).is_integer():
            raise ValueError(
                f"`{key}` is a whole number, and its `{name}` is not. Received: "
                f"{value:g}"
            )


def _annotation(key: str) -> Any:
    """The type of a setting, without None."""
    section, *rest = key.split(".")
    if section not in SECTIONS or not rest:
        raise ValueError(
            f"`{key}` is no setting that can be searched for. Allowed are those of "
            "`train` and `model`, such as train.learning_rate"
        )
    found: Any = SECTIONS[section]
    path = section
    for part in rest:
        fields = getattr(found, "model_fields", None)
        if not fields or part not in fields:
            raise ValueError(f"there is no setting `{key}`.{_near(part, fields, path)}")
        found, path = _without_none(fields[part].annotation), f"{path}.{part}"
    return found


def _without_none(annotation: Any) -> Any:
    if typing.get_origin(annotation) in (types.UnionType, typing.Union):
        kept = [a for a in typing.get_args(annotation) if a is not type(None)]
        return kept[0] if len(kept) == 1 else annotation
    return annotation


def _near(part: str, fields: Mapping[str, Any] | None, path: str) -> str:
    if not fields:
        return f" `{path}` has no keys below it"
    close = difflib.get_close_matches(part, fields, n=1)
    hint = f" Did you mean `{path}.{close[0]}`?" if close else ""
    free = [name for name in sorted(fields) if f"{path}.{name}" not in NOT_TUNED]
    return f"{hint} Allowed in `{path}`: {', '.join(free)}"
