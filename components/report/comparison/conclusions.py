"""What a comparison comes to, in words. Pure."""

from collections.abc import Iterator, Sequence

from components.evaluator import bootstrap
from components.report.comparison.core import Comparison, Row, Score, listed, shortened
from components.report.comparison.pairing import A, B
from components.report.pages import number, signed
from components.report.verdicts import Verdict

_NAMES_SHOWN = 5
_MOST_ROWS_TOLD = 1_000_000  # More would be no help.


def verdict(found: Comparison) -> Verdict:
    """For a reader who reads nothing else."""
    main = found.of_main
    reasons = tuple(_reasons(found))
    if found.why_not_paired:
        return Verdict(
            "open",
            f"Which is better cannot be told row by row: {found.why_not_paired}",
            reasons,
        )
    if main.better is None:
        return Verdict("open", _no_difference(main), reasons)
    if main.fewest_rows < found.min_slice_rows:
        return Verdict("open", _too_few_rows(found), reasons)
    sentence = f"{main.better} is better in {main.name} by {_by(main)}"
    worse = _judged(found, _other(main.better))
    if worse:
        where = "slice" if len(worse) == 1 else "slices"
        sentence += f", and worse in {len(worse):,} {where}: {_names(worse)}."
    elif _slices(found):
        sentence += "; in no slice with enough rows is it shown to be worse."
    else:
        sentence += "."
    kind = "bad" if main.better == A else "open" if worse else "good"
    return Verdict(kind, sentence, reasons)


def by_chance(rows: Sequence[Row], confidence: float) -> str:
    """How many of some rows would seem to differ if none did; "" if hardly one."""
    judged = [r for r in rows if r.difference and r.difference["low"] is not None]
    expected = len(judged) * (1 - confidence)
    if expected < 1:
        return ""
    return (
        f"Of {len(judged):,} comparisons about {expected:.0f} would seem clear by "
        "chance alone."
    )


def interval(score: Score | None, *, sign: bool = False) -> str:
    """Such as "0.9123 (0.9000 to 0.9240)", or the value alone."""
    shown = signed if sign else number
    if score is None:
        return shown(None)
    bounds = score["low"], score["high"]
    if None in bounds:
        return shown(score["value"])
    return f"{shown(score['value'])} ({shown(bounds[0])} to {shown(bounds[1])})"


def _by(row: Row) -> str:
    """How much better the better one is, as a positive number with its bounds."""
    assert row.difference is not None
    value, low, high = (row.difference[key] for key in ("value", "low", "high"))
    assert value is not None and low is not None and high is not None
    low, high = sorted((abs(low), abs(high)))
    return f"{number(abs(value))} ({number(low)} to {number(high)})"


def _no_difference(main: Row) -> str:
    return (
        f"No difference in {main.name} that the {main.rows[B] or 0:,} eval rows could "
        "show."
    )


def _too_few_rows(found: Comparison) -> str:
    main = found.of_main
    return (
        f"{main.better} has the better {main.name}, by {_by(main)}, but "
        f"{main.fewest_rows:,} eval rows are too few to judge by: less than "
        f"{found.min_slice_rows:,}, the `gate.min_slice_rows` of the runs."
    )


def _reasons(found: Comparison) -> Iterator[str]:
    main = found.of_main
    if found.why_not_paired:
        for side in (A, B):
            rows = main.rows[side] or 0
            shown = interval(main.scores.get(side))
            yield f"{main.name} of {side}: {shown} on {rows:,} rows."
        yield from _of_labels(found)
        return
    if main.better is None:
        yield (
            f"{main.name} of A {number(main.scores[A]['value'])}, of B "
            f"{number(main.scores[B]['value'])}: B has "
            f"{interval(main.difference, sign=True)} more."
        )
        if needed := _rows_needed(main):
            yield (
                f"If it is as large as that, about {needed:,} eval rows would show it; "
                f"there are {main.rows[B] or 0:,}."
            )
    for side in (B, A):
        others = [r for r in found.overall if r.better == side and r is not main]
        if others:
            also = "also " if side == main.better else ""
            yield f"{side} is {also}better in: {listed(r.name for r in others)}."
    yield from _of_slices(found)
    yield from _of_labels(found)


def _of_slices(found: Comparison) -> Iterator[str]:
    for side in (B, A):
        rows = _judged(found, side)
        if rows and (main := found.of_main).better != _other(side):
            yield f"{side} is better in {main.name} in the slices: {_names(rows)}."
    judged = [*_judged(found, A), *_judged(found, B)]
    chance = by_chance(_slices(found), found.confidence)
    if judged and chance:
        yield f"By slice: {chance[0].lower()}{chance[1:]}"


def _of_labels(found: Comparison) -> Iterator[str]:
    for side, labels in found.only_in.items():
        if labels:
            kind = "label" if len(labels) == 1 else "labels"
            yield f"Only {side} knows the {kind} {listed(labels)}."
    judged = with_enough_rows(found, found.labels)
    gained = sum(row.better == B for row in judged)
    lost = sum(row.better == A for row in judged)
    if gained or lost:
        chance = by_chance(judged, found.confidence)
        yield (
            f"By label: B is better in {gained:,} of {len(judged):,}, A in {lost:,}. "
            f"{chance}".rstrip()
        )


def with_enough_rows(found: Comparison, rows: Sequence[Row]) -> list[Row]:
    """Those of some slices or labels that are judged."""
    return [row for row in rows if row.fewest_rows >= found.min_slice_rows]


def _slices(found: Comparison) -> list[Row]:
    """The slices that are judged, by the main metric."""
    return with_enough_rows(found, found.slices.get(found.main, ()))


def _judged(found: Comparison, side: str) -> list[Row]:
    """The slices with enough rows in which one of the runs is better."""
    return [row for row in _slices(found) if row.better == side]


def _other(side: str) -> str:
    return A if side == B else B


def _names(rows: Sequence[Row]) -> str:
    parts = [f"{shortened(row.name)} by {_by(row)}" for row in rows[:_NAMES_SHOWN]]
    more = len(rows) - _NAMES_SHOWN
    return ", ".join(parts) + (f" and {more:,} more" if more > 0 else "")


def _rows_needed(main: Row) -> int | None:
    """About how many rows would tell, in two digits; None if they seem alike."""
    assert main.difference is not None
    value, low, high = (main.difference[key] for key in ("value", "low", "high"))
    if value is None or low is None or high is None:
        return None
    half = value - low if value > 0 else high - value
    needed = bootstrap.rows_needed(main.rows[B] or 0, half, abs(value))
    if not needed or needed > _MOST_ROWS_TOLD:
        return None
    return int(float(f"{needed:.2g}"))
