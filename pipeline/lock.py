"""One run at a time for a pipeline root."""

import fcntl
import os


class Held(Exception):
    """Another process holds the lock. `str()` is for the user."""


class RootLock:
    """A lock that the operating system gives back when its holder dies.

    `fileno` can be handed to a child process, which then holds it too.
    """

    def __init__(self, root: str):
        self._path = os.path.join(root, ".lock")
        self._fd: int | None = None

    def acquire(self, *, wait: bool = False) -> None:
        """Takes the lock, or waits for it.

        Raises:
          Held: if another process has it and `wait` is false.
          OSError: if the file of the lock cannot be made.
        """
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            holder = os.pread(fd, 32, 0).decode("ascii", "replace").strip()
            os.close(fd)
            root = os.path.dirname(self._path)
            raise Held(
                f"Another run (pid {holder or 'unknown'}) is using {root}. Wait for "
                "it, pass --wait, or choose another folder with --root."
            ) from None
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()}\n".encode("ascii"), 0)
        self._fd = fd

    @property
    def fileno(self) -> int:
        if self._fd is None:
            raise RuntimeError("The lock is not held.")
        return self._fd

    def release(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
