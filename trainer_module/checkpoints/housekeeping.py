"""Removes checkpoints of trainings that were given up."""

import logging
import os
import time
from collections.abc import Callable

from trainer_module.checkpoints import files as file_systems
from trainer_module.checkpoints import folder as folders
from trainer_module.checkpoints.files import Files
from trainer_module.checkpoints.folder import HalfWritten
from trainer_module.checkpoints.state import Unusable

_DAY_SECONDS = 24 * 60 * 60
_log = logging.getLogger(__name__)


def remove_abandoned(
    root: str,
    *,
    keep: str,
    max_age_days: float = 7,
    tell: Callable[[str], None] = _log.warning,
    now: Callable[[], float] = time.time,
) -> list[str]:
    """Removes the checkpoints of other trainings that nobody wrote to for long.

    A folder right below `root` is a training's if a checkpoint in it can be read, or
    says itself that it is incomplete. What else lies there stays. Links are never
    followed.

    Args:
      root: the folder that holds one folder a training; a path or a URI.
      keep: the present training's folder, or its name.
      max_age_days: since the last write to anything in a training's folder.
      tell: takes a sentence for the user where something cannot be removed.
      now: seconds since 1970.

    Returns:
      The folders whose checkpoints were removed.
    """
    files = file_systems.at(root)
    kept = os.path.basename(keep.rstrip("/"))
    removed = []
    for folder in _others(files, root, kept, tell):
        try:
            if _is_abandoned(files, folder, now, max_age_days):
                _remove(files, folder)
                removed.append(folder)
        except OSError as error:
            tell(_cannot(folder, error))
    return removed


def _others(
    files: Files, root: str, kept: str, tell: Callable[[str], None]
) -> list[str]:
    try:
        names = files.names(root)
    except OSError as error:
        tell(_cannot(root, error))
        return []
    return [os.path.join(root, name) for name in names if name != kept]


def _cannot(folder: str, error: OSError) -> str:
    return (
        f"Old checkpoints in {folder} cannot be removed ({error.strerror or error}). "
        "They only take up room: remove those of other trainings by hand."
    )


def _is_abandoned(
    files: Files, folder: str, now: Callable[[], float], max_age_days: float
) -> bool:
    if files.is_link(folder) or not files.is_folder(folder):
        return False
    if not any(_is_checkpoint(files, path) for path in _checkpoints(files, folder)):
        return False
    written = _last_write(files, folder)
    # Zero where a file system does not know.
    return 0 < written < now() - max_age_days * _DAY_SECONDS


def _checkpoints(files: Files, folder: str) -> list[str]:
    """The folders that have a checkpoint's name."""
    paths = [os.path.join(folder, n) for n in files.names(folder) if folders.is_name(n)]
    return [p for p in paths if not files.is_link(p) and files.is_folder(p)]


def _is_checkpoint(files: Files, path: str) -> bool:
    try:
        folders.read_state(files, path)
    except HalfWritten:
        return folders.INCOMPLETE_FILE in files.names(path)
    except Unusable:
        return False
    return True


def _last_write(files: Files, folder: str) -> float:
    paths = [folder]
    for name in files.names(folder):
        path = os.path.join(folder, name)
        paths.append(path)
        if not files.is_link(path) and files.is_folder(path):
            paths.extend(os.path.join(path, inner) for inner in files.names(path))
    return max(files.modified(path) for path in paths)


def _remove(files: Files, folder: str) -> None:
    for path in _checkpoints(files, folder):
        folders.remove(files, path)
    if files.is_folder(folder) and not files.names(folder):
        files.remove(folder)
