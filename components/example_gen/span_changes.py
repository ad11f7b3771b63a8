"""What became of the deliveries since an earlier run read them, in words. Pure."""

import dataclasses
import enum
import hashlib
from collections.abc import Mapping, Sequence

from components.example_gen.spans import Found, Span
from trainer_module.settings import Section

_RUNS_SHOWN = 5


class State(str, enum.Enum):
    """What a run did with a delivery, or why it did nothing."""

    NEW = "new"
    UNCHANGED = "unchanged"
    LATE = "late"  # Older than what an earlier run had read, and not read by it.
    AGAIN = "delivered again"  # Read by an earlier run with other content.
    PARTIAL = "partial"
    OUTSIDE = "outside the window"
    VANISHED = "vanished"  # Read by an earlier run, and no longer there.


READ = frozenset({State.NEW, State.UNCHANGED, State.LATE, State.AGAIN})


class SpanRecord(Section):
    """A delivery as a run's record holds it.

    Attributes:
      span: its number.
      files: that were read.
      sha256: over the names within the delivery and the bytes; None if not read.
      state: whether it was read, and how it stands to the run before.
    """

    span: int
    files: tuple[str, ...] = ()
    sha256: str | None = None
    state: State


@dataclasses.dataclass(frozen=True)
class Earlier:
    """What an earlier run recorded; it read at least one delivery."""

    run_id: str
    records: tuple[SpanRecord, ...]

    @property
    def read(self) -> dict[int, SpanRecord]:
        return {r.span: r for r in self.records if r.state in READ}

    @property
    def complete(self) -> set[int]:
        return {*self.read, *(r.span for r in self.records if r.state == State.OUTSIDE)}


def records(
    found: Found, file_hashes: Mapping[str, str], earlier: Earlier | None
) -> tuple[SpanRecord, ...]:
    """One record for each delivery that is there, or that the earlier run read.

    Args:
      found: all deliveries.
      file_hashes: SHA-256 of each file that is read.
      earlier: the newest run that read deliveries of the same paths.
    """
    made = [SpanRecord(span=number, state=State.PARTIAL) for number in found.partial]
    made += [SpanRecord(span=number, state=State.OUTSIDE) for number in found.outside]
    for span in found.read:
        digest = _digest(span, file_hashes)
        state = _state(span.number, digest, earlier)
        made.append(
            SpanRecord(span=span.number, files=span.files, sha256=digest, state=state)
        )
    there = {record.span for record in made}
    for number, record in (earlier.read if earlier else {}).items():
        if number not in there and found.reaches(number):
            made.append(
                record.model_copy(update={"state": State.VANISHED, "files": ()})
            )
    return tuple(sorted(made, key=lambda record: record.span))


def _digest(span: Span, file_hashes: Mapping[str, str]) -> str:
    lines = sorted(
        f"{name}\0{file_hashes[file]}"
        for name, file in zip(span.names, span.files, strict=True)
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _state(number: int, digest: str, earlier: Earlier | None) -> State:
    if earlier is None:
        return State.NEW
    before = earlier.read.get(number)
    if before:
        return State.UNCHANGED if before.sha256 == digest else State.AGAIN
    # What lay outside the window then has not come late: the window has grown.
    is_late = number < max(earlier.read) and number not in earlier.complete
    return State.LATE if is_late else State.NEW


def notes(
    found: Found, made: Sequence[SpanRecord], earlier: Earlier | None
) -> tuple[str, ...]:
    """Which deliveries are read, then what is not as usual: one line each.

    Args:
      found: all deliveries.
      made: their `records`.
      earlier: what these were made with.
    """
    total = len(found.read) + len(found.outside)
    window = f" (window {found.window})" if found.window else ""
    told = [f"{_named(found.numbers)} of {total}{window}"]
    vanished = _in_state(made, State.VANISHED)
    gaps = [number for number in found.gaps() if number not in vanished]
    if gaps:
        told.append(
            f"{_named(gaps)} {_is(gaps)} missing: there is nothing of this number"
        )
    told += _of_partial(found, earlier)
    if earlier:
        told += _of_changes(made, found, earlier, vanished)
    return tuple(told)


def _of_partial(found: Found, earlier: Earlier | None) -> list[str]:
    waited_for = {n: lack for n, lack in found.partial.items() if found.reaches(n)}
    lapsed = [n for n in waited_for if earlier and n in earlier.read]
    fresh = [n for n in waited_for if n not in lapsed]
    told = []
    if fresh:
        told.append(
            f"{_named(fresh)} {_is(fresh)} not complete yet "
            f"({_lack(fresh, waited_for)}): left out"
        )
    if lapsed and earlier:
        told.append(
            f"{_named(lapsed)} {_was(lapsed)} complete in run {earlier.run_id} and "
            f"{_is(lapsed)} not now ({_lack(lapsed, waited_for)}): left out"
        )
    return told


def _of_changes(
    made: Sequence[SpanRecord],
    found: Found,
    earlier: Earlier,
    vanished: Sequence[int],
) -> list[str]:
    run, newest = earlier.run_id, max(earlier.read)
    late, again = _in_state(made, State.LATE), _in_state(made, State.AGAIN)
    too_late = [n for n in found.outside if n < newest and n not in earlier.complete]
    told = []
    if late:
        told.append(
            f"{_named(late)} came late: run {run} had read up to span {newest} without "
            f"{_it(late)}; read now"
        )
    if too_late:
        told.append(
            f"{_named(too_late)} came after run {run} had read up to span "
            f"{newest}, and {_is(too_late)} older than the window: not read"
        )
    if again:
        told.append(
            f"{_named(again)} {_was(again)} delivered again since run {run}: "
            f"{'its' if len(again) == 1 else 'their'} rows are read anew"
        )
    if vanished:
        told.append(
            f"{_named(vanished)} {_is(vanished)} gone, and run {run} had read "
            f"{_it(vanished)}: the model is trained without. Restore "
            f"{_it(vanished)} unless this is meant"
        )
    return told


def _in_state(made: Sequence[SpanRecord], state: State) -> list[int]:
    return [record.span for record in made if record.state == state]


def _lack(numbers: Sequence[int], lacks: Mapping[int, str]) -> str:
    more = "" if len(numbers) == 1 else f" for span {numbers[-1]}"
    return lacks[numbers[-1]] + more


# Numbers in words


def in_words(numbers: Sequence[int]) -> str:
    """Rising numbers: "9 to 12", "9, 11 and 12", "22 from 3 to 60"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts: list[str] = []
    for run in runs:
        two = [str(number) for number in run]
        parts += two if len(run) < 3 else [f"{run[0]} to {run[-1]}"]
    if len(parts) > _RUNS_SHOWN:
        return f"{len(numbers)} from {numbers[0]} to {numbers[-1]}"
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


def _named(numbers: Sequence[int]) -> str:
    return f"span{'' if len(numbers) == 1 else 's'} {in_words(numbers)}"


def _is(numbers: Sequence[int]) -> str:
    return "is" if len(numbers) == 1 else "are"


def _was(numbers: Sequence[int]) -> str:
    return "was" if len(numbers) == 1 else "were"


def _it(numbers: Sequence[int]) -> str:
    return "it" if len(numbers) == 1 else "them"
