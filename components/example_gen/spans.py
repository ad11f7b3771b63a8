"""Numbered deliveries: from `{SPAN}` in a path to the files of each. Pure.

A span is one delivery of a scheduled job: the folder `span-07/`, or the file
`tickets-07.csv`. It is complete when its marker is there: `span-07/_SUCCESS`, or
`tickets-07.csv._SUCCESS`, which a producer writes last. Of the complete ones the
newest are read, as many as `data.spans.window` says.
"""

import dataclasses
import fnmatch
import glob
import os
import re
from collections.abc import Sequence

from components.example_gen import files, sources
from components.example_gen.settings import (
    SPAN_PLACEHOLDER,
    DataSettings,
    SpanSettings,
)
from trainer_module.progress import DataRefused

# From here on a number is a date (202611, 20261130) or a time, and no counter, so
# that its neighbours need not be there.
FIRST_DATE = 100_000
_NUMBER = r"(?<![0-9])(?P<span>[0-9]+)(?![0-9])"
_SHOWN = 5


@dataclasses.dataclass(frozen=True)
class Span:
    """A delivery that is read.

    Attributes:
      number: as a number; `07` is 7.
      files: of train, then of eval.
      names: of the same files within the delivery, such as "train/a.csv": these stay
        when the folder above moves, or when `7` becomes `07`.
    """

    number: int
    files: tuple[str, ...]
    names: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Found:
    """All deliveries that are there.

    Attributes:
      read: the window: the newest complete ones, oldest first; at least one.
      outside: complete, and older than the window.
      partial: number -> what a delivery lacks that is not complete.
      window: `data.spans.window`.
    """

    read: tuple[Span, ...]
    outside: tuple[int, ...]
    partial: dict[int, str]
    window: int | None

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(span.number for span in self.read)

    def reaches(self, number: int) -> bool:
        """Whether a delivery of this number would be in the window if complete."""
        full = self.window is not None and len(self.read) >= self.window
        return not full or number > self.numbers[0]

    def gaps(self) -> list[int]:
        """The numbers between those of the window that are not there at all.

        None for dates: not every day has a delivery.
        """
        if self.numbers[-1] >= FIRST_DATE:
            return []
        there = {*self.numbers, *self.partial}
        return [n for n in range(self.numbers[0], self.numbers[-1]) if n not in there]


def resolve(data: DataSettings) -> tuple[DataSettings, Found | None]:
    """Names every file, and says which deliveries they belong to.

    Where several paths have `{SPAN}`, also of train and of eval, all of them read the
    same numbers: a delivery that is complete in one and not in another is partial.

    Returns:
      The settings with files as `train` and `eval` and default `spans`, since these
      have then had their effect; and what was found, None without any `{SPAN}`.

    Raises:
      DataRefused: if a path leads to no file, a file comes twice, a number comes twice
        (`7` and `07`), no delivery is complete, or a complete one has no data file.
    """
    paths = {"train": data.train, "eval": data.eval or ()}
    series = {
        path: _Series(path, data.spans.marker)
        for listed in paths.values()
        for path in listed
        if SPAN_PLACEHOLDER in path
    }
    numbers, found = (
        _choose(list(series.values()), data.spans) if series else ((), None)
    )
    expanded: dict[str, tuple[str, ...]] = {}
    members: dict[int, list[tuple[str, str]]] = {number: [] for number in numbers}
    for key, listed in paths.items():
        named: list[str] = []
        for path in listed:
            if path not in series:
                named += sources.expand([path])
                continue
            for number in numbers:
                of_span = series[path].some_files(number)
                named += [file for file, _ in of_span]
                members[number] += [(file, f"{key}/{name}") for file, name in of_span]
        sources.refuse_twice(named)
        expanded[key] = tuple(named)
    if found:
        read = tuple(_span(number, members[number]) for number in numbers)
        found = dataclasses.replace(found, read=read)
    update = {
        "train": expanded["train"],
        "eval": None if data.eval is None else expanded["eval"],
        "spans": SpanSettings(),
    }
    return data.model_copy(update=update), found


