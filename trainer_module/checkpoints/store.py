"""The checkpoints of one training: written in the background, read at the next start.

A training's folder holds `update-00001234/` for each of the newest checkpoints and
`best-00001200/` for the best one. A second checkpoint after the same update is
`update.2-00001234/`.
"""

import contextlib
import logging
import os
from collections.abc import Callable, Mapping
from concurrent import futures
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from trainer_module.checkpoints import files as file_systems
from trainer_module.checkpoints import folder as folders
from trainer_module.checkpoints import state
from trainer_module.checkpoints.files import Files
from trainer_module.checkpoints.folder import HalfWritten
from trainer_module.checkpoints.state import State, Unusable

Kind = Literal["update", "best"]

_DTYPES = frozenset(
    "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 "
    "float16 float32 float64 complex64".split()
)
_log = logging.getLogger(__name__)


class CheckpointError(Exception):
    """What was to be kept is not on the disk, or what is there cannot be listed."""


@dataclass(frozen=True)
class Saved:
    """A checkpoint that was read, undamaged; `arrays` is empty for an end state."""

    arrays: dict[str, np.ndarray]
    facts: dict[str, Any]
    name: str


@dataclass(frozen=True)
class _Job:
    """A checkpoint that is to be written."""

    kind: Kind
    update: int
    arrays: dict[str, np.ndarray]
    facts: dict[str, Any]

    @property
    def megabytes(self) -> int:
        return sum(array.nbytes for array in self.arrays.values()) // 1_000_000


