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
        model, info = model_class.from_pretrained(
            checkpoint_dir, use_safetensors=True, output_loading_info=True, **options
        )
    except Exception as error:  # Each of the library's loaders has its own errors.
        raise Refusal(
            f"model.checkpoint: {checkpoint_dir} cannot be loaded as "
            f"{model_class.__name__}: {type(error).__name__}: {error}. Take another "
            "checkpoint, or save this one again with `safe_serialization=True`."
        ) from error
    missing = [
        name
        for name in info["missing_keys"]
        if not any(part in name for part in new_parts)
    ]
    mismatched = [str(entry[0]) for entry in info.get("mismatched_keys", ())]
    if missing or mismatched:
        wrong = [*missing, *mismatched]
        more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        unused = info["unexpected_keys"][:_SHOWN]
        raise Refusal(
            f"model.checkpoint: {checkpoint_dir} lacks weights of its model, which "
            f"would start at random: {', '.join(wrong[:_SHOWN])}{more}. "
            f"Weights of the file without a place: {unused or 'none'}. The file is not "
            "that of config.json; copy both from where the model came from."
        )
    return model
