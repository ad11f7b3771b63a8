"""Where a DAG runs and what it is made of: the differences between runners. Pure."""

import hashlib
import importlib.metadata
import os
import re
from collections.abc import Iterable, Mapping

from components.data_gate.drift import served
from components.example_gen import spans
from components.example_gen.account import content_hash
from components.example_gen.settings import SPAN_PLACEHOLDER, DataSettings
from pipeline import fingerprints
from pipeline.config import Config, ConfigError
from pipeline.nodes import CODE_OF_NODE, LIBRARIES
from trainer_module.settings import Section

_BRACES = re.compile(r"\{[^{}/\[\]]*\}")


class Place(Section):
    """Addresses that the DAG's nodes can reach."""

    artifact_root: str
    serving_dir: str
    training_dir: str
    checkpoint_dir: str
    schema_file: str | None
    data: DataSettings


class Fingerprints(Section):
    """Contents behind those addresses, for the cache keys of the nodes.

    `served` is of what lies in `serving_dir`, "" for nothing or where it is not known.
    """

    data: str
    checkpoint: str
    code: dict[str, str]
    served: str = ""


def local(
    config: Config, checkpoint_dir: str, data: DataSettings | None = None
) -> Place:
    """This machine: everything below `runner.root`.

    Args:
      config: the job.
      checkpoint_dir: see `checkpoints.locate`.
      data: with each file named. Defaults to `with_files(config.data)`.
    """
    root = str(config.runner.root)
    return Place(
        artifact_root=os.path.join(root, "artifacts"),
        serving_dir=os.path.join(str(config.serving.dir), config.name),
        training_dir=os.path.join(root, "training"),
        checkpoint_dir=checkpoint_dir,
        schema_file=schema_file(config.data.reviewed_schema),
        data=data or with_files(config.data),
    )


def with_files(data: DataSettings) -> DataSettings:
    """The settings with each file named: what is read is fixed when a run is planned.

    Raises:
      DataRefused: as `spans.resolve`.
    """
    return spans.resolve(data)[0]


def check_placeholders(data: DataSettings) -> None:
    """Refuses `{DATE}` and the like; a file that is really called so may be read.

    Raises:
      ConfigError: naming the key and what stands in braces.
    """
    for key, paths in (("train", data.train), ("eval", data.eval or ())):
        for path in paths:
            other = _BRACES.search(path.replace(SPAN_PLACEHOLDER, ""))
            if other and not os.path.exists(path):
                raise ConfigError(
                    f"data.{key}: {other[0]} in {path} stands for nothing, and no file "
                    f"is called like this. Did you mean {SPAN_PLACEHOLDER}, the number "
                    "of a delivery? In a glob, braces of a name are [{] and [}]."
                )


def cluster(config: Config) -> Place:
    """A Kubeflow cluster, whose image holds this project and the checkpoint.

    Raises:
      ConfigError: if a data file is on this machine only, or is missing, a path has
        `{SPAN}`, or the checkpoint does not exist yet.
    """
    kubeflow = config.runner.kubeflow
    if config.model.checkpoint == "create":
        raise ConfigError(
            "model.checkpoint: `create` makes a checkpoint on this machine, and a "
            "cluster reads the one in its image. Make it with `texttune checkpoint "
            "create`, name its folder here, and copy it into the image."
        )

    check_placeholders(config.data)
    _refuse_spans(config.data)

    def reachable(path: str | None, key: str) -> str | None:
        if path is None:
            return path
        if "://" in path:
            raise ConfigError(
                f"{key}: {path} is an address, and no node reads these. Copy the file "
                f"below {fingerprints.project_dir()}, from where the image is made."
            )
        if not os.path.exists(path):
            raise ConfigError(f"{key}: there is no file {path}.")
        inside = os.path.relpath(path, fingerprints.project_dir())
        if inside.startswith(os.pardir):
            raise ConfigError(
                f"{key}: a cluster cannot read {path}, which is on this machine. Copy "
                f"it below {fingerprints.project_dir()}, from where the image is made, "
                "and name it there."
            )
        return f"{kubeflow.project_dir}/{inside}"

    def each(paths: Iterable[str], key: str) -> tuple[str, ...]:
        return tuple(filter(None, (reachable(path, key) for path in paths)))

    data = with_files(config.data)
    return Place(
        artifact_root=kubeflow.pipeline_root,
        serving_dir=f"{kubeflow.serving_dir}/{config.name}",
        training_dir=f"{kubeflow.pipeline_root}/training/{config.name}",
        checkpoint_dir=kubeflow.checkpoint_dir,
        schema_file=reachable(
            schema_file(data.reviewed_schema), "data.reviewed_schema"
        ),
        data=data.model_copy(
            update={
                "train": each(data.train, "data.train"),
                "eval": None if data.eval is None else each(data.eval, "data.eval"),
            }
        ),
    )


