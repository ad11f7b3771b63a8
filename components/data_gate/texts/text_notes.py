"""What a person should know of the texts: cut off, unknown, or longer than allowed.

Pure.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from components.data_gate.findings import ROWS_SHOWN, Finding, count, listed
from components.data_gate.texts.text_statistics import Counts
from components.example_gen.examples import Example
from components.example_gen.normalisation import excerpt
from components.example_gen.settings import DataSettings
from trainer_module import features
from trainer_module.settings import ModelSettings

Splits = Mapping[str, Sequence[Example]]

_NOTED_TRUNCATED_SHARE, _NOTED_UNKNOWN_SHARE = 0.05, 0.01
_PIECES_SHOWN = 5
_NOUNS = {features.TEXT: "Texts", features.TARGET: "Targets"}


def notes(statistics: Mapping[str, Any], *, positions: int | None) -> list[Finding]:
    """Notes on what `text_statistics.summarise` found.

    Args:
      statistics: {split: {feature: groups of numbers}}.
      positions: tokens that the checkpoint can read at most; None if any number.
    """
    found = []
    for feature in _NOUNS:
        of_splits = {
            split: groups[feature]
            for split, groups in statistics.items()
            if feature in groups
        }
        found += _truncated(feature, of_splits, positions)
        found += _unknown(feature, of_splits)
    return found


def _truncated(
    feature: str, of_splits: Mapping[str, Any], positions: int | None
) -> list[Finding]:
    many = {
        split: groups["truncated"]
        for split, groups in of_splits.items()
        if groups["truncated"]["share"] > _NOTED_TRUNCATED_SHARE
    }
    if not many:
        return []
    key = next(iter(many.values()))["key"]
    limit = next(iter(many.values()))["max_tokens"]
    shown = tuple(
        f"{t['share']:.1%} of {split} ({t['rows']:,} of {t['of_rows']:,} rows)"
        for split, t in many.items()
    )
    wanted = max(groups["tokens"]["p99"] for groups in of_splits.values())
    message = (
        f"{_NOUNS[feature]} longer than `{key}` ({limit}) lose their end: "
        f"{' and '.join(shown)}. {_way_to_longer(key, limit, wanted, positions)}"
    )
    return [Finding(f"truncated_{feature}", "note", message, shown, key)]


def _way_to_longer(key: str, limit: int, wanted: int, positions: int | None) -> str:
    name = key.removeprefix("model.")
    (bound,) = (m.le for m in ModelSettings.model_fields[name].metadata if _is_le(m))
    if positions is not None and positions < bound and key == "model.max_source_tokens":
        bound, whose = positions, "this checkpoint reads"
    else:
        whose = f"`{key}` allows"
    if wanted <= bound:
        return f"To keep 99% whole: `--set {key}={wanted}`."
    most = f"99% would need {wanted:,} tokens, and {whose} at most {bound:,}"
    if limit < bound:
        return f"{most}: `--set {key}={bound}`."
    return f"{most}; shorten them in the file."


def _is_le(metadata: object) -> bool:
    return hasattr(metadata, "le")


def _unknown(feature: str, of_splits: Mapping[str, Any]) -> list[Finding]:
    many = {
        split: groups["unknown"]
        for split, groups in of_splits.items()
        if groups["unknown"]["share"] > _NOTED_UNKNOWN_SHARE
    }
    if not many:
        return []
    told = (
        f"{u['share']:.1%} of {split}'s tokens (in {u['rows']:,} of {u['of_rows']:,} "
        "rows)"
        for split, u in many.items()
    )
    first = next(iter(many.values()))
    pieces = tuple(
        f"{excerpt(piece, 20)!r} ({n:,} times)"
        for piece, n in first["most_frequent"][:_PIECES_SHOWN]
    )
    like = f", like {', '.join(pieces)}" if pieces else ""
    message = (
        f"{_NOUNS[feature]} with signs or words that are not in the checkpoint's "
        "vocabulary, so that the model does not see them: "
        f"{' and '.join(told)}{like}. If they matter, name a checkpoint that knows "
        "them as `model.checkpoint`."
    )
    return [Finding(f"unknown_{feature}", "note", message, pieces, "model.checkpoint")]


def too_long(
    splits: Splits,
    counts: Counts,
    *,
    limits: Mapping[str, int],
    settings: DataSettings,
) -> list[Finding]:
    """The rows with more tokens than the schema allows; these stop the run.

    Args:
      splits: the examples of each split.
      counts: of the same examples.
      limits: feature -> `max_sequence_length` in the schema, where it has one.
      settings: the `data` section.
    """
    found = []
    for split, rows in splits.items():
        for feature, limit in limits.items():
            if feature not in counts[split]:
                continue
            lengths = counts[split][feature].lengths
            (over,) = np.nonzero(lengths > limit)
            if len(over) == 0:
                continue
            shown = tuple(
                f"{excerpt(str(getattr(rows[i], feature)))!r} "
                f"({rows[i].example_id}: {lengths[i]:,} tokens)"
                for i in over[:ROWS_SHOWN]
            )
            message = (
                f"{_NOUNS[feature]} of the {split} split longer than the {limit:,} "
                f"tokens that the schema allows: {count(len(over), 'row')}: "
                f"{listed(shown, len(over))}. Shorten them or take them out of the "
                "file, allow them in the reviewed schema "
                f"({settings.reviewed_schema}: `max_sequence_length` of {feature!r}), "
                "or go on without it: `--set data.reviewed_schema=null`."
            )
            found.append(
                Finding(
                    f"too_long_{feature}",
                    "stop",
                    message,
                    shown,
                    "data.reviewed_schema",
                )
            )
    return found