class Store:
    """Keeps the newest checkpoints of a training and its best one.

    Used by one thread, and not from a signal's handler. Making one touches no file.

    Args:
      folder: of this training alone; a path or a URI such as gs://... It is made
        at the first save.
      keep: how many of the newest are kept.
      tell: takes sentences for the user; called by the writing thread too. Defaults
        to a warning of this module's logger.
      files: the file system. Defaults to that of `folder`.

    Raises:
      ValueError: if `keep` is below 1.
    """

    def __init__(
        self,
        folder: str,
        *,
        keep: int = 3,
        tell: Callable[[str], None] = _log.warning,
        files: Files | None = None,
    ):
        if keep < 1:
            raise ValueError(f"`keep` must be at least 1. Received: {keep}")
        self._folder = folder.rstrip("/")
        self._keep, self._tell = keep, tell
        self._files = files or file_systems.at(folder)
        self._thread = futures.ThreadPoolExecutor(1, thread_name_prefix="checkpoints")
        self._writing: futures.Future[None] | None = None
        self._failures: dict[Kind, str] = {}
        self._passed_over: set[str] = set()
        self._not_removed: set[str] = set()

    @property
    def folder(self) -> str:
        return self._folder

    def save(
        self, arrays: Mapping[str, np.ndarray], facts: Mapping, *, update: int
    ) -> None:
        """Hands a checkpoint over to the writing thread.

        Waits only for the one before, if that is still being written. A failure is
        told, and raised by `wait`; the next save tries again. Once it is complete,
        what is there of later updates is removed: see `_prune`.

        Args:
          arrays: copies that nobody writes to any more.
          facts: of JSON's types; tuples come back as lists.
          update: how many updates of the weights were done.

        Raises:
          TypeError: if an array or a fact is of a type that the files do not hold.
          ValueError: if `update` is negative, or the facts are too many.
        """
        self._hand_over(_job("update", arrays, facts, update))

    def save_best(
        self, arrays: Mapping[str, np.ndarray], facts: Mapping, *, update: int
    ) -> None:
        """Like `save`, for the best so far; once complete, it replaces the last one.

        Comes before the `save` after the same update: then no kill leaves facts that
        speak of a best one that is not there.
        """
        self._hand_over(_job("best", arrays, facts, update))

    def _hand_over(self, job: _Job) -> None:
        self._settle()
        self._writing = self._thread.submit(self._write, job)

    def _settle(self) -> None:
        """Waits until nothing is being written."""
        if self._writing is None:
            return
        futures.wait([self._writing])  # Interrupted here, the next call waits again.
        writing, self._writing = self._writing, None
        writing.result()

    def wait(self) -> None:
        """Waits until all is written.

        Raises:
          CheckpointError: if the newest checkpoint or the best one could not be
            written, and no later one of its kind was.
        """
        self._settle()
        for sentence in self._failures.values():
            raise CheckpointError(sentence)

    def newest(self) -> Saved | None:
        """The newest checkpoint that is complete and undamaged; None without one.

        Each damaged one that is passed over is told.

        Raises:
          CheckpointError: if the training's folder is there and cannot be listed.
        """
        return self._first_usable("update")

    def best(self) -> Saved | None:
        """The best checkpoint, if it is complete and undamaged; see `newest`."""
        return self._first_usable("best")

    def finish(self) -> None:
        """Leaves what a finished training needs to be exported again.

        That is the best checkpoint, and the newest one's facts: `newest` then gives
        no arrays. Without a usable best one the newest keeps its arrays.

        Raises:
          CheckpointError: if something is not on the disk; nothing is removed then.
        """
        self.wait()
        newest, best = self._first_state("update"), self._first_state("best")
        if newest is None:
            return
        kept = {newest.name}
        if best is not None:
            kept = {best.name, self._end_state(newest)}
        for other in [*self._listed("update"), *self._listed("best")]:
            if other not in kept:
                self._remove(other)

    def _end_state(self, newest: State) -> str:
        """Writes the newest checkpoint's facts alone, and gives their name."""
        if newest.arrays is None:
            return newest.name
        name = self._free_name("update", folders.number(newest.name)[0])
        try:
            folders.write(self._files, self._path(name), None, newest.facts)
        except OSError as error:
            self._remove_remains(name)
            raise CheckpointError(
                f"The end of the training could not be noted in {self._folder} "
                f"({_reason(error)}). {_WAY_OUT}"
            ) from error
        return name

    def close(self) -> None:
        """Ends the writing thread when it is through; `wait` is what raises."""
        self._thread.shutdown()

    # The writing thread.

    def _write(self, job: _Job) -> None:
        name = None
        try:
            self._clean_up()
            name = self._free_name(job.kind, job.update)
            folders.write(self._files, self._path(name), job.arrays, job.facts)
        except Exception as error:  # A library's own too: the training goes on.
            _log.info("A checkpoint was not written.", exc_info=error)
            self._remove_remains(name)
            self._failed(job, error)
            return
        self._passed_over.discard(name)  # What had its name before is gone.
        if self._failures.pop(job.kind, None) and not self._failures:
            self._tell(f"Checkpoints can be written again: {self._path(name)} is.")
        self._prune(job.kind, name)

    def _clean_up(self) -> None:
        """Removes what a kill left behind in the middle of a write or a removal."""
        for name in self._all_names():
            if folders.is_half_written(self._files, self._path(name)):
                self._remove(name)

    def _remove_remains(self, name: str | None) -> None:
        if name is not None:
            with contextlib.suppress(Exception):  # The next write cleans up again.
                folders.remove(self._files, self._path(name))

    def _failed(self, job: _Job, error: Exception) -> None:
        free = None
        with contextlib.suppress(OSError):
            free = self._files.free_bytes(self._folder)
        room = f", {free // 1_000_000} MB are free" if free is not None else ""
        what = "checkpoint" if job.kind == "update" else "best checkpoint so far"
        sentence = (
            f"The {what}, after update {job.update}, could not be written to "
            f"{self._folder} ({_reason(error)}; it takes {job.megabytes} MB{room}). "
            f"{_WAY_OUT}"
        )
        first = not self._failures
        self._failures[job.kind] = sentence
        if first:
            self._tell(
                f"{sentence} The training goes on, and the next checkpoint is tried "
                "again; if it is stopped before, what was learned since the last "
                "checkpoint is lost."
            )

    def _prune(self, kind: Kind, name: str) -> None:
        """Removes what the checkpoint just written makes superfluous.

        One with a higher number was passed over when the training went on from an
        older one: going on from it later would mix two courses.
        """
        try:
            others = [other for other in self._names(kind) if other != name]
        except OSError as error:
            self._tell(f"{self._folder} cannot be listed ({_reason(error)}).")
            return
        older = [
            other
            for other in others
            if folders.number(other) < folders.number(name)
            and other not in self._passed_over
        ]
        kept = older[max(len(older) - self._keep + 1, 0) :] if kind == "update" else []
        for other in others:
            if other not in kept:
                self._remove(other)

    def _remove(self, name: str) -> None:
        try:
            folders.remove(self._files, self._path(name))
        except OSError as error:
            if name not in self._not_removed:
                self._not_removed.add(name)
                self._tell(
                    f"The old checkpoint {self._path(name)} cannot be removed "
                    f"({_reason(error)}). It is not needed: remove it by hand."
                )

    # Names and reading.

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, name)

    def _all_names(self) -> list[str]:
        return [n for n in self._files.names(self._folder) if folders.is_name(n)]

    def _names(self, kind: Kind) -> list[str]:
        """The checkpoints of a kind, oldest first."""
        names = [n for n in self._all_names() if n.startswith(kind)]
        return sorted(names, key=folders.number)

    def _listed(self, kind: Kind) -> list[str]:
        try:
            return self._names(kind)
        except OSError as error:
            raise CheckpointError(
                f"The checkpoints in {self._folder} cannot be listed "
                f"({_reason(error)}). {_WAY_OUT}"
            ) from error

    def _free_name(self, kind: Kind, update: int) -> str:
        """A name for a checkpoint after an update that sorts behind those there are."""
        numbers = [folders.number(name) for name in self._names(kind)]
        taken = [which for other, which in numbers if other == update]
        return folders.name_of(kind, (update, max(taken, default=0) + 1))

    def _first_usable(self, kind: Kind) -> Saved | None:
        """Reads the newest checkpoint of a kind that can be read."""
        saved: list[Saved] = []

        def read(path: str, found: State) -> None:
            arrays = {}
            if found.arrays is not None:
                arrays = folders.read_arrays(self._files, path, found.arrays)
            saved.append(Saved(arrays=arrays, facts=found.facts, name=found.name))

        self._first(kind, read)
        return saved[0] if saved else None

    def _first_state(self, kind: Kind) -> State | None:
        """Like `_first_usable`, without loading the arrays."""

        def check(path: str, found: State) -> None:
            if found.arrays is not None:
                folders.check_arrays(self._files, path, found.arrays)

        return self._first(kind, check)

    def _first(self, kind: Kind, use: Callable[[str, State], None]) -> State | None:
        """Tries `use` on the newest checkpoint, then on the one before, and so on."""
        self._settle()
        problems: list[str] = []
        found = None
        for name in reversed(self._listed(kind)):
            try:
                candidate = folders.read_state(self._files, self._path(name))
                use(self._path(name), candidate)
            except HalfWritten:
                continue
            except Unusable as problem:
                self._passed_over.add(name)
                problems.append(f"The checkpoint {self._path(name)} {problem}")
                continue
            found = candidate
            break
        for problem_told in problems:
            self._tell(f"{problem_told}; {_instead(kind, found)}.")
        return found


_WAY_OUT = (
    "Make room or give this user the right to write there, or keep all of a run "
    "elsewhere with `--set runner.root=FOLDER`."
)


def _instead(kind: Kind, found: State | None) -> str:
    if found is not None:
        return f"the one before, {found.name}, is used"
    if kind == "best":
        return "there is no other best one"
    return "none before it is left, so the training starts from its beginning"


def _job(kind: Kind, arrays: Mapping, facts: Mapping, update: int) -> _Job:
    """Checks here, in the caller's thread, what would be the caller's mistake."""
    if update < 0:
        raise ValueError(f"`update` must be at least 0. Received: {update}")
    copied = {}
    for name, array in arrays.items():
        # The library writes the memory as it lies: a transposed view would be garbled.
        copied[name] = np.asarray(array, order="C")
        if copied[name].dtype.name not in _DTYPES or name == "__metadata__":
            raise TypeError(
                f"`arrays[{name!r}]` cannot be kept: its type is "
                f"{copied[name].dtype.name}. Allowed: {sorted(_DTYPES)}, and any name "
                "but __metadata__"
            )
    return _Job(kind=kind, update=update, arrays=copied, facts=state.frozen(facts))


def _reason(error: Exception) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)
