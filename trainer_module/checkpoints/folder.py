"""One checkpoint: a folder with arrays.safetensors and state.json.

While a folder is written or removed it holds a file `incomplete`, which tells what a
kill left behind from what was damaged later. No step needs a rename that is atomic,
which a bucket does not have.
"""

import contextlib
import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import safetensors.numpy
from safetensors import SafetensorError

from trainer_module.checkpoints import state
from trainer_module.checkpoints.files import Files
from trainer_module.checkpoints.state import ArraysFile, State, Unusable

ARRAYS_FILE = "arrays.safetensors"
STATE_FILE = "state.json"
INCOMPLETE_FILE = "incomplete"

_BLOCK_BYTES = 1 << 20
# No name is the beginning of another: some stores list by the beginning.
_NAME = re.compile(r"(update|best)(?:\.(\d+))?-(\d{8,})", re.ASCII)


def is_name(name: str) -> bool:
    """Tells whether this could be a checkpoint's name."""
    return _NAME.fullmatch(name) is not None


def name_of(kind: str, number: tuple[int, int]) -> str:
    """The name for an update, and for which one after that update it is."""
    update, which = number
    return f"{kind}{f'.{which}' if which > 1 else ''}-{update:08d}"


def number(name: str) -> tuple[int, int]:
    """Reads back the numbers that `name_of` was given."""
    match = _NAME.fullmatch(name)
    assert match
    return int(match[3]), int(match[2] or 1)


class HalfWritten(Exception):
    """The folder of a checkpoint whose writing or removal was cut short."""


def write(
    files: Files,
    folder: str,
    arrays: Mapping[str, np.ndarray] | None,
    facts: Mapping[str, Any],
) -> None:
    """Writes a checkpoint into a folder that does not exist yet.

    Args:
      files: where.
      folder: its path; the last part is the checkpoint's name.
      arrays: each contiguous; None for a checkpoint of facts only.
      facts: of JSON's types.

    Raises:
      OSError: if there is no room or no right to.
    """
    name = os.path.basename(folder)
    marker = os.path.join(folder, INCOMPLETE_FILE)
    files.make(folder)
    files.write(marker, b"")
    held = None if arrays is None else _write_arrays(files, folder, arrays)
    content = state.encode(State(name=name, facts=dict(facts), arrays=held))
    files.write(os.path.join(folder, STATE_FILE), content)
    files.settle(folder)
    files.settle(os.path.dirname(folder))
    files.remove(marker)


def _write_arrays(
    files: Files, folder: str, arrays: Mapping[str, np.ndarray]
) -> ArraysFile:
    with files.new_file(os.path.join(folder, ARRAYS_FILE)) as path:
        try:
            safetensors.numpy.save_file(dict(arrays), path)
        except SafetensorError as error:  # The library's name for a full disk, too.
            raise OSError(str(error)) from error
        return _measure(path)


def _measure(path: str) -> ArraysFile:
    digest = hashlib.sha256()
    size_bytes = 0
    with open(path, "rb") as f:
        while block := f.read(_BLOCK_BYTES):
            digest.update(block)
            size_bytes += len(block)
    return ArraysFile(size_bytes=size_bytes, sha256=digest.hexdigest())


def read_state(files: Files, folder: str) -> State:
    """Reads a checkpoint's state.json.

    Raises:
      HalfWritten: if it was never complete, or is partly removed.
      Unusable: if it is damaged, or cannot be read.
    """
    try:
        names = files.names(folder)
    except NotADirectoryError:
        raise Unusable("is damaged (it is a file, not a folder)") from None
    except OSError as error:
        raise _unreadable(error) from error
    if not names:
        raise HalfWritten
    try:
        if STATE_FILE not in names:
            raise Unusable(f"is damaged (it lacks {STATE_FILE})")
        return _decoded(files, folder)
    except Unusable:
        if INCOMPLETE_FILE in names:
            raise HalfWritten from None
        raise


def _decoded(files: Files, folder: str) -> State:
    path = os.path.join(folder, STATE_FILE)
    try:
        content = files.read(path, most_bytes=state.MOST_BYTES + 1)
    except OSError as error:
        raise _unreadable(error) from error
    if len(content) > state.MOST_BYTES:
        raise Unusable(
            f"is damaged (its {STATE_FILE} is over {state.MOST_BYTES} bytes)"
        )
    return state.decode(content, name=os.path.basename(folder))


def read_arrays(
    files: Files, folder: str, expected: ArraysFile
) -> dict[str, np.ndarray]:
    """Reads a checkpoint's arrays, names and shapes as they are.

    Raises:
      Unusable: if they are damaged, or cannot be read.
    """
    with _checked_arrays(files, folder, expected) as path:
        try:
            return safetensors.numpy.load_file(path)
        except (SafetensorError, KeyError) as error:
            raise Unusable(f"is damaged ({ARRAYS_FILE}: {error})") from error


def check_arrays(files: Files, folder: str, expected: ArraysFile) -> None:
    """Raises Unusable if a checkpoint's arrays are not those that were written."""
    with _checked_arrays(files, folder, expected):
        pass


@contextlib.contextmanager
def _checked_arrays(files: Files, folder: str, expected: ArraysFile) -> Iterator[str]:
    try:
        with files.local_copy(os.path.join(folder, ARRAYS_FILE)) as path:
            found = _measure(path)
            if found.size_bytes != expected.size_bytes:
                raise Unusable(
                    f"is damaged ({ARRAYS_FILE} has {found.size_bytes} bytes of "
                    f"{expected.size_bytes})"
                )
            if found.sha256 != expected.sha256:
                raise Unusable(
                    f"is damaged (the checksum of {ARRAYS_FILE} does not match)"
                )
            yield path
    except FileNotFoundError:
        raise Unusable(f"is damaged (it lacks {ARRAYS_FILE})") from None
    except OSError as error:
        raise _unreadable(error) from error


def _unreadable(error: OSError) -> Unusable:
    return Unusable(f"cannot be read ({error.strerror or error})")


def is_half_written(files: Files, folder: str) -> bool:
    """Tells whether a kill left this folder behind."""
    try:
        read_state(files, folder)
    except HalfWritten:
        return True
    except Unusable:
        pass
    return False


def remove(files: Files, folder: str) -> None:
    """Removes a checkpoint; cut short, it leaves one that is half written."""
    if files.is_link(folder) or not files.is_folder(folder):
        files.remove(folder)
        return
    marker = os.path.join(folder, INCOMPLETE_FILE)
    with contextlib.suppress(OSError):  # On a full disk there may be no room for it.
        files.write(marker, b"")
    order = {STATE_FILE: 0, INCOMPLETE_FILE: 2}
    for name in sorted(files.names(folder), key=lambda name: order.get(name, 1)):
        files.remove(os.path.join(folder, name))
    if files.is_folder(folder):
        files.remove(folder)
