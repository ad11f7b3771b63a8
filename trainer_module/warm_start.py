"""Whether a training may go on from a model that was exported before.

Its folder, `Format-HF` beside the SavedModel, must be of the same architecture,
vocabulary, labels and head as the job asks for: then every weight has its place.
"""

import hashlib
import json
import os
from collections.abc import Sequence
from typing import Any

import tensorflow as tf
import transformers

from trainer_module import hugging_face
from trainer_module.progress import Refusal
from trainer_module.settings import TrainerSettings

FOLDER = "Format-HF"  # As `run_fn` names it, beside Format-Serving.
CLASSIFIER_FILE = "classifier.safetensors"  # The head after mean pooling.

_VOCABULARIES = ("vocab.txt", "spiece.model")
_SHAPE = {
    "bert": (
        *("hidden_size", "num_hidden_layers", "num_attention_heads"),
        *("intermediate_size", "hidden_act", "layer_norm_eps"),
        *("vocab_size", "max_position_embeddings", "type_vocab_size"),
    ),
    "t5": (
        *("d_model", "num_layers", "num_decoder_layers", "num_heads", "d_kv", "d_ff"),
        *("feed_forward_proj", "layer_norm_epsilon", "tie_word_embeddings"),
        *("vocab_size", "relative_attention_num_buckets"),
        "relative_attention_max_distance",
    ),
}
# mT5 is trained as a T5 of its shape, and so it is exported.
_FAMILIES = {"mt5": "t5"}
_SHOWN = 5
_WAY_OUT = "To begin from model.checkpoint instead: `--set train.warm_start=never`."


def folder_of(base_model: str | None) -> str | None:
    """The Hugging Face folder beside the SavedModel that TFX calls the base model.

    Args:
      base_model: `fn_args.base_model`, ".../Format-Serving"; None at the first run.
    """
    if base_model is None:
        return None
    return os.path.join(os.path.dirname(base_model.rstrip("/")), FOLDER)


def check(folder: str, settings: TrainerSettings, names: Sequence[str] = ()) -> None:
    """Refuses a folder whose weights are not those of the model that is to be trained.

    Args:
      folder: what `export.save_hugging_face` wrote.
      names: the labels of a classification, in the order of class ids.

    Raises:
      Refusal: naming what differs, both sides, and the way out.
    """
    _refuse_incomplete(folder, "config.json", hugging_face.WEIGHTS)
    there, here = _config(folder), _config(settings.checkpoint_dir)
    _refuse_other_architecture(folder, there, here)
    vocabulary = _vocabulary(settings.checkpoint_dir)
    _refuse_incomplete(folder, vocabulary)
    _refuse_other_vocabulary(folder, settings.checkpoint_dir, vocabulary)
    if settings.task == "classification":
        known = [there.id2label[number] for number in sorted(there.id2label)]
        _refuse_other_labels(folder, known, names)
        _refuse_other_pooling(folder, settings.model.pooling)


def _refuse_incomplete(folder: str, *needed: str) -> None:
    if not tf.io.gfile.isdir(folder):
        raise Refusal(
            "train.warm_start: the blessed model has no Hugging Face folder: there is "
            f"no {folder}. It was removed since, or exported by something else. "
            f"{_WAY_OUT}"
        )
    present = tf.io.gfile.listdir(folder)
    missing = [name for name in needed if name not in present]
    if missing:
        raise Refusal(
            f"train.warm_start: the blessed model in {folder} lacks "
            f"{', '.join(missing)}. It is damaged, or of another kind. {_WAY_OUT}"
        )


def _refuse_other_architecture(folder: str, there, here) -> None:
    families = [_FAMILIES.get(c.model_type, c.model_type) for c in (there, here)]
    keys = _SHAPE[families[1]] if families[0] == families[1] else ("model_type",)
    sides = [
        f"{key} {getattr(there, key)!r} there, {getattr(here, key)!r} in the checkpoint"
        for key in keys
        if getattr(there, key) != getattr(here, key)
    ]
    if sides:
        raise Refusal(
            f"train.warm_start: the blessed model in {folder} is of another "
            f"architecture than model.checkpoint: {'; '.join(sides)}. {_WAY_OUT}"
        )


def _refuse_other_vocabulary(folder: str, checkpoint_dir: str, name: str) -> None:
    if _bytes(folder, name) != _bytes(checkpoint_dir, name):
        raise Refusal(
            f"train.warm_start: {os.path.join(folder, name)} is not the {name} of "
            f"{checkpoint_dir}: the blessed model knows other pieces of text by its "
            f"ids. {_WAY_OUT}"
        )
    there, here = _lower_cases(folder), _lower_cases(checkpoint_dir)
    if there != here:
        raise Refusal(
            f"train.warm_start: `do_lower_case` of tokenizer_config.json is {there} in "
            f"{folder}, and {here} in {checkpoint_dir}. {_WAY_OUT}"
        )


def _refuse_other_labels(folder: str, there: list[str], here: Sequence[str]) -> None:
    if there == list(here):
        return
    came = [name for name in here if name not in set(there)]
    went = [name for name in there if name not in set(here)]
    if came or went:
        difference = f"{_listed('new', came)}; {_listed('gone', went)}"
    else:
        difference = "the same names in another order"
    raise Refusal(
        f"train.warm_start: the {len(here)} labels of the data are not the "
        f"{len(there)} of the blessed model in {folder}, whose head has one row for "
        f"each: {difference}. {_WAY_OUT}"
    )


def _refuse_other_pooling(folder: str, pooling: str) -> None:
    there = "mean" if CLASSIFIER_FILE in tf.io.gfile.listdir(folder) else "cls"
    if there != pooling:
        raise Refusal(
            f"train.warm_start: the blessed model in {folder} was trained with "
            f"`model.pooling: {there}`, and this job has {pooling}. Set "
            f"`--set model.pooling={there}`. {_WAY_OUT}"
        )


def _vocabulary(checkpoint_dir: str) -> str:
    present = tf.io.gfile.listdir(checkpoint_dir)
    return next(name for name in _VOCABULARIES if name in present)


def _config(folder: str) -> Any:
    try:
        return transformers.AutoConfig.from_pretrained(folder)
    except Exception as error:  # The library's errors have no common base.
        raise Refusal(
            f"train.warm_start: {folder}/config.json cannot be read: {error}. "
            f"{_WAY_OUT}"
        ) from error


def _lower_cases(folder: str) -> bool:
    """As `tokenization` reads it."""
    if "tokenizer_config.json" not in tf.io.gfile.listdir(folder):
        return True
    return bool(
        json.loads(_bytes(folder, "tokenizer_config.json")).get("do_lower_case", True)
    )


def _bytes(folder: str, name: str) -> bytes:
    with tf.io.gfile.GFile(os.path.join(folder, name), "rb") as f:
        return f.read()


def _listed(word: str, names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    shown = ", ".join(repr(name) for name in names[:_SHOWN])
    return f"{word}: {shown or 'none'}{more}"


def content_hash(folder: str | None) -> str | None:
    """SHA-256 of the weights in a folder; None where there is none to start from."""
    if folder is None:
        return None
    sha = hashlib.sha256()
    for name in (hugging_face.WEIGHTS, CLASSIFIER_FILE):
        path = os.path.join(folder, name)
        if tf.io.gfile.exists(path):
            with tf.io.gfile.GFile(path, "rb") as f:
                while block := f.read(2**24):
                    sha.update(block)
    return sha.hexdigest()
