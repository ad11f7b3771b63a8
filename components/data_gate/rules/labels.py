"""What can be wrong with the labels of a classification. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence

from components.data_gate.findings import (
    LABELS_SHOWN,
    ROWS_SHOWN,
    Finding,
    Splits,
    count,
    ids,
    listed,
    override,
)
from components.data_gate.rules import spelling
from components.example_gen.examples import Example
from components.example_gen.normalisation import excerpt
from components.example_gen.settings import DataSettings

# A label that is an edit away from one this many times as frequent is a slip. None of
# Banking77's 77 labels is an edit away from another.
SLIP_RATIO = 10
_OVERRIDE_CHARACTERS = 1000


def single_label(train: Sequence[Example]) -> list[Finding]:
    """With one label every answer is right, and every gate is passed."""
    labels = {example.target for example in train}
    if len(labels) != 1:
        return []
    message = (
        f"All {len(train)} train rows have the label {excerpt(labels.pop())!r}: there "
        "is nothing to tell apart. Name the right column as `data.target`, or add "
        "rows with other labels; no key allows this."
    )
    return [Finding("single_label", "stop", message)]


def rare_labels(train: Sequence[Example], settings: DataSettings) -> list[Finding]:
    key = "data.gate.min_examples_per_label"
    minimum = settings.gate.min_examples_per_label
    counts = Counter(example.target for example in train)
    rare = sorted((n, label) for label, n in counts.items() if n < minimum)
    if not rare:
        return []
    frequent = _likely_meant(counts)
    rows = _first_rows(train, {label for _, label in rare})
    names = tuple(
        f"{excerpt(label)!r} ({n}: {ids(rows[label], n)}{_guess(label, frequent)})"
        for n, label in rare
    )
    shown = listed(names[:LABELS_SHOWN], len(names))
    message = (
        f"Labels with fewer than {minimum} train examples: {len(rare)} of "
        f"{len(counts)}: {shown}. Add rows, merge or correct the labels, or allow it: "
        f"`{override(key, rare[0][0])}`."
    )
    return [Finding("rare_label", "stop", message, names, key)]


def unseen_labels(splits: Splits) -> list[Finding]:
    counts = Counter(example.target for example in splits["train"])
    rows: dict[str, list[Example]] = {}
    for example in splits["eval"]:
        if example.target not in counts:
            rows.setdefault(example.target, []).append(example)
    if not rows:
        return []
    # As if they were in train, but never often enough to be what is meant.
    frequent = _likely_meant({**dict.fromkeys(rows, 0), **counts})
    names = tuple(
        f"{excerpt(label)!r} ({count(len(found), 'row')}: {ids(found)}"
        f"{_guess(label, frequent)})"
        for label, found in sorted(rows.items())
    )
    shown = listed(names[:LABELS_SHOWN], len(names))
    message = (
        "Labels of the eval split that the train split never has, so that no model can "
        f"give them: {len(rows)}: {shown}. Correct the labels, add train rows that "
        "have them, or take these out of the eval file; no key allows this."
    )
    return [Finding("unseen_label", "stop", message, names)]


def similar_labels(train: Sequence[Example], settings: DataSettings) -> list[Finding]:
    """One label in two spellings, which a model would have to tell apart.

    A label that only the eval split has is told by `unseen_labels`.
    """
    key, allowed = "data.gate.allow_similar_labels", settings.gate.allow_similar_labels
    counts = Counter(example.target for example in train)
    meant = _doubtful(counts, frozenset(allowed))
    if not meant:
        return []
    rows = _first_rows(train, meant)
    names = tuple(
        f"{excerpt(label)!r} ({count(counts[label], 'row')}: "
        f"{ids(rows[label], counts[label])}) beside {excerpt(other)!r} "
        f"({count(counts[other], 'row')})"
        for label, other in meant.items()
    )
    message = (
        "Labels that differ from another in case, accents, marks or spaces only, or in "
        f"one letter from one {SLIP_RATIO} times as frequent: {len(names)}: "
        f"{listed(names[:LABELS_SHOWN], len(names))}. Correct them, or allow them if "
        f"they are meant: {_way_to_allow(key, [*allowed, *meant])}."
    )
    return [Finding("similar_labels", "stop", message, names, key)]


def _doubtful(counts: Mapping[str, int], allowed: frozenset[str]) -> dict[str, str]:
    """Returns {label: the more frequent one that is likely meant}, sorted."""
    found = {}
    for group in spelling.groups(counts):
        rest = [label for label in group if label not in allowed]
        # Who allows all but one of a group has said that each is meant.
        found.update({label: rest[0] for label in rest[1:]})
    for rare, frequent in spelling.misspelt(counts, ratio=SLIP_RATIO).items():
        if not allowed & {rare, frequent}:
            found.setdefault(rare, frequent)
    return dict(sorted(found.items()))


def _way_to_allow(key: str, labels: Sequence[str]) -> str:
    way = override(key, sorted(set(labels)))
    if len(way) <= _OVERRIDE_CHARACTERS:
        return f"`{way}`"
    return f"list them as `{key}` (findings.json has them all)"


def _likely_meant(counts: Mapping[str, int]) -> dict[str, str]:
    """Returns {label: a more frequent one in another spelling}."""
    found = spelling.misspelt(counts, ratio=2)
    for group in spelling.groups(counts):
        found.update({n: group[0] for n in group[1:] if counts[n] < counts[group[0]]})
    return found


def _guess(label: str, frequent: Mapping[str, str]) -> str:
    meant = frequent.get(label)
    return "" if meant is None else f"; did you mean {excerpt(meant)!r}?"


def _first_rows(
    rows: Sequence[Example], labels: Mapping[str, str] | set[str]
) -> dict[str, list[Example]]:
    """Returns up to `ROWS_SHOWN` rows of each of the labels."""
    found: dict[str, list[Example]] = {label: [] for label in labels}
    for row in rows:
        first = found.get(row.target)
        if first is not None and len(first) < ROWS_SHOWN:
            first.append(row)
    return found