def _span(number: int, members: Sequence[tuple[str, str]]) -> Span:
    return Span(number, tuple(f for f, _ in members), tuple(n for _, n in members))


def _choose(
    series: Sequence["_Series"], settings: SpanSettings
) -> tuple[tuple[int, ...], Found]:
    """The numbers of the window, oldest first, and what else there is."""
    numbers = sorted({number for one in series for number in one.entries})
    if not numbers:
        raise series[0].nothing()
    lacking = {
        number: lack
        for number in numbers
        if (lack := next(filter(None, (one.lack(number) for one in series)), None))
    }
    complete = [number for number in numbers if number not in lacking]
    if not complete:
        raise _none_complete(series[0], lacking, settings.marker)
    first = 0 if settings.window is None else max(0, len(complete) - settings.window)
    found = Found((), tuple(complete[:first]), lacking, settings.window)
    return tuple(complete[first:]), found


class _Series:
    """The deliveries of one path.

    Attributes:
      path: with `{SPAN}`.
      entries: number -> the folder, or the files, that the first part of the path with
        a `{SPAN}` leads to.
    """

    def __init__(self, path: str, marker: str | None):
        self.path = path
        self._marker = marker
        parts = path.split("/")
        at = next(n for n, part in enumerate(parts) if SPAN_PLACEHOLDER in part)
        self._folder = "/".join(parts[:at]) or ("/" if at else ".")
        self._part, self._rest = parts[at], "/".join(parts[at + 1 :])
        self._refuse_unclear()
        self._spelled: dict[int, str] = {}
        self._names: dict[str, str] = {}
        self.entries: dict[int, list[str]] = {}
        self._look()

    def lack(self, number: int) -> str | None:
        """What the delivery lacks to be complete, if anything."""
        if number not in self.entries:
            return f"nothing of this number for {self.path}"
        for entry in self.entries[number]:
            if not os.path.exists(entry):
                return f"{entry} is a link to nowhere"
            if self._marker is None:
                continue
            folder, name = self._marker_of(entry, self._marker)
            if not os.path.isfile(os.path.join(folder, name)):
                return f"no {name} in {folder}"
        if self._marker is None and not self._files(number):
            return f"no data file in {self.entries[number][0]}"
        return None

    def some_files(self, number: int) -> list[tuple[str, str]]:
        """The files of a complete delivery, each with its name within the delivery.

        Raises:
          DataRefused: if there are none.
        """
        found = self._files(number)
        if found:
            return found
        path = self.path.replace(SPAN_PLACEHOLDER, self._spelled[number])
        folder, name = self._marker_of(self.entries[number][0], str(self._marker))
        raise files.refusal(
            path,
            f"span {number} is said to be complete ({name} is there), and no data "
            "file is called like this",
            f"Correct the path, deliver the data, or remove {folder}/{name} to have "
            "the span left out.",
        )

    def nothing(self) -> DataRefused:
        """The refusal if not one delivery is there."""
        names = sorted(os.listdir(self._folder))[:_SHOWN]
        return files.refusal(
            self.path,
            "no delivery is called like this; "
            f"{self._folder} holds {names or 'nothing'}",
            f"Correct the path: {SPAN_PLACEHOLDER} stands for the digits of a number.",
        )

    def _look(self) -> None:
        matches = _matcher(self._part).fullmatch
        globbed = glob.has_magic(self._part)
        for name in sorted(os.listdir(self._folder)):
            match, path = matches(name), os.path.join(self._folder, name)
            if not match or self._is_beside_data(name, globbed):
                continue
            if self._rest and os.path.isfile(path):
                continue  # Only a folder has something below it.
            number = int(match["span"])
            spelled = self._spelled.setdefault(number, match["span"])
            if spelled != match["span"]:
                raise files.refusal(
                    self.path,
                    f"there are {spelled} and {match['span']}, and both are span "
                    f"{number}",
                    "Rename or remove one.",
                )
            there = self.entries.setdefault(number, [])
            if there and os.path.isdir(path):
                raise files.refusal(
                    self.path,
                    f"{os.path.basename(there[0])} and {name} are both span {number}, "
                    "and a delivery has one folder",
                    f"Write out more of the name: {SPAN_PLACEHOLDER} stands for all of "
                    "a number.",
                )
            there.append(path)
            # The number may be spelled another way next time.
            before, after = name[: match.start("span")], name[match.end("span") :]
            self._names[path] = f"{before}{SPAN_PLACEHOLDER}{after}"

    def _is_beside_data(self, name: str, globbed: bool) -> bool:
        """The marker of a file, and what a glob finds that is no data."""
        marks = self._marker is not None and name.endswith(_suffix(self._marker))
        return marks or (globbed and sources.is_stray(name))

    def _marker_of(self, entry: str, marker: str) -> tuple[str, str]:
        """Folder and name of the file that says that this entry is complete."""
        if os.path.isdir(entry):
            return entry, marker
        return self._folder, os.path.basename(entry) + _suffix(marker)

    def _files(self, number: int) -> list[tuple[str, str]]:
        spelled, found = self._spelled[number], []
        for entry in self.entries[number]:
            if not os.path.isdir(entry):
                found.append((entry, self._names[entry]))
                continue
            for path in _inside(entry, self._rest.replace(SPAN_PLACEHOLDER, spelled)):
                if os.path.basename(path) != self._marker:
                    found.append((path, os.path.relpath(path, entry)))
        return found

    def _refuse_unclear(self) -> None:
        if not os.path.isdir(self._folder):
            if glob.has_magic(self._folder):
                raise files.refusal(
                    self.path,
                    f"a glob before {SPAN_PLACEHOLDER} leaves open which folders a "
                    "delivery needs to be complete",
                    "List one path for each folder.",
                )
            raise files.refusal(
                self.path,
                f"there is no folder {self._folder}",
                files.way_to_a_missing_file(self._folder),
            )
        before, *_, after = self._part.split(SPAN_PLACEHOLDER)
        if "*" in before and "*" in after:
            raise files.refusal(
                self.path,
                f"with a * before and after {SPAN_PLACEHOLDER} it is open which number "
                "is meant",
                "Write out the part before it.",
            )


