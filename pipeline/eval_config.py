"""The gate's settings as TFMA's EvalConfig."""

import json

import tensorflow_model_analysis as tfma

from pipeline.config.sections import METRICS, Bounds, Config
from trainer_module import features, signatures

_METRICS_MODULE = "components.evaluator.metrics"
_CLASS_NAMES = {"accuracy": "LabelAccuracy", "macro_f1": "LabelMacroF1"}


def build(config: Config, *, code: str) -> tfma.EvalConfig:
    """Every metric of the task, overall and by slice, with the configured bounds.

    A bound of `gate` holds overall only; TFMA's plain threshold would apply it to
    every slice. Bounds of `gate.slices.X` hold for each value of column X.
    """
    return tfma.EvalConfig(
        model_specs=[
            _model_spec(config, "candidate"),
            _model_spec(config, "baseline", is_baseline=True),
        ],
        slicing_specs=[
            tfma.SlicingSpec(),
            *(tfma.SlicingSpec(feature_keys=[name]) for name in config.data.slices),
        ],
        metrics_specs=[
            tfma.MetricsSpec(
                metrics=[
                    tfma.MetricConfig(class_name="ExampleCount"),
                    *(_metric(config, name, code) for name in METRICS[config.task]),
                ]
            )
        ],
    )


def _model_spec(config: Config, name: str, **more) -> tfma.ModelSpec:
    return tfma.ModelSpec(
        name=name,
        signature_name=signatures.SERVING_DEFAULT,
        label_key=features.TARGET,
        prediction_key=signatures.PREDICTION_KEY[config.task],
        model_type="tf_generic",
        **more,
    )


def _metric(config: Config, name: str, code: str) -> tfma.MetricConfig:
    return tfma.MetricConfig(
        class_name=_CLASS_NAMES.get(name, "RougeF1"),
        module=_METRICS_MODULE,
        # TFMA wants the fields of a JSON object, without its braces.
        config=json.dumps({"name": name, "code": code})[1:-1],
        per_slice_thresholds=list(_thresholds(config, name)),
    )


def _thresholds(config: Config, name: str):
    yield from _threshold(config.gate, name, tfma.SlicingSpec())
    for column, bounds in config.gate.slices.items():
        yield from _threshold(bounds, name, tfma.SlicingSpec(feature_keys=[column]))


def _threshold(bounds: Bounds, name: str, slicing: tfma.SlicingSpec):
    threshold = tfma.MetricThreshold()
    if name in bounds.floors:
        threshold.value_threshold.lower_bound.value = bounds.floors[name]
    if name in bounds.max_drop:
        threshold.change_threshold.direction = tfma.MetricDirection.HIGHER_IS_BETTER
        threshold.change_threshold.absolute.value = -bounds.max_drop[name]
    if threshold.ByteSize():
        yield tfma.PerSliceMetricThreshold(slicing_specs=[slicing], threshold=threshold)
