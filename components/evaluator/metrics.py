"""TFMA metrics as plain floats, so that thresholds work, by slice and vs. a baseline.

TFMA's own Rouge returns a tuple that no threshold can compare, and leaves the model's
name out of its key, so that no comparison with a baseline is ever found. The values
come from `trainer_module.scoring`; here they are only carried through Beam.
"""

import abc
import functools
from collections import Counter

import apache_beam as beam
from tensorflow_model_analysis.metrics import metric_types, metric_util

from trainer_module.scoring import rouge
from trainer_module.scoring.labels import accuracy, macro_f1
from trainer_module.scoring.texts import split_references


class _Metric(metric_types.Metric):
    """A scalar metric made by one combiner."""

    def __init__(self, combiner_class, **settings):
        super().__init__(
            metric_util.merge_per_key_computations(
                _Computations(combiner_class, settings["name"])
            ),
            **settings,
        )


class _Computations:
    """Makes the computation of one model and output; picklable, unlike a closure."""

    def __init__(self, combiner_class, name: str):
        self._combiner_class, self._name = combiner_class, name

    @property
    def __name__(self) -> str:  # TFMA reads it to name the step.
        return self._name

    def __call__(
        self,
        name=None,
        eval_config=None,
        model_name="",
        output_name="",
        example_weighted=False,
        **_,
    ):
        chosen = {
            "model_name": model_name,
            "output_name": output_name,
            "example_weighted": example_weighted,
        }
        key = metric_types.MetricKey(name=self._name, **chosen)
        combiner = self._combiner_class(key, {"eval_config": eval_config, **chosen})
        return [
            metric_types.MetricComputation(
                keys=[key], preprocessors=None, combiner=combiner
            )
        ]


class _TextPairs(beam.CombineFn, abc.ABC):
    """Reads (target, prediction) as text from each example."""

    def __init__(self, key, select):
        self._key, self._select = key, select

    def _pairs(self, element):
        for labels, predictions, _ in metric_util.to_label_prediction_example_weight(
            element, flatten=False, require_single_example_weight=True, **self._select
        ):
            if labels.size != 1 or predictions.size != 1:
                raise ValueError(
                    f"{self._key.name}: one answer for one question is needed. "
                    f"Received: {predictions.size} for {labels.size}."
                )
            yield _text(labels.flat[0]), _text(predictions.flat[0])


class _MeanRouge(_TextPairs):
    def create_accumulator(self):
        return 0.0, 0

    def add_input(self, accumulator, element):
        total, count = accumulator
        for target, prediction in self._pairs(element):
            total += _rouge(target, prediction)[self._key.name].f1
            count += 1
        return total, count

    def merge_accumulators(self, accumulators):
        totals, counts = zip(*accumulators, strict=True)
        return sum(totals), sum(counts)

    def extract_output(self, accumulator):
        total, count = accumulator
        return {self._key: total / count if count else float("nan")}


class _LabelCounts(_TextPairs):
    """Counts of (label, prediction), scored at the end: labels go by name."""

    score = None

    def create_accumulator(self):
        return Counter()

    def add_input(self, accumulator, element):
        accumulator.update(self._pairs(element))
        return accumulator

    def merge_accumulators(self, accumulators):
        return sum(accumulators, Counter())

    def extract_output(self, accumulator):
        return {self._key: type(self).score(accumulator)}


class _Accuracy(_LabelCounts):
    score = staticmethod(accuracy)


class _MacroF1(_LabelCounts):
    score = staticmethod(macro_f1)


class RougeF1(_Metric):
    """Mean over examples of ROUGE F1, against the best of an example's references.

    Args:
      name: a key of `rouge.TYPES`; it says which ROUGE.
      code: fingerprint of the scoring code, so that an edit of it is evaluated anew.
    """

    def __init__(self, name: str = "rouge_l", code: str = ""):
        super().__init__(_MeanRouge, name=name, code=code)


class LabelAccuracy(_Metric):
    """Share of rows whose predicted label name equals the true one."""

    def __init__(self, name: str = "accuracy", code: str = ""):
        super().__init__(_Accuracy, name=name, code=code)


class LabelMacroF1(_Metric):
    """Mean F1 over the labels that occur in the slice."""

    def __init__(self, name: str = "macro_f1", code: str = ""):
        super().__init__(_MacroF1, name=name, code=code)


@functools.lru_cache(maxsize=1024)
def _rouge(target: str, prediction: str) -> dict[str, rouge.Score]:
    """Kept a while: each metric and each slice asks for the same row."""
    return rouge.scores(split_references(target), prediction)


def _text(value) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


for _class in (RougeF1, LabelAccuracy, LabelMacroF1):
    metric_types.register_metric(_class)
