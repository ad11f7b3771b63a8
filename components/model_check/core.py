"""What must hold of an exported model before anyone serves it. Pure: no TensorFlow.

`probe` asks the model and writes down what it said and how long it took; here that
record becomes a list of problems in words. An empty list is a pass.
"""

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from trainer_module import features, signatures

# Asked of every model, whatever the data: no text at all, a character outside the
# vocabulary, and far more words than any model reads.
EDGE_TEXTS = ("", "\N{SLIGHTLY SMILING FACE}", " ".join(["word"] * 5000))
SCORE_TOLERANCE = 1e-4
LATENCY_QUANTILE = 0.95
MAX_SHOWN = 3  # Texts named in one problem; the rest are counted.

INPUTS = {
    signatures.SERVING_DEFAULT: features.TEXT,
    signatures.SERVING_EXAMPLES: signatures.EXAMPLES_INPUT,
}
# Name -> dtype of the outputs, for each kind of task.
CLASSIFICATION_OUTPUTS = {
    signatures.LABEL: "string",
    signatures.SCORE: "float32",
    signatures.ALL_LABELS: "string",
    signatures.ALL_SCORES: "float32",
}
TEXT_OUTPUTS = {signatures.OUTPUT_TEXT: "string"}

Record = Mapping[str, Any]  # JSON, as described in `probe`.


@dataclasses.dataclass(frozen=True)
class Limits:
    """How slow and how large a model may be.

    Attributes:
      load_seconds: for loading the SavedModel, without importing TensorFlow.
      latency_seconds: for one text, at the 95th percentile.
      memory_mb: peak resident memory of the process, TensorFlow included.
      model_mb: of the SavedModel's files, which each server fetches and keeps.
    """

    load_seconds: float
    latency_seconds: float
    memory_mb: float
    model_mb: float


def problems(record: Record, limits: Limits) -> list[str]:
    """Everything that speaks against serving the model, one sentence each."""
    if "failure" in record:
        return [record["failure"]]
    found = list(_signature_problems(record["signatures"]))
    if not record["request_count"]:
        found.append("There was no text of the eval split to ask the model about.")
    if not found:  # Else the answers would only repeat it.
        found += _answer_problems(record)
    return [*found, *_limit_problems(figures(record), limits)]


def figures(record: Record) -> dict[str, float | int]:
    """The numbers of a record, by name with unit; none if the probe failed."""
    if "failure" in record:
        return {}
    latencies = _latencies_seconds(record["single"][: record["request_count"]])
    edge = _latencies_seconds(record["single"][record["request_count"] :])
    # The first call also builds the graph's kernels, which a warmed-up server has done.
    steady = latencies[1:] or latencies
    values = {
        "requests": record["request_count"],
        "load_seconds": record["load_seconds"],
        "peak_memory_mb": record["peak_memory_mb"],
        "model_mb": record["model_mb"],
        "first_latency_seconds": latencies[0] if latencies else None,
        "median_latency_seconds": quantile(steady, 0.5),
        "p95_latency_seconds": quantile(steady, LATENCY_QUANTILE),
        "max_edge_latency_seconds": max(edge, default=None),
        "batch_seconds": record["batched"].get("seconds"),
        "batch_rows": len(record["texts"]),
    }
    return {name: value for name, value in values.items() if value is not None}


def quantile(values: Iterable[float], share: float) -> float | None:
    """The smallest value that `share` of all do not exceed; None without any."""
    ordered = sorted(values)
    return ordered[math.ceil(share * len(ordered)) - 1] if ordered else None


def _latencies_seconds(calls: Iterable[Record]) -> list[float]:
    return [call["seconds"] for call in calls if "seconds" in call]


def _signature_problems(found: Mapping[str, Record]) -> Iterable[str]:
    for name, input_name in INPUTS.items():
        if name not in found:
            yield f"The signature {name} is missing. There are {sorted(found)}."
            continue
        received = found[name]["inputs"]
        if received != {input_name: "string[None]"}:
            yield (
                f"{name} must take one input, {input_name}: string[None]. It takes "
                f"{_shown_types(received)}."
            )
        outputs = found[name]["outputs"]
        if outputs not in (CLASSIFICATION_OUTPUTS, TEXT_OUTPUTS):
            yield (
                f"{name} must return {_shown_types(CLASSIFICATION_OUTPUTS)} (text to "
                f"label) or {_shown_types(TEXT_OUTPUTS)} (text to text). It returns "
                f"{_shown_types(outputs)}."
            )
    kinds = [frozenset(s["outputs"]) for name, s in found.items() if name in INPUTS]
    if len(set(kinds)) > 1:
        yield f"{' and '.join(INPUTS)} must return outputs of the same names."


def _shown_types(types: Mapping[str, str]) -> str:
    return ", ".join(f"{name}: {kind}" for name, kind in sorted(types.items())) or "-"