def _suffix(marker: str) -> str:
    return "." + marker.removeprefix(".")


def _matcher(part: str) -> re.Pattern[str]:
    """Of one part of a path, a glob with `{SPAN}`; the number is the group "span"."""
    # NUL is in no file name, and fnmatch leaves it as it is.
    pattern = fnmatch.translate(part.replace(SPAN_PLACEHOLDER, "\0"))
    return re.compile(pattern.replace("\0", _NUMBER, 1).replace("\0", "(?P=span)"))


def _inside(folder: str, rest: str) -> list[str]:
    """The data files of a delivery's folder: all of them, or those of a glob."""
    path = os.path.join(folder, rest)
    if os.path.isdir(path):
        return sources.data_files(os.path.join(path, name) for name in os.listdir(path))
    if os.path.isfile(path):
        return [path]  # Named itself, so it is read whatever its name.
    return sources.data_files(
        glob.glob(os.path.join(glob.escape(folder), rest), recursive=True)
    )


def _none_complete(
    series: _Series, lacking: dict[int, str], marker: str | None
) -> DataRefused:
    shown = [f"span {number} ({lack})" for number, lack in lacking.items()]
    newest = ", ".join(shown[-_SHOWN:])
    more = f" and {len(shown) - _SHOWN} older ones" if len(shown) > _SHOWN else ""
    way_out = "Wait for a delivery to be complete, or correct the path."
    if marker is not None and any(lack.startswith("no ") for lack in lacking.values()):
        way_out = (
            f"A delivery is complete once {marker!r} is written, as the last of its "
            "files. Name another file as `data.spans.marker`, or do without: "
            "`--set data.spans.marker=null`."
        )
    return files.refusal(series.path, f"no span is complete: {newest}{more}", way_out)
