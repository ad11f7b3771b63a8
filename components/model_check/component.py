"""ModelCheck: does the export, alone in a fresh process, answer as it should?"""

import json
import os

import tensorflow as tf
from tfx import v1 as tfx
from tfx.dsl.io import fileio
from tfx.types import artifact_utils
from tfx.utils import path_utils

from components.model_check import core, runner
from trainer_module import features, progress

SPLIT = "eval"
CHECK_FILE = "check.json"

# What InfraValidator, whose artifact this is, writes and Pusher reads.
BLESSED_PROPERTY = "blessed"
BLESSED_FILES = {True: "INFRA_BLESSED", False: "INFRA_NOT_BLESSED"}


@tfx.dsl.components.component
def ModelCheck(
    model: tfx.dsl.components.InputArtifact[tfx.types.standard_artifacts.Model],
    examples: tfx.dsl.components.InputArtifact[tfx.types.standard_artifacts.Examples],
    blessing: tfx.dsl.components.OutputArtifact[
        tfx.types.standard_artifacts.InfraBlessing
    ],
    max_load_seconds: tfx.dsl.components.Parameter[float],
    max_latency_seconds: tfx.dsl.components.Parameter[float],
    max_memory_mb: tfx.dsl.components.Parameter[float],
    max_model_mb: tfx.dsl.components.Parameter[float],
    timeout_seconds: tfx.dsl.components.Parameter[float] = 600.0,
    max_requests: tfx.dsl.components.Parameter[int] = 32,
    code: tfx.dsl.components.Parameter[str] = "",
) -> None:
    """Blesses a model that loads, answers alike in every way, and keeps the limits.

    Args:
      model: its SavedModel is asked.
      examples: raw examples; texts of the eval split are the requests.
      blessing: gets `blessed` (0 or 1), the marker file of InfraValidator, and
        check.json with the figures, the limits and the problems in words.
      max_load_seconds: see `core.Limits`, also for the next three.
      max_latency_seconds: see there.
      max_memory_mb: see there.
      max_model_mb: see there.
      timeout_seconds: for the whole check; then the process is killed.
      max_requests: how many texts are asked.
      code: hash of our code, for the cache key.
    """
    limits = core.Limits(
        load_seconds=max_load_seconds,
        latency_seconds=max_latency_seconds,
        memory_mb=max_memory_mb,
        model_mb=max_model_mb,
    )
    record = runner.run(
        path_utils.serving_model_path(model.uri),
        read_texts(artifact_utils.get_split_uri([examples], SPLIT), max_requests),
        timeout_seconds=timeout_seconds,
    )
    problems = core.problems(record, limits)
    _record(blessing, problems, core.figures(record), limits)


def read_texts(split_uri: str, max_texts: int) -> list[str]:
    """The first texts of a split of raw examples, in the order of its files."""
    paths = sorted(tf.io.gfile.glob(os.path.join(split_uri, "*.gz")))
    records = tf.data.TFRecordDataset(paths, compression_type="GZIP").take(max_texts)
    return [_text(record) for record in records.as_numpy_iterator()]


def _text(record: bytes) -> str:
    feature = tf.train.Example.FromString(record).features.feature[features.TEXT]
    return feature.bytes_list.value[0].decode("utf-8", "surrogateescape")


def _record(
    blessing: tfx.types.standard_artifacts.InfraBlessing,
    problems: list[str],
    figures: dict,
    limits: core.Limits,
) -> None:
    blessed = not problems
    check = {
        "blessed": blessed,
        "problems": problems,
        "figures": figures,
        "limits": {
            "max_load_seconds": limits.load_seconds,
            "max_latency_seconds": limits.latency_seconds,
            "max_memory_mb": limits.memory_mb,
            "max_model_mb": limits.model_mb,
        },
    }
    with fileio.open(os.path.join(blessing.uri, CHECK_FILE), "w") as file:
        file.write(json.dumps(check, indent=2))
    with fileio.open(os.path.join(blessing.uri, BLESSED_FILES[blessed]), "w") as file:
        file.write("")
    blessing.set_int_custom_property(BLESSED_PROPERTY, int(blessed))
    progress.report("model_check", **check)
