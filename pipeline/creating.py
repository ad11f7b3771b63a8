"""`texttune checkpoint create`: checks first, then makes the folder."""

import os
from collections.abc import Mapping

from pydantic import ValidationError

from components.example_gen import reading
from components.example_gen.settings import DataSettings
from components.example_gen.texts import texts_of
from pipeline.config import ConfigError
from trainer_module.progress import DataRefused
from trainer_module.settings import CreateCheckpoint


def create_checkpoint(
    *, data: str, text: str, target: str, output: str, shape: Mapping[str, int]
) -> None:
    """Makes the folder `output`; see `trainer_module.create_checkpoint.create`.

    Raises:
      ConfigError: for a file, column, shape or folder that cannot be used.
    """
    if os.path.exists(output):
        raise ConfigError(f"--output {output}: it exists already. Name a new folder.")
    if not os.path.exists(data):
        raise ConfigError(f"--data {data}: there is no such file.")
    try:
        settings = CreateCheckpoint(**shape)
        columns = DataSettings(train=data, text=text, target=target)
        reading.check_columns(data, columns)
    except DataRefused as refusal:
        raise ConfigError(f"--data: {refusal}") from refusal
    except ValidationError as error:
        problem = error.errors()[0]
        flag = "-".join(str(part) for part in problem["loc"]).replace("_", "-")
        raise ConfigError(f"--{flag}: {problem['msg']}.") from error
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    from trainer_module.create_checkpoint import create

    try:
        create(texts_of(columns, "summarization"), settings, output)
    except ValueError as error:
        raise ConfigError(f"--vocabulary-size: {error}") from error
