"""Eval rows that are all but in the train split. Pure."""

from components.data_gate.findings import (
    ROWS_SHOWN,
    Finding,
    Splits,
    by_share,
    listed,
)
from components.data_gate.rules import near_duplicates as near
from components.data_gate.rules import repeats
from components.data_gate.rules.text_keys import TextKeys
from components.example_gen.examples import Example
from components.example_gen.normalisation import excerpt
from components.example_gen.settings import DataSettings


def near_duplicates(
    splits: Splits, keys: TextKeys, settings: DataSettings
) -> list[Finding]:
    """Eval rows whose text is similar to one of the train split, and not the same.

    Those with the same text are told by `leaked_texts`.
    """
    similarity = settings.gate.near_duplicate_similarity
    train = splits["train"]
    held = [
        row
        for row, key in zip(splits["eval"], keys.held, strict=True)
        if key not in keys.first
    ]
    found = near.find(
        (row.text for row in train), [row.text for row in held], similarity=similarity
    )
    findings = _given_up([held[number] for number in found.given_up])
    if not found.pairs:
        return findings
    share = len(found.pairs) / len(splits["eval"])
    shown = tuple(
        _pair(held[pair.held], train[pair.train], pair.similarity)
        for pair in found.pairs[:ROWS_SHOWN]
    )
    message = (
        "Eval rows with a text that is all but one of the train split (similarity "
        f"{similarity} or more): {len(found.pairs)} of {len(splits['eval'])} "
        f"({share:.2%}): {listed(shown, len(found.pairs))}."
    )
    finding = by_share(
        "near_duplicate",
        message,
        shown,
        key="data.gate.max_near_duplicate_share",
        share=share,
        allowed=settings.gate.max_near_duplicate_share,
        why=repeats.WHY_IT_IS_WRONG,
    )
    return [finding, *findings]


def _pair(ours: Example, theirs: Example, similarity: float) -> str:
    return (
        f"{excerpt(ours.text)!r} (eval {excerpt(ours.example_id)}) and "
        f"{excerpt(theirs.text)!r} (train {excerpt(theirs.example_id)}, "
        f"{similarity:.2f})"
    )


def _given_up(rows: list[Example]) -> list[Finding]:
    if not rows:
        return []
    shown = tuple(
        f"{excerpt(row.text)!r} ({excerpt(row.example_id)})"
        for row in rows[:ROWS_SHOWN]
    )
    message = (
        "Eval rows that share much of their text, such as a greeting or a signature, "
        f"with over {near.MAX_COMPARED} train rows, and were compared with no more: "
        f"{len(rows)}: {listed(shown, len(rows))}. Near duplicates of these may be "
        "missed."
    )
    return [Finding("many_similar", "note", message, shown)]
