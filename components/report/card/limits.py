"""What is known to be bad about a model, and what is not known, in sentences. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from components.evaluator import slices
from components.report import evaluation_shown
from components.report.evaluation_shown import CANDIDATE, TITLES
from trainer_module.settings import METRICS

UNTUNED = "untuned"
_WIDE = 0.03  # Half of an interval, above which a score is told to be uncertain.
_NOTED_SHARE = 0.01  # Of cut off texts, and of unknown tokens.
_SHOWN = 10

Facts = Mapping[str, Any]


def limits(facts: Facts) -> list[str]:
    """Sentences; facts that are `shareable`."""
    evaluation = facts.get("evaluation") or {}
    return [
        *_of_scores(facts, evaluation),
        *_of_checks(evaluation),
        *_of_slices(facts, evaluation),
        *_of_labels(facts, evaluation),
        *_of_texts(facts),
        *_of_making(facts),
        *((facts.get("model_check") or {}).get("problems") or ()),
    ]


def _of_scores(facts: Facts, evaluation: Facts) -> Iterator[str]:
    if not evaluation.get("metrics"):
        yield "It was not scored: nothing is known of how good it is."
        return
    metric = _main_metric(facts, evaluation)
    score = _overall(evaluation["metrics"], metric, CANDIDATE)
    half = _half_width(score)
    rows = evaluation["rows"].get(slices.OVERALL)
    if half is not None and half > _WIDE and rows is not None:
        yield (
            f"The eval split is small ({_rows(rows)}): {metric} is known to about "
            f"±{half:.2f} only."
        )
    gain = _overall(evaluation.get("differences") or (), metric, UNTUNED)
    if gain and gain.get("low") is not None and gain["low"] <= 0:
        yield (
            "It is not shown to be better than the untuned checkpoint: in "
            f"{metric} the difference may be nothing, or a loss."
        )
    for model, why in (evaluation.get("incomparable") or {}).items():
        yield f"Not compared with the {TITLES.get(model, model).lower()}: {why}"


def _main_metric(facts: Facts, evaluation: Facts) -> str:
    there = [m["metric"] for m in evaluation["metrics"]]
    task = str((facts.get("lineage") or {}).get("task"))
    main = [name for name in METRICS.get(task, ()) if name in there]
    return (main or there)[0]


def _overall(found: Sequence[Facts], metric: str, model: str) -> Facts | None:
    key = (slices.OVERALL, metric, model)
    of_all = [m for m in found if (m["slice"], m["metric"], m["model"]) == key]
    return of_all[0] if of_all else None


def _half_width(score: Facts | None) -> float | None:
    if not score or score.get("low") is None or score.get("high") is None:
        return None
    return (score["high"] - score["low"]) / 2


def _rows(number: int) -> str:
    return f"{number:,} row" if number == 1 else f"{number:,} rows"


def _of_checks(evaluation: Facts) -> Iterator[str]:
    if evaluation.get("refused"):
        yield evaluation["refused"]
    checks = evaluation_shown.check_rows(evaluation) or []
    missed = [c.words for c in checks if c.passed is False]
    yield from (f"It missed a bound of the gate: {words}." for words in missed[:_SHOWN])
    if missed[_SHOWN:]:
        yield f"It missed {len(missed) - _SHOWN:,} more bounds of the gate."
    open_ones = sum(c.passed is None for c in checks)
    if open_ones:
        yield (
            f"{open_ones:,} of {len(checks):,} bounds of the gate were not judged, for "
            "too few rows or for want of a model to compare with."
        )
    if evaluation.get("metrics") and not checks:
        yield "No bound was set that it had to reach."


def _of_slices(facts: Facts, evaluation: Facts) -> Iterator[str]:
    least = _section(facts, "gate").get("min_slice_rows") or 0
    small = [
        f"{where} ({rows:,})"
        for where, rows in (evaluation.get("rows") or {}).items()
        if rows < least and where != slices.OVERALL
    ]
    if small:
        yield (
            f"Slices of fewer than {_rows(least)}, of which the scores say little: "
            f"{_listed(small)}."
        )
    for column, more in (evaluation.get("left_out") or {}).items():
        yield f"{more:,} more slices of {column} are too small to be shown."


def _of_labels(facts: Facts, evaluation: Facts) -> Iterator[str]:
    least = _section(facts, "gate").get("min_slice_rows") or 0
    labels = evaluation_shown.label_rows(evaluation)
    few = sum(row.rows < least for row in labels)
    if few:
        yield (
            f"{few:,} of {len(labels):,} labels have fewer than {_rows(least)} in the "
            "eval split: their scores say little."
        )
    unknown = [
        f"{label} ({rows:,})"
        for model, label, rows in evaluation_shown.unknown_labels(evaluation)
        if model == CANDIDATE
    ]
    if unknown:
        yield (
            "Labels that eval rows have and that it never learned, so that it is wrong "
            f"on each of these rows: {_listed(unknown)}."
        )


def _of_texts(facts: Facts) -> Iterator[str]:
    for split, of_split in (facts.get("text_statistics") or {}).items():
        for which, groups in of_split.items():
            if which != "rows":
                yield from _of_groups(f"{split} {which}s", groups)


def _of_groups(of: str, groups: Facts) -> Iterator[str]:
    cut = (groups.get("truncated") or {}).get("share", 0)
    if cut >= _NOTED_SHARE:
        yield f"{cut:.1%} of the {of} were cut off at the end."
    unknown = (groups.get("unknown") or {}).get("share", 0)
    if unknown >= _NOTED_SHARE:
        yield f"{unknown:.1%} of the tokens of the {of} are unknown to its tokenizer."


def _of_making(facts: Facts) -> Iterator[str]:
    if (facts.get("lineage") or {}).get("checkpoint") == "create":
        yield (
            "It began with random weights and not with a pretrained model: it shows "
            "that the pipeline works, and little more."
        )


def _section(facts: Facts, name: str) -> Facts:
    return ((facts.get("lineage") or {}).get("config") or {}).get(name) or {}


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
