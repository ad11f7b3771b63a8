"""Files that are written whole or not at all. Pure."""

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator


def write(path: str, text: str, *, errors: str = "strict") -> None:
    """Writes a text as UTF-8; if that fails, what was there before stays as it was.

    Args:
      path: a link stays one, and what it leads to is written; a device or a pipe is
        written to, as it cannot be replaced.
      text: of the file.
      errors: what becomes of what UTF-8 does not have, as `str.encode` takes it.

    Raises:
      OSError: if the place does not take it.
    """
    content = text.encode("utf-8", errors)
    path = os.path.realpath(path)
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:
            file.write(content)
        return
    with _part_of(path) as part, open(part, "wb") as file:
        file.write(content)


def copy(source: str, path: str) -> None:
    """Copies a file.

    Raises:
      OSError: if it cannot be read, or the place does not take it.
    """
    with _part_of(path) as part:
        shutil.copyfile(source, part)


@contextlib.contextmanager
def _part_of(path: str) -> Iterator[str]:
    """Yields the name of the file that becomes `path` if nothing goes wrong."""
    part = f"{path}.incomplete"
    try:
        yield part
        os.replace(part, path)
    except BaseException:  # An interrupt leaves no part behind either.
        with contextlib.suppress(OSError):
            os.remove(part)
        raise
