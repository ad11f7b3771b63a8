"""Two evaluated runs, side by side: plain values in, plain values out. Pure.

A difference is what B has more than A. There is one where both have answered the same
rows; by the paired bootstrap it has an interval, if what is kept of the answers tells.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from components.evaluator import plain, slices
from components.evaluator.bootstrap import Scores
from components.evaluator.gate import CANDIDATE
from components.evaluator.scores.facts import OF_LABEL, OF_TASK, Best
from components.report.comparison import pairing
from components.report.comparison.answered import Answered
from components.report.comparison.pairing import A, B, NotPaired, Pair
from trainer_module.settings import METRICS, Task

OF_LABELS = "f1"  # By which labels are compared.
_LONGEST = 100  # Characters of a name in a sentence.
_SAME = 1e-6  # Two computations of one score differ by less.

Score = Mapping[str, float | None]  # {"value", "low", "high"}


@dataclasses.dataclass(frozen=True)
class Side:
    """One of the two runs.

    Attributes:
      run_id: of the run.
      record: its summary.json, with an evaluation that has metrics.
      answered: what its model answered; None if that is not there any more.
      why_none: why not, in a sentence.
    """

    run_id: str
    record: Mapping[str, Any]
    answered: Answered | None = None
    why_none: str = ""

    @property
    def evaluation(self) -> Mapping[str, Any]:
        return self.record["evaluation"]


@dataclasses.dataclass(frozen=True)
class Row:
    """One score of both runs: of a metric, in a slice, or of a label.

    Attributes:
      rows: of the eval split that it stands on, by run; None where there is no score.
      scores: by run.
      difference: without bounds where the answers do not tell them; None where the runs
        are not paired.
      better: "A" or "B", if the interval of the difference leaves no doubt.
    """

    name: str
    rows: Mapping[str, int | None]
    scores: Mapping[str, Score]
    difference: Score | None
    better: str | None

    @property
    def fewest_rows(self) -> int:
        return min(rows or 0 for rows in self.rows.values())


@dataclasses.dataclass(frozen=True)
class Comparison:
    """B against A.

    Attributes:
      main: the task's main metric.
      confidence: of the intervals.
      min_slice_rows: a slice with fewer is shown and not judged.
      why_not_paired: in a sentence; None if all rows are the same.
      overall: a row for each metric, of all eval rows.
      slices: by metric, a row for each slice.
      labels: a row for each label of a classifier, by `OF_LABELS`.
      only_in: {"A" or "B": labels that this model knows and the other does not}.
      examples: see `pairing.examples`; None if the runs are not paired.
      notes: sentences for the reader.
    """

    a: Side
    b: Side
    task: Task
    main: str
    confidence: float
    min_slice_rows: int
    why_not_paired: str | None
    overall: Sequence[Row]
    slices: Mapping[str, Sequence[Row]]
    labels: Sequence[Row]
    only_in: Mapping[str, Sequence[str]]
    examples: Mapping[str, Any] | None
    notes: Sequence[str]

    @property
    def of_main(self) -> Row:
        return next(row for row in self.overall if row.name == self.main)


def compare(a: Side, b: Side) -> Comparison:
    """Compares two runs of the same task.

    Raises:
      ValueError: if they are of different tasks.
    """
    task = b.record["config"]["task"]
    if a.record["config"]["task"] != task:
        raise ValueError(
            "both runs must be of the same task. Received: "
            f"{a.record['config']['task']} and {task}."
        )
    confidence = b.evaluation["confidence"]
    pair, why_not = _paired(a, b, task)
    by_slice: Mapping[str, Scores] = {}
    by_label: Mapping[str, Scores] = {}
    if pair:
        by_slice = pairing.score(pair, _shared_slices(a, b), confidence=confidence)
        by_label = pairing.score_labels(pair, confidence=confidence)
    table = dict(_metric_rows(a, b, by_slice, same_rows=pair is not None))
    metrics = [name for name in OF_TASK[task] if (name, slices.OVERALL) in table]
    places = slices.in_order(where for _, where in table)
    return Comparison(
        a=a,
        b=b,
        task=task,
        main=METRICS[task][0],
        confidence=confidence,
        min_slice_rows=max(_min_slice_rows(a), _min_slice_rows(b)),
        why_not_paired=why_not,
        overall=[table[name, slices.OVERALL] for name in metrics],
        slices={
            name: [
                dataclasses.replace(table[name, where], name=where)
                for where in places
                if where != slices.OVERALL and (name, where) in table
            ]
            for name in metrics
        },
        labels=list(_label_rows(a, b, by_label)),
        only_in=_only_in(a, b) if task == "classification" else {},
        examples=pairing.examples(pair) if pair else None,
        notes=list(_notes(a, b, pair, by_slice)),
    )


def _paired(a: Side, b: Side, task: Task) -> tuple[Pair | None, str | None]:
    for side in (a, b):
        if side.answered is None:
            return None, side.why_none
    assert a.answered is not None and b.answered is not None
    try:
        return pairing.pair(a.answered, b.answered, task), None
    except NotPaired as error:
        return None, str(error)


def _shared_slices(a: Side, b: Side) -> dict[str, Mapping[str, str]]:
    there = a.evaluation.get("slices", {})
    found = {
        name: key
        for name, key in b.evaluation.get("slices", {}).items()
        if there.get(name) == key
    }
    return {slices.OVERALL: {}, **found}


def _min_slice_rows(side: Side) -> int:
    return (side.record["config"].get("gate") or {}).get("min_slice_rows", 1)


def _metric_rows(
    a: Side, b: Side, paired: Mapping[str, Scores], *, same_rows: bool
) -> Iterator[tuple[tuple[str, str], Row]]:
    """Yields ((metric, slice), its row), of all that either run has a score of."""
    facts = OF_TASK[b.record["config"]["task"]]
    recorded = {A: _by_key(a), B: _by_key(b)}
    for metric, where in dict.fromkeys([*recorded[A], *recorded[B]]):
        if metric not in facts:
            continue  # Of another release.
        scores = {
            side: of[metric, where]
            for side, of in recorded.items()
            if (metric, where) in of
        }
        rows = {side: of.evaluation["rows"].get(where) for side, of in ((A, a), (B, b))}
        best = facts[metric].best
        difference = None
        if found := _one(paired.get(where), metric):
            scores, difference = found
        elif same_rows and where in paired:
            difference = _plain_difference(scores)
        yield (
            (metric, where),
            Row(metric, rows, scores, difference, better(difference, best)),
        )


def _one(found: Scores | None, metric: str) -> tuple[dict[str, Score], Score] | None:
    """The scores of a metric by run, and the difference; None if it is not paired."""
    if found is None or not found.has(metric):
        return None
    scores: dict[str, Score] = {
        side: plain.numbers(found.of(side, metric)) for side in (A, B)
    }
    return scores, plain.numbers(found.difference(B, A, metric))


def _plain_difference(scores: Mapping[str, Score]) -> Score | None:
    values = [scores[side]["value"] if side in scores else None for side in (B, A)]
    if values[0] is None or values[1] is None:
        return None
    return {"value": values[0] - values[1], "low": None, "high": None}


def better(difference: Score | None, best: Best) -> str | None:
    """Which of the runs is better for sure, as far as the interval goes."""
    if difference is None or best == "neither":
        return None
    low, high = difference["low"], difference["high"]
    if low is None or high is None or low <= 0 <= high:
        return None
    return B if (low > 0) == (best == "high") else A


def _by_key(side: Side) -> dict[tuple[str, str], Score]:
    return {
        (m["metric"], m["slice"]): {key: m[key] for key in ("value", "low", "high")}
        for m in side.evaluation["metrics"]
        if m["model"] == CANDIDATE
    }


def _label_rows(a: Side, b: Side, paired: Mapping[str, Scores]) -> Iterator[Row]:
    """Yields a row for each label, those first that B has gained most on."""
    recorded = {A: _of_labels(a), B: _of_labels(b)}
    names = dict.fromkeys([*recorded[A], *recorded[B]])
    rows = []
    for label in names:
        entries = {s: of[label] for s, of in recorded.items() if label in of}
        counts = {s: entries[s]["rows"] if s in entries else None for s in (A, B)}
        scores = {s: entry[OF_LABELS] for s, entry in entries.items()}
        difference = None
        if found := _one(paired.get(label), OF_LABELS):
            scores, difference = found
        best = OF_LABEL[OF_LABELS].best
        rows.append(Row(label, counts, scores, difference, better(difference, best)))
    yield from sorted(rows, key=_most_gained_first)


def _most_gained_first(row: Row) -> tuple[bool, float]:
    value = row.difference["value"] if row.difference else None
    return value is None, -(value or 0.0)


def _of_labels(side: Side) -> dict[str, Mapping[str, Any]]:
    return {
        entry["label"]: entry
        for entry in side.evaluation.get("labels", ())
        if entry["model"] == CANDIDATE
    }


def _only_in(a: Side, b: Side) -> dict[str, list[str]]:
    known = {A: _known_labels(a), B: _known_labels(b)}
    return {A: sorted(known[A] - known[B]), B: sorted(known[B] - known[A])}


def _known_labels(side: Side) -> set[str]:
    """The labels of the model, as far as the evaluation tells."""
    unknown = side.evaluation.get("unknown_labels", {}).get(CANDIDATE, {})
    # A baseline that knows others has them in the list too, without a row.
    others = bool(side.evaluation.get("incomparable"))
    return {
        label
        for label, entry in _of_labels(side).items()
        if label not in unknown and (entry["rows"] or not others)
    }


def _notes(
    a: Side, b: Side, pair: Pair | None, by_slice: Mapping[str, Scores]
) -> Iterator[str]:
    recorded = [side.evaluation["confidence"] for side in (a, b)]
    if recorded[0] != recorded[1]:
        yield (
            f"The intervals that A has recorded are of {recorded[0] * 100:g}% "
            f"confidence, and those of B of {recorded[1] * 100:g}%."
        )
    if pair:
        yield from _notes_of_pair(a, b, pair, by_slice)


def _notes_of_pair(
    a: Side, b: Side, pair: Pair, by_slice: Mapping[str, Scores]
) -> Iterator[str]:
    paired = {metric.name for metric in pair.metrics}
    alone = [name for name in OF_TASK[pair.task] if name not in paired]
    if alone:
        yield (
            f"{listed(alone)} have no interval of their difference: of the answers to "
            "each row only the likeliest label is kept."
        )
    for name, side in ((A, a), (B, b)):
        changed = [
            metric
            for (metric, where), score in _by_key(side).items()
            if where == slices.OVERALL
            and metric in paired
            and _differs(by_slice[where].of(name, metric).value, score["value"])
        ]
        if changed:
            yield (
                f"{listed(changed)} of {name} are not what its record says: they are "
                "scored anew here, by the code of this release."
            )
    passed_over = [name for name in _shared_slices(a, b) if name not in by_slice]
    if passed_over:
        yield (
            f"The rows of {len(passed_over):,} slices are not the same in both runs, "
            f"so these are not compared row by row: {listed(passed_over)}."
        )


def _differs(value: float, recorded: float | None) -> bool:
    return recorded is not None and abs(value - recorded) > _SAME


def shortened(name: str) -> str:
    """A name as a sentence has it; a label or a value may be a whole text."""
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def listed(names: Iterable[str], most: int = 5) -> str:
    """Some names as a sentence has them."""
    names = [shortened(name) for name in names]
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most:,} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