def _answer_problems(record: Record) -> list[str]:
    texts, single = record["texts"], record["single"]
    found = [
        *_about_texts(
            "Asked singly, the model fails on",
            texts,
            [call.get("error") for call in single],
        ),
        *_about_texts(
            "Asked singly, the model does not give one answer to",
            texts,
            [_count_problem(call, 1) for call in single],
        ),
    ]
    whole = {
        f"{signatures.SERVING_DEFAULT} on all texts together": record["batched"],
        f"{signatures.SERVING_EXAMPLES} on the same texts": record["examples"],
    }
    for way, call in whole.items():
        found += _call_problems(way, call, rows=len(texts))
    for name, call in record["empty"].items():
        found += _call_problems(f"{name} on a batch without rows", call, rows=0)
    if found:  # Answers that are not there cannot be compared.
        return found
    rows = [_row(call, 0) for call in single]
    found += _about_texts(
        "The model gives no usable answer to",
        texts,
        [_value_problem(row) for row in rows],
    )
    for way, call in whole.items():
        others = [_row(call, index) for index in range(len(texts))]
        found += _differences(way, texts, rows, others)
    return found


def _call_problems(way: str, call: Record, *, rows: int) -> list[str]:
    problem = call.get("error") or _count_problem(call, rows)
    return [f"{way}: {problem}."] if problem else []


def _count_problem(call: Record, rows: int) -> str | None:
    for name, values in sorted(call.get("outputs", {}).items()):
        if not isinstance(values, list):
            return f"{name} has no batch axis"
        if len(values) != rows:
            return f"{name} holds {len(values)} answers to {rows} texts"
    return None


def _row(call: Record, index: int) -> dict[str, Any]:
    return {name: values[index] for name, values in call["outputs"].items()}


def _value_problem(row: Mapping[str, Any]) -> str | None:
    for name, value in sorted(row.items()):
        for leaf in _leaves(value):
            if isinstance(leaf, float) and not math.isfinite(leaf):
                return f"{name} = {leaf}, which is no number"
            if isinstance(leaf, str) and not _is_utf8(leaf):
                return f"{name} = {leaf!r}, which is not UTF-8"
    return None


def _leaves(value: Any) -> Iterable[Any]:
    if isinstance(value, list):
        for part in value:
            yield from _leaves(part)
    else:
        yield value


def _is_utf8(text: str) -> bool:
    # The probe turned bytes that are not UTF-8 into lone surrogates.
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _differences(
    way: str, texts: list[str], rows: list[dict], others: list[dict]
) -> list[str]:
    details = [_difference(a, b) for a, b in zip(rows, others, strict=True)]
    return _about_texts(f"{way} answers otherwise than singly to", texts, details)


def _difference(first: Mapping[str, Any], second: Mapping[str, Any]) -> str | None:
    for name in sorted(first):
        if not equal(first[name], second[name]):
            return f"{name} = {_cut(second[name])} instead of {_cut(first[name])}"
    return None


def equal(first: Any, second: Any) -> bool:
    """Whether two answers are the same; numbers may differ by the tolerance."""
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(equal, first, second))
    if isinstance(first, float) and isinstance(second, float):
        if math.isnan(first) and math.isnan(second):
            return True
        return abs(first - second) <= SCORE_TOLERANCE
    return first == second


def _about_texts(
    opening: str, texts: list[str], details: list[str | None]
) -> list[str]:
    """One problem for all the texts that have a detail; none if no text has."""
    concerned = [
        f"{_cut(text)}: {detail}"
        for text, detail in zip(texts, details, strict=True)
        if detail
    ]
    if not concerned:
        return []
    rest = len(concerned) - MAX_SHOWN
    more = f"; and {rest} more texts" if rest > 0 else ""
    return [f"{opening} {'; '.join(concerned[:MAX_SHOWN])}{more}."]


def _cut(value: Any, length: int = 60) -> str:
    shown = repr(value)
    return shown if len(shown) <= length else shown[: length - 4] + "...'"


def _limit_problems(measured: Mapping[str, float], limits: Limits) -> Iterable[str]:
    checks: list[tuple[str, str, str, Callable[[float], str]]] = [
        ("Loading", "load_seconds", "load_seconds", _seconds),
        (
            "One text in twenty, or more,",
            "p95_latency_seconds",
            "latency_seconds",
            _seconds,
        ),
        ("Serving", "peak_memory_mb", "memory_mb", _megabytes),
        ("The SavedModel", "model_mb", "model_mb", _megabytes),
    ]
    for subject, name, key, show in checks:
        limit = getattr(limits, key)
        # `not <=` refuses NaN too.
        if name in measured and not measured[name] <= limit:
            allowed = f"at most {show(limit)} (`serving.max_{key}`)"
            yield f"{subject} takes {show(measured[name])}; {allowed}."


def _seconds(value: float) -> str:
    return f"{value:.3g} s"


def _megabytes(value: float) -> str:
    return f"{value:,.0f} MB" if value >= 10 else f"{value:.2g} MB"
