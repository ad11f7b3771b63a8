"""`texttune schema infer` and `schema diff`: from data to a schema, and against one."""

import os
from collections.abc import Mapping, Sequence

import numpy as np

from components.data_gate import reviewed_schema
from components.data_gate.reviewed_schema import Column
from components.data_gate.texts import text_statistics
from components.example_gen import core, reading
from components.example_gen.account import Account
from components.example_gen.examples import Example
from components.example_gen.settings import DERIVED_SLICES, DataSettings
from components.schema_inference import inferring, writing
from components.schema_inference.differences import Difference, compare
from components.schema_inference.inferring import InferredSchema
from pipeline import checkpoints, fingerprints, place, schema_files, whole_file
from pipeline.config import Config, ConfigError
from pipeline.preparing import unusable
from pipeline.quiet import quiet_stderr

Splits = dict[str, list[Example]]
Lengths = Mapping[str, Mapping[str, np.ndarray]]
_SUFFIX = ".pbtxt"


def infer(
    config: Config, *, job: str, output: str, force: bool
) -> tuple[InferredSchema, Account]:
    """Writes the schema of the job's data, whole or not at all.

    Args:
      config: the job; its `reviewed_schema` has no part in this.
      job: the configuration's name for the file's first line.
      output: the .pbtxt file to write.
      force: whether a file that is there may be replaced.

    Raises:
      ConfigError: for a path or checkpoint that cannot be used.
      DataRefused: for data that a run would refuse at its start.
    """
    _check_output(output, force)
    checkpoint_dir = checkpoints.locate(config)
    try:
        settings = place.with_files(config.data)
        splits, account = _ingest(settings, config.task)
    except OSError as error:
        raise unusable(error) from error
    lengths = _count_tokens(config, splits, checkpoint_dir)
    schema = inferring.infer(
        splits,
        settings=settings,
        task=config.task,
        longest_tokens=None if lengths is None else _longest(lengths),
        derived=_derived(settings, account),
    )
    text = writing.to_text(schema, job)
    reviewed_schema.parse(text)  # What we write, we read.
    _write(output, text)
    return schema, account


def diff(
    config: Config, columns: Mapping[str, Column]
) -> tuple[list[Difference], tuple[str, ...]]:
    """Holds the job's data against a reviewed schema.

    Returns:
      (the differences, the files that were read).

    Raises:
      ConfigError: for a path or checkpoint that cannot be used.
      DataRefused: for data that a run would refuse at its start.
    """
    try:
        settings = place.with_files(config.data)
        missing = _missing_slices(settings)
        read = tuple(s for s in settings.slices if s not in missing)
        settings = settings.model_copy(update={"slices": read})
        splits, account = _ingest(settings, config.task)
    except OSError as error:
        raise unusable(error) from error
    lengths: Lengths | None = {}
    if any(column.max_tokens for column in columns.values()):
        lengths = _count_tokens(config, splits, checkpoints.locate(config))
    found = compare(
        splits,
        columns,
        read=read,
        missing=missing,
        lengths=lengths,
        derived=_derived(settings, account),
    )
    if lengths is None:
        line = "The checkpoint is made or fetched by the first run; compare again then."
        found.append(Difference("Lengths are not compared", (line,), stops=False))
    return found, (*settings.train, *(settings.eval or ()))


def default_output(config: Config) -> str:
    """`schemas/NAME.pbtxt` of the project, where a config finds it by its name."""
    name = config.name.replace("-", "_")
    folder = os.path.join(fingerprints.project_dir(), "schemas")
    return os.path.relpath(os.path.join(folder, name + _SUFFIX))


def name_of(path: str) -> str:
    """How `data.reviewed_schema` names a file: by its name alone in `schemas/`."""
    full = os.path.abspath(path)
    in_schemas = os.path.join(fingerprints.project_dir(), "schemas")
    if os.path.dirname(full) == in_schemas:
        return os.path.basename(full).removesuffix(_SUFFIX)
    return full


