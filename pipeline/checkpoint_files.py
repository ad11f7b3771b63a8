"""The files of a checkpoint, checked against one another before a run. Light."""

import json
import os
import stat
from typing import Any

from pipeline.config import ConfigError

ARCHITECTURES = {"classification": ("bert",), "summarization": ("t5", "mt5")}
TOKENIZER_FILE = {"bert": "vocab.txt", "t5": "spiece.model", "mt5": "spiece.model"}
WEIGHTS = "model.safetensors"
_SPECIAL_PIECES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
# The last part of the embedding's name in files of PyTorch and of TensorFlow.
_EMBEDDING = {"bert": "word_embeddings", "t5": "shared", "mt5": "shared"}
# <extra_id_0> and so on, embedded after the pieces where the tokenizer's settings do
# not say how many.
_SENTINELS = {"t5": 100, "mt5": 0}
_ROUNDED_UP_TO = 128  # Embeddings of T5 and mT5, for TPUs.
_KEY = "model.checkpoint"


def check(path: str, task: str, *, max_source_tokens: int | None = None) -> None:
    """Refuses a directory that lacks a part, or whose parts do not fit together.

    Args:
      max_source_tokens: what the job asks of a model with absolute positions.

    Raises:
      ConfigError: naming the part, what is there, and what is needed.
    """
    if not os.path.isdir(path):
        raise ConfigError(
            f"{_KEY}: there is no folder {path}. Allowed: a folder in Hugging Face "
            "format, package:NAME, hub:OWNER/NAME@REVISION, or create."
        )
    present = sorted(os.listdir(path))
    if "config.json" not in present:
        raise ConfigError(f"{_KEY}: {path} has no config.json. {_there(present)}")
    _refuse_special_files(path, present)
    config = _read_object(path, "config.json")
    kind = config.get("model_type")
    if kind not in ARCHITECTURES[task]:
        raise ConfigError(
            f"{_KEY}: {path} holds a {kind!r} model; {task} needs one of "
            f"{list(ARCHITECTURES[task])}."
        )
    if TOKENIZER_FILE[kind] not in present:
        raise ConfigError(
            f"{_KEY}: {path} lacks its tokenizer: a {kind} checkpoint needs "
            f"{TOKENIZER_FILE[kind]}. {_there(present)} Copy the file from where the "
            "model came from."
        )
    if WEIGHTS not in present:
        raise ConfigError(
            f"{_KEY}: {path} has no {WEIGHTS}. {_there(present)} Weights are read from "
            "one file of safetensors only: other formats can run code when they are "
            "loaded, and shards are not joined. Save the model again with "
            "`safe_serialization=True, max_shard_size='100GB'`."
        )
    rows = _embedding_rows(path, kind)
    if rows != config.get("vocab_size"):
        raise ConfigError(
            f"{_KEY}: {path}/{WEIGHTS} embeds {rows} pieces, and config.json says "
            f"`vocab_size` {config.get('vocab_size')}. They are of different models; "
            "copy both from where the model came from."
        )
    if kind in _SENTINELS:
        _check_sentence_pieces(path, kind, rows)
    if kind == "bert":
        _check_vocabulary(path, rows)
        _check_positions(path, config, max_source_tokens)


def _refuse_special_files(path: str, present: list[str]) -> None:
    """A pipe would be read for ever when the folder is hashed."""
    for name in present:
        full = os.path.join(path, name)
        if not os.path.exists(full) or not (
            os.path.isdir(full) or stat.S_ISREG(os.stat(full).st_mode)
        ):
            raise ConfigError(
                f"{_KEY}: {full} is neither a file nor a folder. Remove it, or copy "
                "the checkpoint again."
            )


def _read_object(path: str, name: str) -> dict[str, Any]:
    try:
        with open(os.path.join(path, name), encoding="utf-8") as f:
            values = json.load(f)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{_KEY}: {path}/{name} is not valid: {error}.") from error
    if not isinstance(values, dict):
        raise ConfigError(
            f"{_KEY}: {path}/{name} is not valid: it holds no JSON object."
        )
    return values


