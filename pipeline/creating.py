"""`texttune checkpoint create`: checks first, then makes the folder."""

import os
from collections.abc import Mapping

from pydantic import ValidationError

from components.example_gen import files, reading
from components.example_gen.settings import SPAN_PLACEHOLDER, DataSettings
from components.example_gen.texts import texts_of
from pipeline.config import ConfigError
from pipeline.quiet import quiet_stderr
from trainer_module.progress import DataRefused
from trainer_module.settings import CreateCheckpoint


def create_checkpoint(
    *,
    data: str,
    text: str,
    target: str,
    encoding: str,
    output: str,
    shape: Mapping[str, int],
) -> list[reading.Row]:
    """Makes the folder `output`; see `trainer_module.create_checkpoint.create`.

    Returns:
      The rows that could not be read, and have no part in the vocabulary.

    Raises:
      ConfigError: for a file, column, shape or folder that cannot be used.
      DataRefused: for a row at which the file breaks its format.
    """
    if not output.strip("/") or os.path.lexists(output):
        raise ConfigError(f"--output {output}: it exists already. Name a new folder.")
    if SPAN_PLACEHOLDER in data:
        raise ConfigError(
            f"--data {data}: one file is read here, and {SPAN_PLACEHOLDER} stands for "
            "many. Name a file of one delivery; or let a run make the checkpoint from "
            "all that it reads, with `model.checkpoint: create`."
        )
    if not os.path.exists(data):
        raise ConfigError(
            f"--data {data}: there is no such file. {files.way_to_a_missing_file(data)}"
        )
    try:
        settings = CreateCheckpoint(**shape)
        columns = DataSettings(train=data, text=text, target=target, encoding=encoding)
        reading.check_columns(data, columns)
    except DataRefused as refusal:
        raise ConfigError(f"--data: {_with_options(refusal)}") from refusal
    except ValidationError as error:
        raise ConfigError(_in_words(error)) from error
    _make_parent(output)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    from trainer_module.create_checkpoint import create

    unread: list[reading.Row] = []
    texts = texts_of(columns, "summarization", passed_over=unread.append)
    try:
        with quiet_stderr():
            create(texts, settings, output)
    except DataRefused as refusal:  # At a line that only reading reaches.
        raise DataRefused(_with_options(refusal)) from refusal
    except ValueError as error:
        raise ConfigError(f"--data {data}, --vocabulary-size: {error}") from error
    return unread


def _make_parent(output: str) -> None:
    try:
        os.makedirs(os.path.dirname(os.path.abspath(output)), exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"--output {output}: there can be no such folder: {error.strerror}."
        ) from error


def _with_options(refusal: DataRefused) -> str:
    """Here the keys of a configuration are options of their own."""
    return str(refusal).replace("--set data.encoding=", "--encoding=")


def _in_words(error: ValidationError) -> str:
    problem = error.errors()[0]
    if not problem["loc"]:  # A rule that spans two options.
        rule = str(problem["ctx"]["error"])
        return rule.replace("`model.create.", "`--").replace("`data.", "`--") + "."
    flag = "-".join(str(part) for part in problem["loc"]).replace("_", "-")
    return f"--{flag}: {problem['msg']}. Received: {problem['input']!r}."
