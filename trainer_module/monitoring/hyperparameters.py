"""Settings as the flat values that TensorBoard's table of trainings holds. Pure."""

from collections.abc import Mapping
from typing import Any

from trainer_module.settings import TrainerSettings

Value = bool | int | float | str
_LEFT_OUT = {
    "tensorboard",
    "checkpoint_minutes",
}  # They change nothing that is learned.


def of(settings: TrainerSettings) -> dict[str, Any]:
    """What of the settings may make two trainings differ, nested as in the job."""
    return {
        "model": settings.model.model_dump(
            mode="json",
            # The shape of a T5 that is made here; another checkpoint has its own.
            exclude=None if settings.model.checkpoint == "create" else {"create"},
        ),
        "train": settings.train.model_dump(mode="json", exclude=_LEFT_OUT),
    }


def flat(nested: Mapping[str, Any], prefix: str = "") -> dict[str, Value]:
    """{"a": {"b": 1}} as {"a.b": 1}; null as "none", a list as its items with commas.

    Raises:
      TypeError: for a value of another type, naming its key.
    """
    found: dict[str, Value] = {}
    for key, value in nested.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            found |= flat(value, f"{name}.")
        elif value is None:
            found[name] = "none"
        elif isinstance(value, list | tuple):
            found[name] = ", ".join(map(str, value))
        elif isinstance(value, bool | int | float | str):
            found[name] = '""' if value == "" else value  # A blank cell tells nothing.
        else:
            raise TypeError(
                f"Hyperparameter `{name}` must be a number, text, truth value or null, "
                f"or a list or mapping of these. Received: {type(value).__name__}."
            )
    return found
