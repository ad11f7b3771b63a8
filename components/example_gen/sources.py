"""From the paths that a job names to the files that are read. Pure."""

import glob
import os
import re
from collections.abc import Iterable, Sequence

from components.example_gen import files
from trainer_module.progress import DataRefused

# What lies beside data and is none: of editors, downloads, Spark, file systems.
_STRAY = re.compile(
    r"^[._]|~$|^#.*#$|\.(tmp|temp|swp|swo|bak|orig|part|partial|crdownload|incomplete"
    r"|crc|md5|sha256|lock)$",
    re.IGNORECASE,
)


def expand(paths: Sequence[str]) -> tuple[str, ...]:
    """The files of each path in order: a file, a folder's files, or those of a glob.

    Of a folder or a glob the files are sorted by name, and hidden and stray ones
    (`.DS_Store`, `a.csv~`, `_SUCCESS`) are left out; a file that is named itself is
    read whatever its name. `**` stands for any number of folders.

    Raises:
      DataRefused: if a path leads to no file, or a file comes twice.
    """
    found: list[str] = []
    for path in paths:
        found += _files_of(path)
    refuse_twice(found)
    return tuple(found)


def data_files(candidates: Iterable[str]) -> list[str]:
    """Those of `candidates` that are files and not stray, by name."""
    return sorted(
        c for c in candidates if os.path.isfile(c) and not is_stray(os.path.basename(c))
    )


def is_stray(name: str) -> bool:
    """Whether a file of this name lies beside data and is none."""
    return bool(_STRAY.search(name))


def _refuse_unnameable(paths: Iterable[str]) -> None:
    """No record, artifact or message can hold such a name."""
    for path in paths:
        try:
            path.encode()
        except UnicodeEncodeError:
            raise DataRefused(
                f"{os.fsencode(path)!r}: the name of this file is not UTF-8. Rename it."
            ) from None


def _files_of(path: str) -> list[str]:
    if os.path.isdir(path):
        inside = [os.path.join(path, name) for name in os.listdir(path)]
        return _some_files(path, inside, "the folder has no data file")
    if not os.path.exists(path) and glob.has_magic(path):
        return _some_files(
            path, glob.glob(path, recursive=True), "no data file is called like this"
        )
    return [path]  # Whether it is there and can be read is found out by reading it.


def _some_files(path: str, candidates: Sequence[str], nothing: str) -> list[str]:
    kept = data_files(candidates)
    if kept:
        return kept
    stray = sorted(os.path.basename(c) for c in candidates if os.path.isfile(c))[:5]
    raise files.refusal(
        path,
        nothing + (f", only {stray}" if stray else ""),
        "Correct the path, or name the files themselves.",
    )


def refuse_twice(found: Sequence[str]) -> None:
    """Raises DataRefused if a file comes twice, also through a link."""
    _refuse_unnameable(found)
    seen: dict[str, str] = {}
    for path in found:
        real = os.path.realpath(path)
        if real in seen:
            other = "" if seen[real] == path else f" (as {seen[real]})"
            raise DataRefused(
                f"{path}: this file is named twice{other}, and its rows would count "
                "twice. Name it once."
            )
        seen[real] = path
