"""The few file operations that checkpoints need, on this machine and in a bucket.

Errors are OSError in both. What `write` and `new_file` wrote is on the disk, and not
only in the system's memory, once they and `settle` of the folder are through.
"""

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any, Protocol

_BLOCK_BYTES = 1 << 20


class Files(Protocol):
    """What `LocalFiles` and `RemoteFiles` do."""

    def names(self, folder: str) -> list[str]:
        """The sorted names in a folder; none if it is not there.

        Raises:
          NotADirectoryError: if it is a file.
        """

    def is_link(self, path: str) -> bool: ...

    def is_folder(self, path: str) -> bool: ...

    def modified(self, path: str) -> float:
        """Seconds since 1970 of the last write."""

    def free_bytes(self, folder: str) -> int | None:
        """The room that is left there; None where there is no such bound."""

    def make(self, folder: str) -> None:
        """Makes a folder with its parents, if it is not there."""

    def read(self, path: str, *, most_bytes: int) -> bytes:
        """A file's content, cut off after `most_bytes`."""

    def write(self, path: str, content: bytes) -> None: ...

    def new_file(self, path: str) -> AbstractContextManager[str]:
        """A path of this machine to write to, which becomes `path` at the end."""

    def local_copy(self, path: str) -> AbstractContextManager[str]:
        """A path of this machine to read from, until the end."""

    def settle(self, folder: str) -> None:
        """Makes the names in a folder survive a power cut."""

    def remove(self, path: str) -> None:
        """Removes a file, a link, or a folder with all in it."""


def at(folder: str) -> Files:
    """The files of this machine, or those of a bucket such as gs://..."""
    return RemoteFiles() if "://" in folder else LocalFiles()


class LocalFiles:
    """Files of this machine."""

    def names(self, folder: str) -> list[str]:
        try:
            return sorted(os.listdir(folder))
        except FileNotFoundError:
            return []

    def is_link(self, path: str) -> bool:
        return os.path.islink(path)

    def is_folder(self, path: str) -> bool:
        return os.path.isdir(path)

    def modified(self, path: str) -> float:
        return os.lstat(path).st_mtime

    def free_bytes(self, folder: str) -> int | None:
        while not os.path.isdir(folder):
            folder = os.path.dirname(folder) or os.curdir
        return shutil.disk_usage(folder).free

    def make(self, folder: str) -> None:
        if os.path.isdir(folder):
            return
        parent = os.path.dirname(os.path.abspath(folder))
        self.make(parent)
        os.mkdir(folder)
        self.settle(parent)

    def read(self, path: str, *, most_bytes: int) -> bytes:
        with open(path, "rb") as f:
            return f.read(most_bytes)

    def write(self, path: str, content: bytes) -> None:
        with open(path, "wb") as f:
            f.write(content)
            f.flush()
            os.fsync(f.fileno())

    @contextlib.contextmanager
    def new_file(self, path: str) -> Iterator[str]:
        with open(path, "wb") as f:
            mode = os.fstat(f.fileno()).st_mode
        yield path
        # A library that puts a file of its own in place makes it for its owner only.
        os.chmod(path, mode & 0o7777)
        _fsync(path)

    @contextlib.contextmanager
    def local_copy(self, path: str) -> Iterator[str]:
        yield path

    def settle(self, folder: str) -> None:
        try:
            _fsync(folder)
        except OSError as error:  # Some network file systems have no such operation.
            if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS):
                raise

    def remove(self, path: str) -> None:
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.remove(path)


def _fsync(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class RemoteFiles:
    """Files of any system that TensorFlow reaches, such as gs://.

    A file appears there whole, when it is closed; folders are only parts of names.
    """

    def names(self, folder: str) -> list[str]:
        import tensorflow as tf

        with _os_errors():
            try:
                names = tf.io.gfile.listdir(folder)
            except tf.errors.NotFoundError:
                if tf.io.gfile.exists(folder) and not tf.io.gfile.isdir(folder):
                    raise NotADirectoryError(f"{folder} is a file") from None
                return []
        # A bucket's folders end in a slash, and may hold an entry for themselves.
        return sorted(filter(None, (name.rstrip("/") for name in names)))

    def is_link(self, path: str) -> bool:
        return False

    def is_folder(self, path: str) -> bool:
        with _os_errors():
            return bool(_gfile().isdir(path))

    def modified(self, path: str) -> float:
        with _os_errors():
            return _gfile().stat(path).mtime_nsec / 1e9

    def free_bytes(self, folder: str) -> int | None:
        return None

    def make(self, folder: str) -> None:
        with _os_errors():
            _gfile().makedirs(folder)

    def read(self, path: str, *, most_bytes: int) -> bytes:
        with _os_errors(), _gfile().GFile(path, "rb") as f:
            return f.read(most_bytes)

    def write(self, path: str, content: bytes) -> None:
        with _os_errors(), _gfile().GFile(path, "wb") as f:
            f.write(content)

    @contextlib.contextmanager
    def new_file(self, path: str) -> Iterator[str]:
        with tempfile.TemporaryDirectory(prefix="texttune-") as folder:
            local = os.path.join(folder, "file")
            yield local
            with open(local, "rb") as source, _os_errors():
                with _gfile().GFile(path, "wb") as target:
                    shutil.copyfileobj(source, target, _BLOCK_BYTES)

    @contextlib.contextmanager
    def local_copy(self, path: str) -> Iterator[str]:
        with tempfile.TemporaryDirectory(prefix="texttune-") as folder:
            local = os.path.join(folder, "file")
            with open(local, "wb") as target, _os_errors():
                with _gfile().GFile(path, "rb") as source:
                    shutil.copyfileobj(source, target, _BLOCK_BYTES)
            yield local

    def settle(self, folder: str) -> None:
        pass

    def remove(self, path: str) -> None:
        with _os_errors():
            if _gfile().isdir(path):
                _gfile().rmtree(path)
            else:
                _gfile().remove(path)


def _gfile() -> Any:
    import tensorflow as tf

    return tf.io.gfile


@contextlib.contextmanager
def _os_errors() -> Iterator[None]:
    """Turns TensorFlow's errors into those of the system."""
    import tensorflow as tf

    try:
        yield
    except tf.errors.NotFoundError as error:
        raise FileNotFoundError(error.message) from error
    except tf.errors.PermissionDeniedError as error:
        raise PermissionError(error.message) from error
    except tf.errors.OpError as error:
        raise OSError(error.message) from error
