"""What TFMA wrote, as plain values."""

import math
from typing import Any

from components.evaluator import slices


def read(evaluation_uri: str) -> dict[str, Any]:
    """Metrics by slice, and what TFMA refused.

    Returns:
      {"metrics": [{"slice": "Overall" or "column: value", "model": "candidate" |
      "baseline", "metric": name, "value": float, or None for NaN}], "examples":
      {slice: rows}, "validation_ok": bool, "failures": [{"slice", "metric",
      "message"}]}.
    """
    import tensorflow_model_analysis as tfma

    found: dict[str, Any] = {"metrics": [], "examples": {}}
    for model in ("candidate", "baseline"):
        _add(found, tfma.load_eval_result(evaluation_uri, model_name=model), model)
    if not found["metrics"]:  # Without a baseline TFMA drops the candidate's name.
        _add(found, tfma.load_eval_result(evaluation_uri), "candidate")
    validation = tfma.load_validation_result(evaluation_uri)
    found["validation_ok"] = bool(validation and validation.validation_ok)
    found["failures"] = list(_failures(validation)) if validation else []
    return found


def _add(found: dict[str, Any], result, model: str) -> None:
    for key, outputs in result.slicing_metrics:
        where = slices.name(key)
        metrics = outputs.get("", {}).get("", {})
        for name, holder in sorted(metrics.items()):
            if name.endswith("_diff") or "doubleValue" not in holder:
                continue
            value = float(holder["doubleValue"])
            if name == "example_count":
                found["examples"].setdefault(where, int(value))
            else:
                found["metrics"].append(
                    {
                        "slice": where,
                        "model": model,
                        "metric": name,
                        "value": value if math.isfinite(value) else None,
                    }
                )


def _failures(validation):
    for by_slice in validation.metric_validations_per_slice:
        key = tuple(
            (k.column, k.bytes_value or k.int64_value or k.float_value)
            for k in by_slice.slice_key.single_slice_keys
        )
        for failure in by_slice.failures:
            yield {
                "slice": slices.name(key),
                "metric": failure.metric_key.name,
                "message": failure.message,
            }
    for missing in validation.missing_slices:
        yield {
            "slice": ", ".join(missing.feature_keys) or slices.OVERALL,
            "metric": "",
            "message": "no row of the eval split is in this slice",
        }