def _refuse_spans(data: DataSettings) -> None:
    """A compiled pipeline is run again and again, and holds the files' names."""
    for key, paths in (("train", data.train), ("eval", data.eval or ())):
        for path in paths:
            if SPAN_PLACEHOLDER not in path:
                continue
            raise ConfigError(
                f"data.{key}: {path} has {SPAN_PLACEHOLDER}, and a compiled pipeline "
                "names its files: each of its runs would read today's deliveries and "
                "none that come later. Name the files, and compile again for each "
                f"delivery: `--set data.{key}=PATH --set 'data.spans={{}}'`. Or run "
                "`texttune run` on a schedule, which reads the newest."
            )


def schema_file(name: str | None, key: str = "data.reviewed_schema") -> str | None:
    """The path of a reviewed schema: a name in `schemas/`, or a path.

    Args:
      name: as it is given.
      key: what gave it, for the message.

    Raises:
      ConfigError: if there is none; lists those there are.
    """
    if name is None:
        return None
    folder = os.path.join(fingerprints.project_dir(), "schemas")
    for path in (os.path.join(folder, f"{name}.pbtxt"), name):
        if os.path.isfile(path):
            return os.path.abspath(path)
    there = sorted(n[:-6] for n in os.listdir(folder) if n.endswith(".pbtxt"))
    raise ConfigError(
        f"{key}: there is no schema {name!r}. Allowed: a path, or one "
        f"of {there} in schemas/."
    )


def file_hashes(place: Place) -> dict[str, str]:
    """SHA-256 of each file that is read; one in a bucket goes by its address alone."""
    data = [*place.data.train, *(place.data.eval or ())]
    return {path: _content(path) for path in data}


def fingerprint(
    config: Config, place: Place, hashes: Mapping[str, str] | None = None
) -> Fingerprints:
    """Hashes what the nodes read.

    Args:
      config: the job.
      place: where it is.
      hashes: `file_hashes(place)`, where these are known already.
    """
    hashes = file_hashes(place) if hashes is None else hashes
    libraries = "".join(f"{n}{importlib.metadata.version(n)}" for n in LIBRARIES)
    return Fingerprints(
        data=content_hash(hashes.values()),
        checkpoint=_checkpoint(config, place.checkpoint_dir),
        code={
            node: _joined([fingerprints.of_code(*modules), libraries])
            for node, modules in CODE_OF_NODE.items()
        },
        served=served.fingerprint(place.serving_dir),
    )


def with_served(known: Fingerprints, place: Place) -> Fingerprints:
    """The same fingerprints, with that of the version that is served now."""
    return known.model_copy(update={"served": served.fingerprint(place.serving_dir)})


def _checkpoint(config: Config, path: str) -> str:
    if os.path.isdir(path):
        return fingerprints.of_folder(path)
    return _joined([path, config.model.create.model_dump_json()])


def _content(path: str) -> str:
    return fingerprints.of_file(path) if os.path.isfile(path) else path


def _joined(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
