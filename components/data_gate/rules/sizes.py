"""Whether there are rows enough to learn from and to judge by. Pure."""

import math
from collections import Counter

from components.data_gate.findings import (
    LABELS_SHOWN,
    Finding,
    Splits,
    count,
    listed,
    override,
    rounded_up,
)
from components.example_gen.normalisation import excerpt
from components.example_gen.settings import DataSettings

ROWS_TO_JUDGE_A_LABEL = 5  # Below, one row moves its score by more than 0.2.
_Z = 1.959964  # Between -z and z lie 95% of a standard normal distribution.


def too_few_examples(splits: Splits, settings: DataSettings) -> list[Finding]:
    findings = []
    for split, key in (("train", "min_train_examples"), ("eval", "min_eval_examples")):
        minimum, rows = getattr(settings.gate, key), len(splits[split])
        if rows >= minimum:
            continue
        message = (
            f"The {split} split has {count(rows, 'example')}, and at least {minimum} "
            "are asked for. Add rows"
        )
        message += (
            f", or allow it: `{override(f'data.gate.{key}', rows)}`." if rows else "."
        )
        findings.append(
            Finding("too_few_examples", "stop", message, allow=f"data.gate.{key}")
        )
    return findings


def half_width(rows: int) -> float:
    """Half of the 95% interval of a proportion of 0.5, the widest there is.

    The score interval: Wilson, "Probable inference, the law of succession, and
    statistical inference", JASA 22, 1927. A mean of other scores from 0 to 1, such as
    ROUGE, varies no more than a proportion does.
    """
    return _Z / (2 * math.sqrt(rows + _Z**2))


def rows_for(width: float) -> int:
    """The fewest rows whose `half_width` is at most `width`."""
    return max(1, math.ceil((_Z / (2 * width)) ** 2 - _Z**2))


def wide_interval(splits: Splits, settings: DataSettings) -> list[Finding]:
    """An eval split on which a good and a bad model can have the same score."""
    key, rows = "data.gate.max_interval_half_width", len(splits["eval"])
    width, allowed = half_width(rows), settings.gate.max_interval_half_width
    if not rows or width <= allowed:
        return []
    message = (
        f"The eval split has {count(rows, 'row')}: a score on it is known to "
        f"±{width:.3f} only (95% interval at 0.5), and `{key}` allows ±{allowed:.3f}. "
        f"{count(rows_for(allowed), 'row')} would do: add some, "
        f"{_way_to_more_rows(settings)}, or allow it: "
        f"`{override(key, rounded_up(width))}`."
    )
    return [Finding("wide_interval", "stop", message, allow=key)]


def _way_to_more_rows(settings: DataSettings) -> str:
    if settings.max_eval_examples is not None:
        return f"raise `data.max_eval_examples` ({settings.max_eval_examples})"
    if settings.eval is None:
        return f"raise `data.eval_share` ({settings.eval_share})"
    return "move some from train to eval"


def thin_labels(splits: Splits) -> list[Finding]:
    """Labels of the train split that the eval split can hardly judge."""
    rows = Counter(example.target for example in splits["eval"])
    known = {example.target for example in splits["train"]}
    thin = sorted((rows[n], n) for n in known if rows[n] < ROWS_TO_JUDGE_A_LABEL)
    if not thin:
        return []
    names = tuple(f"{excerpt(label)!r} ({n})" for n, label in thin)
    message = (
        f"Labels with fewer than {ROWS_TO_JUDGE_A_LABEL} eval rows, too few to judge "
        f"each by: {len(thin)} of {len(known)}: "
        f"{listed(names[:LABELS_SHOWN], len(names))}."
    )
    return [Finding("thin_label", "note", message, names)]
