"""The data now against the data that the serving model was trained on. Pure.

Vocabulary: `drift` is of the train split, `skew` of the eval split, both against the
profile that lies beside the serving model. What chance explains is no drift; see
`distances`.
"""

import dataclasses
import heapq
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import numpy as np

from components.data_gate.drift import column_changes, label_changes, profile
from components.data_gate.drift.distances import (
    Distance,
    LengthDistance,
    of_labels,
    of_lengths,
    of_words,
)
from components.data_gate.drift.profile import Counts, Profile
from components.data_gate.drift.served import Served
from components.data_gate.findings import (
    ROWS_SHOWN,
    Finding,
    count,
    listed,
    rounded_up,
    rows_in_words,
)
from components.example_gen.examples import Example
from components.example_gen.normalisation import count_words, excerpt, words
from components.example_gen.settings import DataSettings
from trainer_module import features

Splits = Mapping[str, Sequence[Example]]

_LABELS_SHOWN, _WORDS_SHOWN = 5, 5
_NAME_OF_DRIFT = {"train": "drift", "eval": "skew"}


def check(
    splits: Splits,
    counts: Mapping[str, Counts],
    served: Served | None,
    *,
    columns: Mapping[str, str],
    domains: Mapping[str, Collection[str]],
    settings: DataSettings,
    task: str,
) -> list[Finding]:
    """Compares both splits with the served profile, and with one another.

    Args:
      splits: the examples of "train" and "eval".
      counts: `profile.count` of each.
      served: the newest version and its profile; None before the first one.
      columns: column of the data files -> its type, as `profile.columns_of` gives.
      domains: feature -> the values that the schema allows, where it lists them.
      settings: the `data` section.
      task: "classification" or "summarization".
    """
    train = profile.of(counts["train"], task=task, columns=columns)
    findings = list(_apart(splits["eval"], counts["eval"], train, settings))
    if served is None:
        return findings
    try:
        then = _read(served, task)
    except profile.Unreadable as reason:
        return [*findings, _not_compared(served, str(reason))]
    model = f"the serving model (version {served.version})"
    if task == "classification":
        # Only a reviewed schema is a person's decision; an inferred one has them all.
        listed_ = domains.get(features.TARGET, ()) if settings.reviewed_schema else ()
        findings += label_changes.new_labels(
            splits["train"], then, model=model, reviewed=listed_, settings=settings
        )
        findings += label_changes.vanished_labels(
            counts["train"].labels, then, model=model, settings=settings
        )
    findings += column_changes.changed_types(
        splits["train"], columns, then, model=model, settings=settings
    )
    findings += column_changes.changed_columns(columns, then, model=model)
    findings += column_changes.emptier_slices(
        splits["train"], counts["train"], then, model=model
    )
    findings += _drifted(splits, counts, then, model=model, settings=settings)
    return findings


def _read(served: Served, task: str) -> Profile:
    if served.profile is None:
        raise profile.Unreadable(served.problem)
    then = profile.parse(served.profile)
    if then.task != task:
        raise profile.Unreadable(
            f"it was trained for {then.task}, and this job is {task}"
        )
    return then


def _not_compared(served: Served, reason: str) -> Finding:
    message = (
        "The data was not compared with what the serving model was trained on: of "
        f"version {served.version} ({served.folder}) the data profile cannot be used: "
        f"{reason}. The next version that is promoted brings one."
    )
    return Finding("not_compared", "note", message)


# Distributions


@dataclasses.dataclass(frozen=True)
class _Measured:
    """A distance in words, with rows that show it."""

    distance: Distance
    in_words: str
    rows: tuple[str, ...]


_Measure = Callable[[Sequence[Example], Counts, Profile, str], _Measured | None]


def _labels(
    rows: Sequence[Example], now: Counts, then: Profile, other: str
) -> _Measured | None:
    if not now.labels or not then.labels:
        return None
    before, after = sum(then.labels.values()), now.labels.total()
    moves = {
        name: now.labels[name] / after - then.labels.get(name, 0) / before
        for name in {*now.labels, *then.labels}
    }
    moved = sorted(moves, key=lambda name: (-abs(moves[name]), name))
    shown = [
        f"{excerpt(name)!r} {now.labels[name] / after:.1%} "
        f"({other} {then.labels.get(name, 0) / before:.1%})"
        for name in moved[:_LABELS_SHOWN]
        if moves[name]
    ]
    grown = max(sorted(moves), key=moves.__getitem__)
    distance = of_labels(then.labels, now.labels)
    return _Measured(
        distance,
        f"{distance.value:.1%} of the rows would have to have another label; moved "
        f"most: {', '.join(shown)}",
        rows_in_words(row for row in rows if row.target == grown),
    )


def _text_lengths(
    rows: Sequence[Example], now: Counts, then: Profile, other: str
) -> _Measured | None:
    distance = of_lengths(then.text_words, now.text_words)
    if distance is None:
        return None
    return _Measured(
        distance,
        _lengths_in_words(distance, now.text_words, then.text_words, other),
        rows_in_words(row for row in rows if _shows(distance, row.text)),
    )


