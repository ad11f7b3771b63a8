"""An evaluation as TFMA writes one, so that its readers and viewers open it.

TFMA computes nothing here: its metrics cannot be compared on the same draws of rows,
and it would ask each model anew for every batch size that Beam comes up with.
"""

import math
import os
from collections.abc import Iterable, Mapping
from typing import Any

import tensorflow as tf
import tensorflow_model_analysis as tfma
from google.protobuf import json_format
from tensorflow_model_analysis.proto import (
    config_pb2,
    metrics_for_slice_pb2,
    validation_result_pb2,
)

from components.evaluator.gate import BASELINE, CANDIDATE

CONFIG_FILE = "eval_config.json"
METRICS_FILE = "metrics-00000-of-00001.tfrecord"
VALIDATIONS_FILE = "validations.tfrecord"
ROWS_METRIC = "example_count"  # As TFMA's own is called.


def write(
    evaluation: Mapping[str, Any],
    folder: str,
    *,
    data_location: str,
    model_locations: Mapping[str, str],
) -> None:
    """Writes what `tfma.load_eval_result` and `tfma.load_validation_result` read.

    Args:
      evaluation: as `evaluation.of_labels` or `of_texts` gives it.
      folder: exists already.
      data_location: of the eval rows; shown only.
      model_locations: of each model that has been asked, by its name; shown only.
    """
    run = config_pb2.EvalRun(
        eval_config=_config(evaluation, model_locations),
        version=tfma.version.VERSION,
        data_location=data_location,
        file_format="tfrecords",
        model_locations=dict(model_locations),
    )
    with tf.io.gfile.GFile(os.path.join(folder, CONFIG_FILE), "w") as file:
        file.write(json_format.MessageToJson(run))
    _write_records(os.path.join(folder, METRICS_FILE), _metrics(evaluation))
    _write_records(os.path.join(folder, VALIDATIONS_FILE), [_validation(evaluation)])


def _write_records(path: str, messages: Iterable[Any]) -> None:
    with tf.io.TFRecordWriter(path) as writer:
        for message in messages:
            writer.write(message.SerializeToString())


def _config(evaluation: Mapping[str, Any], models: Iterable[str]) -> tfma.EvalConfig:
    names = dict.fromkeys(m["metric"] for m in evaluation["metrics"])
    columns = dict.fromkeys(tuple(key) for key in evaluation["slices"].values())
    return tfma.EvalConfig(
        model_specs=[
            tfma.ModelSpec(name=model, is_baseline=model == BASELINE)
            for model in models
        ],
        slicing_specs=[tfma.SlicingSpec(feature_keys=keys) for keys in columns],
        metrics_specs=[
            tfma.MetricsSpec(
                metrics=[
                    tfma.MetricConfig(class_name=name) for name in (ROWS_METRIC, *names)
                ]
            )
        ],
    )


def _metrics(
    evaluation: Mapping[str, Any],
) -> Iterable[metrics_for_slice_pb2.MetricsForSlice]:
    models = list(dict.fromkeys(m["model"] for m in evaluation["metrics"]))
    for where, key in evaluation["slices"].items():
        message = metrics_for_slice_pb2.MetricsForSlice(slice_key=_slice_key(key))
        for model in models:
            message.metric_keys_and_values.add(
                key={"name": ROWS_METRIC, "model_name": model},
                value=_value(evaluation["rows"][where]),
            )
        for found in evaluation["metrics"]:
            if found["slice"] == where:
                _add(message, found, model=found["model"])
        for found in evaluation["differences"]:
            if found["slice"] == where and found["model"] == BASELINE:
                _add(message, found, model=CANDIDATE, is_diff=True)
        yield message


def _add(message: Any, found: Mapping[str, Any], *, model: str, **key: bool) -> None:
    message.metric_keys_and_values.add(
        key={"name": found["metric"], "model_name": model, **key},
        value=_value(found["value"]),
        confidence_interval={
            "lower_bound": _value(found["low"]),
            "upper_bound": _value(found["high"]),
        },
    )


def _validation(
    evaluation: Mapping[str, Any],
) -> validation_result_pb2.ValidationResult:
    """The gate's verdict; a failed check in the words of the gate."""
    result = validation_result_pb2.ValidationResult(
        validation_ok=evaluation["blessed"],
        rubber_stamp=all(m["model"] != BASELINE for m in evaluation["metrics"]),
    )
    failed = [check for check in evaluation["checks"] if check["passed"] is False]
    for where in dict.fromkeys(check["slice"] for check in failed):
        of_slice = result.metric_validations_per_slice.add(
            slice_key=_slice_key(evaluation["slices"].get(where, _key_of_label(where)))
        )
        for check in failed:
            if check["slice"] == where:
                of_slice.failures.add(
                    metric_key={"name": check["metric"], "model_name": CANDIDATE},
                    metric_value=_value(check["score"]["value"]),
                    message=check["in_words"].encode("utf-8", "replace"),
                )
    return result


def _key_of_label(where: str) -> dict[str, str]:
    """Of the rows of one label, which are no slice of the evaluation."""
    column, _, label = where.partition(": ")
    return {column: label}


def _slice_key(key: Mapping[str, str]) -> metrics_for_slice_pb2.SliceKey:
    columns = [  # TFMA's readers take nothing but UTF-8.
        {"column": column, "bytes_value": value.encode("utf-8", "replace")}
        for column, value in key.items()
    ]
    return metrics_for_slice_pb2.SliceKey(single_slice_keys=columns)


def _value(number: float | None) -> metrics_for_slice_pb2.MetricValue:
    held = math.nan if number is None else float(number)
    return metrics_for_slice_pb2.MetricValue(double_value={"value": held})