def schema_to_compare(
    config: Config, name: str | None
) -> tuple[str, dict[str, Column]]:
    """(path, columns) of the schema that is named, or else of the job's own.

    Raises:
      ConfigError: if neither names one, or it is none.
    """
    key = "data.reviewed_schema" if name is None else "--schema"
    path = place.schema_file(name or config.data.reviewed_schema, key)
    if path is None:
        raise ConfigError(
            "data.reviewed_schema: this job names no schema. Pass one with --schema, "
            "or make one with `texttune schema infer`."
        )
    return path, schema_files.read(path, key)


def _ingest(settings: DataSettings, task: str) -> tuple[Splits, Account]:
    ingested = core.ingest(settings, task)
    splits = {name: list(rows) for name, rows in ingested.splits.items()}
    return splits, ingested.account


def _derived(settings: DataSettings, account: Account) -> frozenset[str]:
    columns = {name for file in account.files for name in file.columns}
    return settings.derived_slices(columns)


def _missing_slices(settings: DataSettings) -> tuple[str, ...]:
    """The slice columns that one of the files lacks."""
    bare = settings.model_copy(update={"slices": ()})
    paths = (*settings.train, *(settings.eval or ()))
    sources = [reading.check_columns(path, bare) for path in paths]
    return tuple(
        name
        for name in settings.slices
        if name not in DERIVED_SLICES and any(name not in s.columns for s in sources)
    )


def _count_tokens(
    config: Config, splits: Splits, checkpoint_dir: str
) -> Lengths | None:
    """Tokens of each row; None if there is no checkpoint yet to count them by."""
    if not os.path.isdir(checkpoint_dir):
        return None
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    with quiet_stderr():
        from components.data_gate.texts import token_counts

        count_tokens = token_counts.counter(checkpoint_dir, config.model)
        counts = text_statistics.count_all(splits, config.task, count_tokens)
    return {
        split: {feature: counted.lengths for feature, counted in of_split.items()}
        for split, of_split in counts.items()
    }


def _longest(lengths: Lengths) -> dict[str, int]:
    longest: dict[str, int] = {}
    for of_split in lengths.values():
        for feature, counts in of_split.items():
            longest[feature] = max(longest.get(feature, 0), int(counts.max()))
    return longest


def _check_output(output: str, force: bool) -> None:
    """Before the data is read, which may take a while."""
    if not output.endswith(_SUFFIX):
        raise ConfigError(f"--output {output}: name a file that ends in {_SUFFIX}.")
    if os.path.isdir(output):
        raise ConfigError(f"--output {output}: this is a folder. Name a file in it.")
    if os.path.lexists(output) and not force:
        raise ConfigError(
            f"--output {output}: it is there already, and somebody may have reviewed "
            "it. Name another file, compare with `texttune schema diff`, or replace "
            "it with --force."
        )
    folder = os.path.dirname(output) or "."
    if not os.path.isdir(folder):
        raise ConfigError(
            f"--output {output}: there is no folder {folder}. Make it, or name another."
        )
    if not os.access(folder, os.W_OK):
        raise ConfigError(
            f"--output {output}: {folder} cannot be written to. Name another folder."
        )


def _write(output: str, text: str) -> None:
    try:
        whole_file.write(output, text)
    except OSError as error:
        raise ConfigError(
            f"--output {output}: it cannot be written: {error.strerror}."
        ) from error


def summary(schema: InferredSchema, account: Account) -> Sequence[str]:
    """What was made, in a few lines for the terminal."""
    rows = ", ".join(f"{n:,} {split}" for split, n in schema.rows.items())
    lines = [
        f"{sum(schema.rows.values()):,} rows ({rows}); min_count {schema.min_rows:,}"
    ]
    if rejected := sum(file.rejected_rows for file in account.files):
        lines.append(f"{rejected:,} more were rejected and have no part in it")
    for column in schema.columns:
        if column.values is not None:
            what = f"closed list of {len(column.values)}"
        elif column.max_tokens is not None:
            what = f"free text of up to {column.max_tokens:,} tokens"
        else:
            what = "any value"
        lines.append(f"{column.name}: {what}")
    return lines