def _target_lengths(
    rows: Sequence[Example], now: Counts, then: Profile, other: str
) -> _Measured | None:
    if then.target_words is None:
        return None
    distance = of_lengths(then.target_words, now.target_words)
    if distance is None:
        return None
    return _Measured(
        distance,
        _lengths_in_words(distance, now.target_words, then.target_words, other),
        rows_in_words(row for row in rows if _shows(distance, profile.learned(row))),
    )


def _lengths_in_words(
    distance: LengthDistance, now: np.ndarray, then: profile.Histogram, other: str
) -> str:
    return (
        f"{distance.longer_now:.1%} have more than {distance.edge} words ({other} "
        f"{distance.longer_then:.1%}); the median is {np.median(now):g} words ({other} "
        f"{then.median_in_words()})"
    )


def _shows(distance: LengthDistance, text: str) -> bool:
    """Whether a text is on the side that has grown."""
    grown = distance.longer_now > distance.longer_then
    return (count_words(text) > distance.edge) == grown


def _vocabulary(
    rows: Sequence[Example], now: Counts, then: Profile, other: str
) -> _Measured | None:
    distance = of_words(then, now)
    if distance is None:
        return None
    new = ((-n, word) for word, n in now.word_rows.items() if word not in then.words)
    leading = heapq.nsmallest(_WORDS_SHOWN, new)
    # Beside a word of many rows those of one row tell nothing.
    commonest = [word for n, word in leading if n < -1 or n == leading[0][0]]
    holders = _holders(rows, now, commonest) if distance.beyond else {}
    shown = [
        f"{excerpt(word)!r} ({count(now.words[word], 'time')}; rows: "
        + listed([row.example_id for row in found], now.word_rows[word])
        + ")"
        for word, found in holders.items()
    ]
    first = holders[commonest[0]] if holders else ()
    return _Measured(
        distance,
        f"{now.unknown_share(then.words):.1%} of the words are not among the frequent "
        f"ones ({other} {then.unknown_share:.1%}); the commonest of them: "
        f"{', '.join(shown)}",
        rows_in_words(first),
    )


def _holders(
    rows: Sequence[Example], now: Counts, wanted: Sequence[str]
) -> dict[str, list[Example]]:
    """A few rows for each word; looks at no more rows than it must."""
    found: dict[str, list[Example]] = {word: [] for word in wanted}
    missing = set(wanted)
    for row in rows:
        if not missing:
            break
        for word in missing.intersection(words(row.text)):
            found[word].append(row)
            if len(found[word]) == min(ROWS_SHOWN, now.word_rows[word]):
                missing.discard(word)
    return found


_RULES: tuple[tuple[str, str, str, _Measure], ...] = (
    ("label", "its labels", "max_label_drift", _labels),
    ("length", "the lengths of its texts", "max_length_drift", _text_lengths),
    (
        "target_length",
        "the lengths of its summaries",
        "max_length_drift",
        _target_lengths,
    ),
    ("vocabulary", "its words", "max_vocabulary_drift", _vocabulary),
)


def _drifted(
    splits: Splits,
    counts: Mapping[str, Counts],
    then: Profile,
    *,
    model: str,
    settings: DataSettings,
) -> Iterator[Finding]:
    found = [
        (split, rule, noun, key, measured)
        for split in ("train", "eval")
        for rule, noun, key, measure in _RULES
        if (measured := measure(splits[split], counts[split], then, "then"))
    ]
    # One value of a key must allow all that the key is asked about.
    needed: dict[str, float] = {}
    for *_, key, measured in found:
        needed[key] = max(needed.get(key, 0.0), measured.distance.beyond)
    for split, rule, noun, key, measured in found:
        distance, allowed = measured.distance, getattr(settings.gate, key)
        if distance.beyond <= allowed:
            continue
        message = (
            f"The {split} split differs in {noun} from what {model} was trained on: "
            f"{measured.in_words}. Of the distance of {distance.value:.1%} chance "
            f"explains {distance.chance:.1%}; {distance.beyond:.1%} is left, and "
            f"`data.gate.{key}` allows {allowed:.1%}. Rows: "
            f"{', '.join(measured.rows)}. Correct the data, or, if users write like "
            f"this now, allow it: `--set data.gate.{key}={rounded_up(needed[key])}`."
        )
        yield Finding(
            f"{rule}_{_NAME_OF_DRIFT[split]}",
            "stop",
            message,
            measured.rows,
            f"data.gate.{key}",
        )


def _apart(
    rows: Sequence[Example], now: Counts, train: Profile, settings: DataSettings
) -> Iterator[Finding]:
    """Eval against train of this run, told only: a person chose what eval is."""
    for rule, noun, key, measure in _RULES:
        measured = measure(rows, now, train, "in train")
        if measured is None or measured.distance.beyond <= getattr(settings.gate, key):
            continue
        message = (
            f"The eval split differs in {noun} from the train split: "
            f"{measured.in_words}. Rows: {', '.join(measured.rows)}. A score on other "
            "texts than the model learned from may be a worse one, rightly so."
        )
        yield Finding(f"{rule}_of_splits", "note", message, measured.rows)