def _embedding_rows(path: str, kind: str) -> int:
    """How many pieces the weights embed; reads the header of the file only."""
    import safetensors

    file = os.path.join(path, WEIGHTS)
    try:
        with safetensors.safe_open(file, framework="numpy") as weights:
            for name in weights.keys():  # noqa: SIM118  It is no dict.
                if _EMBEDDING[kind] in name.replace("/", ".").split("."):
                    return int(weights.get_slice(name).get_shape()[0])
    except OSError:
        raise
    except Exception as error:  # The library's errors have no common base.
        raise ConfigError(
            f"{_KEY}: {file} is not a file of safetensors, or is cut off ({error}). "
            "Copy it again from where the model came from."
        ) from error
    raise ConfigError(
        f"{_KEY}: {file} has no weight {_EMBEDDING[kind]!r}, which a {kind} model "
        "needs. Copy it again from where the model came from."
    )


def _check_vocabulary(path: str, rows: int) -> None:
    file = os.path.join(path, TOKENIZER_FILE["bert"])
    try:
        with open(file, encoding="utf-8") as f:
            pieces = f.read().split("\n")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{_KEY}: {file} is not UTF-8: {error.reason}.") from error
    if pieces[-1] == "":
        pieces.pop()
    missing = sorted(set(_SPECIAL_PIECES) - set(pieces))
    if missing:
        raise ConfigError(
            f"{_KEY}: {file} lacks the pieces {missing}, so it is no BERT vocabulary. "
            "Copy it again from where the model came from."
        )
    # Embeddings are often rounded up, to a multiple of 64 at most.
    if not rows - 64 < len(pieces) <= rows:
        raise ConfigError(
            f"{_KEY}: {file} has {len(pieces)} pieces, and the model embeds {rows}. "
            "They are of different models; copy both from where the model came from."
        )


def _check_sentence_pieces(path: str, kind: str, rows: int) -> None:
    """Too few rows and an id has none; far too many are those of another model."""
    file = os.path.join(path, TOKENIZER_FILE[kind])
    pieces = _count_sentence_pieces(file)
    sentinels = _sentinels(path, kind)
    if not rows - _ROUNDED_UP_TO < pieces + sentinels <= rows:
        raise ConfigError(
            f"{_KEY}: {file} has {pieces} pieces, which with {sentinels} sentinels "
            f"make {pieces + sentinels}, and the model embeds {rows}. They are of "
            "different models; copy both from where the model came from."
        )


def _count_sentence_pieces(file: str) -> int:
    import sentencepiece

    with open(file, "rb") as f:
        content = f.read()
    try:
        if content:  # Of an empty model the library says 0, and more on stderr.
            model = sentencepiece.SentencePieceProcessor(model_proto=content)
            return int(model.vocab_size())
    except RuntimeError:
        pass
    raise ConfigError(
        f"{_KEY}: {file} is no SentencePiece model, or is cut off. Copy it again from "
        "where the model came from."
    )


def _sentinels(path: str, kind: str) -> int:
    if not os.path.isfile(os.path.join(path, "tokenizer_config.json")):
        return _SENTINELS[kind]
    said = _read_object(path, "tokenizer_config.json").get("extra_ids")
    return said if isinstance(said, int) else _SENTINELS[kind]


def _check_positions(
    path: str, config: dict[str, Any], max_source_tokens: int | None
) -> None:
    positions = config.get("max_position_embeddings")
    if not max_source_tokens or not isinstance(positions, int):
        return
    if max_source_tokens > positions:
        raise ConfigError(
            f"model.max_source_tokens: {max_source_tokens} is more than the "
            f"{positions} positions of {path}. Set "
            f"`--set model.max_source_tokens={positions}` or less, or take another "
            "checkpoint."
        )


def _there(names: list[str]) -> str:
    """What a folder has, in a line of bounded length."""
    if not names:
        return "It is empty."
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return f"It has: {', '.join(names[:10])}{more}."
