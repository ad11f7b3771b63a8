"""What the texts of a job are like: lengths, scripts, languages, copies. Pure.

A group of numbers says as `of_rows` how many rows it was taken from. Shares are from 0
to 1. A token is one of the model's, with its prefix and its special tokens, before
anything is cut off.
"""

import dataclasses
import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from components.data_gate.texts.scripts import main_script
from components.example_gen import languages
from components.example_gen.examples import Example
from components.example_gen.normalisation import excerpt, text_key
from trainer_module import features
from trainer_module.settings import ModelSettings

MAX_ROWS_FOR_LANGUAGES = 2000
PIECES_SHOWN = 10
_SHARE_DIGITS = 4


@dataclasses.dataclass(frozen=True)
class TokenCounts:
    """The tokens of some texts.

    Attributes:
      lengths: [texts] int64, tokens before anything is cut off.
      unknowns: [texts] int64, how many of them are the unknown token.
      pieces: what stands in the texts where a token is unknown, with how often; from
        as many of the texts as is cheap.
    """

    lengths: np.ndarray
    unknowns: np.ndarray
    pieces: Counter[str] = dataclasses.field(default_factory=Counter)


# (feature, texts) -> their counts; the feature is TEXT or TARGET.
CountTokens = Callable[[str, Sequence[str]], TokenCounts]
# {split: {feature: counts}}
Counts = dict[str, dict[str, TokenCounts]]


def count_all(
    splits: Mapping[str, Sequence[Example]], task: str, count_tokens: CountTokens
) -> Counts:
    """The tokens of each text that the model reads or writes."""
    return {
        split: {
            feature: count_tokens(feature, texts_of(rows, feature))
            for feature in tokenised(task)
        }
        for split, rows in splits.items()
    }


def tokenised(task: str) -> tuple[str, ...]:
    """The features that become tokens; a label becomes a class."""
    return (features.TEXT,) if task == "classification" else features.RAW[:2]


def texts_of(rows: Iterable[Example], feature: str) -> list[str]:
    """Of a target with several references, the one that is trained on: the first."""
    texts = (str(getattr(row, feature)) for row in rows)
    return [text.partition(features.REFERENCE_SEPARATOR)[0] for text in texts]


def max_tokens(feature: str, model: ModelSettings) -> tuple[str, int]:
    """(key, value) of the setting at which a text is cut off."""
    if feature == features.TEXT:
        return "model.max_source_tokens", model.max_source_tokens
    return "model.max_target_tokens", model.max_target_tokens


def summarise(
    splits: Mapping[str, Sequence[Example]],
    counts: Counts,
    *,
    model: ModelSettings,
    detect: languages.Detect | None,
) -> dict[str, Any]:
    """All statistics, ready for JSON.

    Args:
      splits: the examples of each split.
      counts: of the same examples; see `count_all`.
      model: where texts are cut off.
      detect: from `languages.detector`; None if there is none.

    Returns:
      {split: {"rows": int, feature: {"characters", "tokens", "truncated", "unknown",
      "scripts", "languages", "duplicates"}}}; the last for the text alone.
    """
    found: dict[str, Any] = {}
    for split, rows in splits.items():
        found[split] = {"rows": len(rows)}
        for feature, counted in counts[split].items():
            texts = texts_of(rows, feature)
            keys = [text_key(text) for text in texts]
            found[split][feature] = {
                "characters": spread([len(text) for text in texts]),
                "tokens": spread(counted.lengths),
                "truncated": _truncated(counted.lengths, *max_tokens(feature, model)),
                "unknown": _unknown(counted),
                "scripts": _shares([main_script(text) for text in texts]),
                "languages": _languages(texts, keys, detect),
            }
            if feature == features.TEXT:
                found[split][feature]["duplicates"] = _duplicates(keys)
    return found


def spread(numbers: Sequence[int] | np.ndarray) -> dict[str, float | None]:
    """Mean, median, percentiles and maximum; each but the mean is one of the numbers.

    The p-th percentile is the smallest number that at least p in a hundred do not
    exceed (Hyndman and Fan, 1996, definition 1). Of nothing, each is None.
    """
    if len(numbers) == 0:
        names = ("mean", "median", "p95", "p99", "max")
        return {"of_rows": 0, **dict.fromkeys(names, None)}
    p50, p95, p99 = np.percentile(numbers, [50, 95, 99], method="inverted_cdf")
    return {
        "of_rows": len(numbers),
        "mean": round(float(np.mean(numbers)), 1),
        "median": int(p50),
        "p95": int(p95),
        "p99": int(p99),
        "max": int(np.max(numbers)),
    }


def share(part: int, whole: int) -> float:
    return round(part / whole, _SHARE_DIGITS) if whole else 0.0


def _truncated(lengths: np.ndarray, key: str, limit: int) -> dict[str, Any]:
    rows = int(np.sum(lengths > limit))
    return {
        "of_rows": len(lengths),
        "key": key,
        "max_tokens": limit,
        "rows": rows,
        "share": share(rows, len(lengths)),
    }


def _unknown(counted: TokenCounts) -> dict[str, Any]:
    tokens, rows = int(counted.unknowns.sum()), int(np.sum(counted.unknowns > 0))
    return {
        "of_rows": len(counted.lengths),
        "of_tokens": int(counted.lengths.sum()),
        "tokens": tokens,
        "share": share(tokens, int(counted.lengths.sum())),
        "rows": rows,
        "share_of_rows": share(rows, len(counted.lengths)),
        "most_frequent": [
            (excerpt(piece), n)
            for piece, n in _by_frequency(counted.pieces)[:PIECES_SHOWN]
        ],
    }


def _languages(
    texts: Sequence[str], keys: Sequence[bytes], detect: languages.Detect | None
) -> dict[str, Any]:
    if detect is None:
        return {"of_rows": 0, "shares": {}, "why_none": languages.NOT_INSTALLED}
    # By the texts' hashes, so that few change when rows are added.
    chosen = heapq.nsmallest(
        MAX_ROWS_FOR_LANGUAGES, range(len(texts)), key=lambda i: keys[i]
    )
    return _shares(detect([texts[i] for i in chosen]))


def _shares(names: Sequence[str]) -> dict[str, Any]:
    counted = _by_frequency(Counter(names))
    shares = {name: share(n, len(names)) for name, n in counted}
    return {"of_rows": len(names), "shares": shares}


def _duplicates(keys: Sequence[bytes]) -> dict[str, Any]:
    rows = len(keys) - len(set(keys))
    return {"of_rows": len(keys), "rows": rows, "share": share(rows, len(keys))}


def _by_frequency(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """The most frequent first; equally frequent ones by name."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))
