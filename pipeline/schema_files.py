"""Reviewed schemas on the disk: read and checked before anything heavy starts."""

from components.data_gate import reviewed_schema
from components.data_gate.reviewed_schema import Column
from pipeline.config import ConfigError


def read(path: str, key: str = "data.reviewed_schema") -> dict[str, Column]:
    """What the schema in `path` says, by feature.

    Args:
      path: the .pbtxt file.
      key: what named it, for the message.

    Raises:
      ConfigError: if it is no schema; names file and line.
    """
    try:
        with open(path, encoding="utf-8") as file:
            return reviewed_schema.parse(file.read())
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{key}: {path} is no schema: it is not UTF-8 text. {_WAY_OUT}"
        ) from error
    except OSError as error:
        raise ConfigError(
            f"{key}: {path} cannot be read: {error.strerror}. {_WAY_OUT}"
        ) from error
    except reviewed_schema.SchemaError as error:
        where = path if error.line is None else f"{path}, line {error.line}"
        raise ConfigError(f"{key}: {where}: {error}. {_WAY_OUT}") from error


_WAY_OUT = (
    "A schema is text like schemas/support_intent.pbtxt; `texttune schema infer` makes "
    "one from data."
)
