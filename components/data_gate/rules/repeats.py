"""Texts that the data has more than once, and what follows from that. Pure."""

from collections.abc import Sequence

from components.data_gate.findings import (
    ROWS_SHOWN,
    Finding,
    Splits,
    by_share,
    count,
    listed,
)
from components.data_gate.rules.text_keys import TextKeys
from components.example_gen.examples import Example
from components.example_gen.normalisation import excerpt
from components.example_gen.settings import DataSettings

# Of an eval row whose text train has too, or nearly.
WHY_IT_IS_WRONG = "Scores on them flatter the model. Remove them from one file"
REPEATED_SHARE_TO_NOTE = 0.01  # Of the train rows.


def leaked_texts(
    splits: Splits, keys: TextKeys, settings: DataSettings
) -> list[Finding]:
    """Eval rows whose text, but for case and white space, is in the train split."""
    pairs = [
        (example, splits["train"][keys.first[key]])
        for example, key in zip(splits["eval"], keys.held, strict=True)
        if key in keys.first
    ]
    if not pairs:
        return []
    share = len(pairs) / len(splits["eval"])
    shown = tuple(
        f"{excerpt(ours.text)!r} (eval {excerpt(ours.example_id)}, "
        f"train {excerpt(theirs.example_id)})"
        for ours, theirs in pairs[:ROWS_SHOWN]
    )
    message = (
        f"Eval rows with a text that the train split has too: {len(pairs)} of "
        f"{len(splits['eval'])} ({share:.2%}): {listed(shown, len(pairs))}."
    )
    finding = by_share(
        "leaked_text",
        message,
        shown,
        key="data.gate.max_leaked_share",
        share=share,
        allowed=settings.gate.max_leaked_share,
        why=WHY_IT_IS_WRONG,
    )
    return [finding]


def contradicting_labels(
    splits: Splits, keys: TextKeys, settings: DataSettings
) -> list[Finding]:
    """One text with several labels, in train or between train and eval."""
    train, first = splits["train"], keys.first
    torn = dict.fromkeys(
        key
        for key, row in zip(keys.train, train, strict=True)
        if row.target != train[first[key]].target
    )
    across = dict.fromkeys(
        key
        for key, row in zip(keys.held, splits["eval"], strict=True)
        if key in first and key not in torn and row.target != train[first[key]].target
    )
    if not torn and not across:
        return []
    rows = sum(key in torn for key in keys.train)
    share = rows / len(train)
    shown = _labels_of([*torn, *across][:ROWS_SHOWN], splits, keys)
    message = (
        f"Texts with more than one label: {len(torn)} of the train split, on {rows} of "
        f"{count(len(train), 'row')} ({share:.2%}), and {len(across)} that train and "
        f"eval label differently: {listed(shown, len(torn) + len(across))}. No model "
        "can give both."
    )
    finding = by_share(
        "contradicting_labels",
        message,
        shown,
        key="data.gate.max_contradicting_share",
        share=share,
        allowed=settings.gate.max_contradicting_share,
        why="Keep the right ones",
    )
    return [finding]


def _labels_of(
    chosen: Sequence[bytes], splits: Splits, keys: TextKeys
) -> tuple[str, ...]:
    """Returns, for each text, its labels with a row that has each."""
    found: dict[bytes, dict[str, str]] = {key: {} for key in chosen}
    texts: dict[bytes, str] = {}
    for split, of_rows in (("train", keys.train), ("eval", keys.held)):
        for key, row in zip(of_rows, splits[split], strict=True):
            if key in found:
                texts.setdefault(key, excerpt(row.text))
                where = f"{split} {excerpt(row.example_id)}"
                found[key].setdefault(row.target, where)
    return tuple(f"{texts[key]!r} ({_first_of(found[key])})" for key in chosen)


def _first_of(labels: dict[str, str]) -> str:
    named = [f"{excerpt(label)!r} in {where}" for label, where in labels.items()]
    return listed(named[:ROWS_SHOWN], len(named))


def repeated_rows(train: Sequence[Example], keys: TextKeys) -> list[Finding]:
    """Train rows that an earlier one equals, in text and target."""
    firsts: dict[tuple[bytes, str], int] = {}
    pairs = [
        (row, train[first])
        for number, (key, row) in enumerate(zip(keys.train, train, strict=True))
        if (first := firsts.setdefault((key, row.target), number)) != number
    ]
    share = len(pairs) / len(train) if train else 0
    if share <= REPEATED_SHARE_TO_NOTE:
        return []
    shown = tuple(
        f"{excerpt(row.text)!r} ({excerpt(row.example_id)} as "
        f"{excerpt(earlier.example_id)})"
        for row, earlier in pairs[:ROWS_SHOWN]
    )
    message = (
        f"Train rows that repeat an earlier one in text and target: {len(pairs)} of "
        f"{len(train)} ({share:.2%}): {listed(shown, len(pairs))}. Each copy makes the "
        "model heed the row more; if that is not meant, keep one."
    )
    return [Finding("repeated_row", "note", message, shown)]
