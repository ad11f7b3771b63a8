"""How the files are shared out among the workers that read them. Pure."""

import dataclasses
import os
from collections.abc import Iterator, Sequence

from components.example_gen.settings import DataSettings

# A portion is read by one worker and becomes one file of examples a split, so small
# files are read together, in the order in which they are named.
MAX_BYTES = 64 * 2**20


@dataclasses.dataclass(frozen=True)
class Portion:
    """Files that one worker reads, one after the other.

    Attributes:
      paths: of the files.
      split: the one that all rows go to; None if each text's hash decides.
      number: from 0, among the portions of the same split.
      count: of these.
    """

    paths: tuple[str, ...]
    split: str | None
    number: int = 0
    count: int = 1


def plan(settings: DataSettings) -> list[Portion]:
    """Shares out the files; a file is never cut, since a cell may hold line ends.

    A split that is limited is read as one portion: its sample is of all the files.
    """
    limits = (settings.max_train_examples, settings.max_eval_examples)
    if settings.eval is None:
        return _portions(settings.train, None, limited=any(limits))
    return [
        *_portions(settings.train, "train", limited=limits[0] is not None),
        *_portions(settings.eval, "eval", limited=limits[1] is not None),
    ]


def _portions(
    paths: Sequence[str], split: str | None, *, limited: bool
) -> list[Portion]:
    groups = [tuple(paths)] if limited else list(_groups(paths))
    return [Portion(g, split, n, len(groups)) for n, g in enumerate(groups)]


def _groups(paths: Sequence[str]) -> Iterator[tuple[str, ...]]:
    group: list[str] = []
    size = 0
    for path in paths:
        bytes_of_file = _size(path)
        if group and size + bytes_of_file > MAX_BYTES:
            yield tuple(group)
            group, size = [], 0
        group.append(path)
        size += bytes_of_file
    yield tuple(group)


def _size(path: str) -> int:
    # A missing file is found out, and told of, by whoever reads it.
    return os.path.getsize(path) if os.path.exists(path) else 0
