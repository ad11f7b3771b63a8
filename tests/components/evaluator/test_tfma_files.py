"""What TFMA's own readers make of an evaluation."""

import math
import types

import numpy as np
import pytest

from components.evaluator import evaluation
from components.evaluator.rows import Rows
from components.evaluator.scores.classification import Answers

pytestmark = pytest.mark.slow

NAMES = ("fee", "late")
ROWS = Rows(
    example_ids=["1", "2", "3", "4"],
    sources=["a", "b", "c", "d"],
    targets=["fee", "fee", "late", "late"],
    columns={"channel": ["app", "app", "\udce9", "web, shop"]},
)


def answers(*predictions):
    scores = [[0.75, 0.25] if p == "fee" else [0.25, 0.75] for p in predictions]
    return Answers(predictions, NAMES, np.array(scores))


def gate(**given):
    rules = ("floors", "ceilings", "max_drop", "min_gain", "slices", "labels")
    numbers = {"min_slice_rows": 1, "confidence": 0.95, "draws": 200}
    return types.SimpleNamespace(**{**dict.fromkeys(rules, {}), **numbers, **given})


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    from components.evaluator import tfma_files

    def write(floor: float, *, bounds=None, **models):
        folder = str(tmp_path_factory.mktemp("evaluation"))
        settings = gate(floors={"accuracy": floor}, **(bounds or {}))
        found = evaluation.of_labels(ROWS, models, settings)
        places = {model: f"gs://models/{model}" for model in models}
        tfma_files.write(found, folder, data_location="x", model_locations=places)
        return found, folder

    return write


@pytest.fixture(scope="module")
def compared(written):
    return written(
        0.9,
        candidate=answers("fee", "late", "late", "late"),
        baseline=answers("fee", "late", "fee", "late"),
    )


def metric(folder, model, name, key=()):
    import tensorflow_model_analysis as tfma

    result = tfma.load_eval_result(folder, model_name=model)
    return dict(result.slicing_metrics)[key][""][""][name]


def bounded(read):
    held = read["boundedValue"]
    return tuple(float(held[name]) for name in ("value", "lowerBound", "upperBound"))


def test_tfma_reads_the_values_of_each_model_and_slice(compared):
    found, folder = compared
    read = {
        (m["slice"], m["model"]): (m["value"], m["low"], m["high"])
        for m in found["metrics"]
        if m["metric"] == "accuracy"
    }
    keys = {
        "Overall": (),
        "channel: app": (("channel", "app"),),
        "channel: web, shop": (("channel", "web, shop"),),
    }
    for where, key in keys.items():
        for model in ("candidate", "baseline"):
            accuracy = metric(folder, model, "accuracy", key)
            assert bounded(accuracy) == read[where, model]
    assert metric(folder, "candidate", "example_count")["doubleValue"] == 4
    app = metric(folder, "baseline", "example_count", keys["channel: app"])
    assert app["doubleValue"] == 2


def test_tfma_reads_the_difference_to_the_baseline_with_its_interval(compared):
    found, folder = compared
    (difference,) = (
        d
        for d in found["differences"]
        if (d["slice"], d["metric"]) == ("Overall", "accuracy")
    )
    assert difference["value"] == 0.25
    read = bounded(metric(folder, "candidate", "accuracy_diff"))
    assert read == (difference["value"], difference["low"], difference["high"])


def test_tfma_reads_the_verdict_in_the_words_of_the_gate(compared, written):
    import tensorflow_model_analysis as tfma

    found, folder = compared
    refused = tfma.load_validation_result(folder)
    assert not refused.validation_ok and not refused.rubber_stamp
    (of_slice,) = refused.metric_validations_per_slice
    (failure,) = of_slice.failures
    assert failure.metric_key.name == "accuracy"
    assert failure.metric_value.double_value.value == 0.75
    assert failure.message == found["checks"][0]["in_words"]

    right = answers("fee", "fee", "late", "late")
    _, folder = written(0.9, candidate=right)
    blessed = tfma.load_validation_result(folder)
    assert blessed.validation_ok and blessed.rubber_stamp
    assert not blessed.metric_validations_per_slice


def test_tfma_reads_a_bound_on_a_label_that_is_missed(written):
    import tensorflow_model_analysis as tfma

    labels = {"late": gate(floors={"precision": 0.9}), "x": gate(floors={"f1": 0.5})}
    given = answers("fee", "late", "late", "late")
    found, folder = written(0.1, bounds={"labels": labels}, candidate=given)
    read = tfma.load_validation_result(folder).metric_validations_per_slice
    failures = {
        s.slice_key.single_slice_keys[0].bytes_value: s.failures[0].message
        for s in read
    }
    said = [c["in_words"] for c in found["checks"] if c["passed"] is False]
    assert failures == {b"late": said[0], b"x": said[1]}


def test_tfma_reads_a_bound_missed_in_a_slice_that_is_no_utf8(written):
    import tensorflow_model_analysis as tfma

    bounds = {"slices": {"channel": gate(floors={"accuracy": 0.9})}}
    given = answers("fee", "fee", "fee", "late")
    _, folder = written(0.1, bounds=bounds, candidate=given)
    (of_slice,) = tfma.load_validation_result(folder).metric_validations_per_slice
    assert "for channel: ? 0.0000 (" in of_slice.failures[0].message


def test_metric_without_a_value_is_read_as_nan(compared):
    _, folder = compared
    # Every row of the slice has the same label: there is no curve.
    auc = metric(folder, "candidate", "auc", (("channel", "app"),))
    assert all(map(math.isnan, bounded(auc)))


def test_tfma_reads_the_configuration_and_the_places(compared):
    import tensorflow_model_analysis as tfma

    _, folder = compared
    result = tfma.load_eval_result(folder, model_name="candidate")
    specs = {s.name: s.is_baseline for s in result.config.model_specs}
    assert specs == {"candidate": False, "baseline": True}
    assert [list(s.feature_keys) for s in result.config.slicing_specs] == [
        [],
        ["channel"],
    ]
    assert result.model_location == "gs://models/candidate"
