"""Pretrained weights into a model: all of them, or a refusal."""

from collections.abc import Collection
from typing import Any

import transformers

from trainer_module.progress import Refusal

_SHOWN = 5


def load(
    model_class: type[transformers.TFPreTrainedModel],
    checkpoint_dir: str,
    *,
    new_parts: Collection[str] = (),
    **options: Any,
) -> transformers.TFPreTrainedModel:
    """`model_class.from_pretrained`, from safetensors only.

    The library starts a weight that the file lacks at random, and says so in a log:
    training then begins from less than the user believes.

    Args:
      new_parts: names of layers that may start at random, such as a head's.

    Raises:
      Refusal: if the file lacks a weight, or one has another shape.
    """
    try:
        model, info = _read(model_class, checkpoint_dir, **options)
    except Exception as error:  # Each of the library's loaders has its own errors.
        raise Refusal(
            f"model.checkpoint: {checkpoint_dir} cannot be loaded as "
            f"{model_class.__name__}: {type(error).__name__}: {error}. Take another "
            "checkpoint, or save this one again with `safe_serialization=True`."
        ) from error
    wrong = [name for name in _without_weights(info) if not _is_of(name, new_parts)]
    if wrong:
        unused = info["unexpected_keys"][:_SHOWN]
        raise Refusal(
            f"model.checkpoint: {checkpoint_dir} lacks weights of its model, which "
            f"would start at random: {_listed(wrong)}. "
            f"Weights of the file without a place: {unused or 'none'}. The file is not "
            "that of config.json; copy both from where the model came from."
        )
    return model


def load_exported(
    model_class: type[transformers.TFPreTrainedModel], folder: str, **options: Any
) -> transformers.TFPreTrainedModel:
    """`load` for what this project wrote: each weight has its place, none is left over.

    Raises:
      Refusal: if a weight is missing, has another shape, or has no place.
    """
    try:
        model, info = _read(model_class, folder, **options)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise _not_as_exported(model_class, folder, reason) from error
    wrong = [*_without_weights(info), *info["unexpected_keys"]]
    if wrong:
        reason = f"weights that do not match: {_listed(wrong)}"
        raise _not_as_exported(model_class, folder, reason)
    return model


def _not_as_exported(model_class, folder: str, reason: str) -> Refusal:
    return Refusal(
        f"train.warm_start: the weights in {folder} cannot be loaded as "
        f"{model_class.__name__}: {reason}. To begin from model.checkpoint instead: "
        "`--set train.warm_start=never`."
    )


def _read(model_class, folder: str, **options: Any):
    return model_class.from_pretrained(
        folder, use_safetensors=True, output_loading_info=True, **options
    )


def _without_weights(info: dict) -> list[str]:
    mismatched = [str(entry[0]) for entry in info.get("mismatched_keys", ())]
    return [*info["missing_keys"], *mismatched]


def _is_of(name: str, parts: Collection[str]) -> bool:
    return any(part in name for part in parts)


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"
