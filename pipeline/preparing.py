"""The cheap checks before a run: what cannot work is refused within a second."""

import contextlib
import dataclasses
import os
import shutil
import sqlite3

from components.example_gen import files, reading, spans
from pipeline import checkpoints, deliveries, fingerprints, nodes, place
from pipeline import plan as plans
from pipeline.config import Config, ConfigError
from pipeline.plan import Plan, TrialOf

_MIN_FREE_MB = 500
# Runs from a later node take their data from an earlier run.
_BEFORE_DATA_IS_READ = (None, "Checkpoint", "ExampleGen")


@dataclasses.dataclass(frozen=True)
class Options:
    """What the command line says beyond the configuration, and for which trial."""

    from_node: str | None = None
    to_node: str | None = None
    use_cache: bool = True
    wait: bool = False
    tuning: TrialOf | None = None


def prepare(config: Config, options: Options) -> Plan:
    """Checks all that can be checked cheaply, and says what the run will be.

    Raises:
      ConfigError: for a path, node or folder that cannot be used.
      DataRefused: for a data file that cannot be read or lacks a column.
    """
    try:
        return _prepare(config, options)
    except OSError as error:
        raise unusable(error) from error


def unusable(error: OSError) -> ConfigError:
    """A file or folder that the system does not let us use, in words."""
    what = error.strerror or str(error)
    return ConfigError(f"{error.filename}: cannot be used: {what}.")


def _prepare(config: Config, options: Options) -> Plan:
    checkpoint_dir = checkpoints.locate(config)
    place.check_placeholders(config.data)
    data, found = spans.resolve(config.data)
    here = place.local(config, checkpoint_dir, data)
    for key in ("train", "eval"):
        for path in getattr(here.data, key) or ():
            if not os.path.exists(path):
                raise ConfigError(
                    f"data.{key}: there is no file {path}. "
                    f"{files.way_to_a_missing_file(path)}"
                )
            reading.check_columns(path, here.data)
    if here.schema_file is not None:
        from pipeline import schema_files  # Its imports take a tenth of a second.

        schema_files.read(here.schema_file)
    _check_nodes(config, options)
    _prepare_root(config)
    here = here.model_copy(
        update={"schema_file": _keep_schema(config, here.schema_file)}
    )
    hashes = place.file_hashes(here)
    plan = Plan(
        config=config,
        place=here,
        fingerprints=place.fingerprint(config, here, hashes),
        from_node=options.from_node,
        to_node=options.to_node,
        enable_cache=options.use_cache and options.from_node is None,
        tuning=options.tuning,
    )
    if found and options.from_node in _BEFORE_DATA_IS_READ:
        return deliveries.told(plan, found, hashes)
    return plan


def _check_nodes(config: Config, options: Options) -> None:
    known = nodes.of_dag(reviewed_schema=config.data.reviewed_schema is not None)
    for flag, node in (("--from", options.from_node), ("--to", options.to_node)):
        if node is not None and node not in known:
            raise ConfigError(
                f"{flag} {node}: there is no such node. Allowed: {', '.join(known)}."
            )
    first, last = options.from_node, options.to_node
    if first and last and known.index(first) > known.index(last):
        raise ConfigError(
            f"--from {first} --to {last}: {last} comes before {first}, so no node "
            f"would run. The order is {', '.join(known)}."
        )
    if options.from_node and not os.path.exists(plans.metadata_path(config)):
        raise ConfigError(
            f"--from {options.from_node}: there is no earlier run in "
            f"{config.runner.root} to take the nodes before it from. Run without "
            "--from."
        )


def _prepare_root(config: Config) -> None:
    _refuse_other_use(config)
    for key, folder in (
        ("runner.root", str(config.runner.root)),
        ("serving.dir", str(config.serving.dir)),
    ):
        try:
            os.makedirs(folder, exist_ok=True)
            probe = os.path.join(folder, f".probe-{os.getpid()}")
            with open(probe, "w", encoding="utf-8") as f:
                f.write("x")
            os.remove(probe)
        except OSError as error:
            raise ConfigError(
                f"{key}: {folder} cannot be written to: {error.strerror}. Choose "
                "another folder with --root."
            ) from error
        free_mb = shutil.disk_usage(folder).free // 2**20
        if free_mb < _MIN_FREE_MB:
            raise ConfigError(
                f"{key}: {folder} has {free_mb} MB of free space; a run needs at least "
                f"{_MIN_FREE_MB} MB. Make room, or choose another folder with --root."
            )


def _refuse_other_use(config: Config) -> None:
    """A root that holds something else under the names of a run's own files."""
    for name in ("runs", "artifacts", "schemas", "checkpoints"):
        path = os.path.join(str(config.runner.root), name)
        if os.path.lexists(path) and not os.path.isdir(path):
            raise ConfigError(
                f"runner.root: {path} is no folder, and a run keeps its files there. "
                "Move it away, or choose another folder with --root."
            )
    metadata = plans.metadata_path(config)
    if not os.path.exists(metadata):
        return
    try:
        with contextlib.closing(sqlite3.connect(metadata)) as db:
            db.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.Error as error:
        raise ConfigError(
            f"runner.root: {metadata} is not the metadata of earlier runs ({error}). "
            "Restore it from a backup, move it away (the record of earlier runs is "
            "lost, and everything runs anew), or choose another folder with --root."
        ) from error


def _keep_schema(config: Config, path: str | None) -> str | None:
    """A copy named by its content: ImportSchemaGen's cache key is the path alone."""
    if path is None:
        return None
    name = f"{fingerprints.of_file(path)[:16]}.pbtxt"
    kept = os.path.join(str(config.runner.root), "schemas", name)
    if not os.path.exists(kept):
        os.makedirs(os.path.dirname(kept), exist_ok=True)
        shutil.copyfile(path, f"{kept}.incomplete")
        os.replace(f"{kept}.incomplete", kept)
    return kept
