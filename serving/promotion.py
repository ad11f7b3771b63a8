"""Publishes a SavedModel as the next version of a TensorFlow Serving model.

Vocabulary: `base_dir` is the folder that the server watches; each folder in it whose
name is a number is a version, and the server loads the highest. All else in there is
ours and has a name that the server skips:

  .incoming-<n>      a copy in progress, or what a killed publisher left of one
  .highest_version   the highest number ever published, deleted folders included
  .publish.lock      held while publishing; the system frees it when the holder dies

Pure: paths in, a version out. No TensorFlow, no TFX.
"""

import contextlib
import dataclasses
import errno
import fcntl
import hashlib
import io
import os
import re
import shutil
import time
from collections.abc import Collection, Iterator, Mapping
from typing import BinaryIO, TextIO

SAVED_MODEL_FILE = "saved_model.pb"
EXTRA_DIR = "assets.extra"  # Of a SavedModel, for whatever its owner wants there.
HIGHEST_VERSION_FILE = ".highest_version"
LOCK_FILE = ".publish.lock"
STAGING_PREFIX = ".incoming-"

_CHUNK_BYTES = 1 << 20
_MAX_VERSION = 2**63 - 1  # The server reads versions as int64, and skips the rest.
_SECONDS_BETWEEN_TRIES = 0.05
# EFBIG is a limit on file sizes (`ulimit -f`): to a copy it is one more full disk.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_REFUSED = (
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.ENOTDIR,
    errno.EEXIST,
    errno.EISDIR,
    errno.ELOOP,
    errno.ENAMETOOLONG,
)


class PromotionError(RuntimeError):
    """Base class: nothing was published, and no version folder was left behind."""


class NotASavedModel(PromotionError):
    """What was to be published is no model. Retrying cannot change it."""


class DestinationTrouble(PromotionError):
    """The place to publish in needs someone's hand; after that, a retry works."""


class DestinationNotWritable(DestinationTrouble):
    """`base_dir` cannot be made, or nothing can be written in it."""


class NoSpaceLeft(DestinationTrouble):
    """The copy does not fit: a full disk, a quota, or a limit on file sizes."""


class PublisherBusy(DestinationTrouble):
    """Another publisher held the lock for the whole time we waited."""


class RecordDamaged(DestinationTrouble):
    """`.highest_version` holds no number, so a safe next version is unknown."""


@dataclasses.dataclass(frozen=True)
class Publication:
    """Where a model stands now.

    Attributes:
      version: the folder in `base_dir` that holds the model.
      created: False if the newest version already had exactly this content.
    """

    version: int
    created: bool


def versions(base_dir: str) -> list[int]:
    """The published versions, rising; none if `base_dir` does not exist."""
    return [n for n in _numbers(base_dir) if os.path.isdir(_path(base_dir, n))]


def publish(
    saved_model_dir: str,
    base_dir: str,
    *,
    extra_files: Mapping[str, bytes] | None = None,
    notes: Mapping[str, bytes] | None = None,
    lock_timeout_seconds: float = 600.0,
) -> Publication:
    """Publishes a SavedModel as the next version, all or nothing.

    A version never changes, and all its files but the notes count: the same model with
    other extra files is another version, and with other notes it is the same.

    Args:
      saved_model_dir: folder with saved_model.pb.
      base_dir: folder that the server watches, on a mounted file system; is made if
        it does not exist.
      extra_files: relative path, with "/", below `EXTRA_DIR` -> content. They come
        with the model in one step, in the place of files that it has there itself.
      notes: as `extra_files`, of who made the model and when.
      lock_timeout_seconds: how long to wait while another process publishes.

    Raises:
      ValueError: if one of `extra_files` or `notes` is not below `EXTRA_DIR`.
      NotASavedModel, DestinationNotWritable, NoSpaceLeft, PublisherBusy,
      RecordDamaged: nothing was published.
    """
    extra = _checked_extra_files(extra_files or {})
    noted = _checked_extra_files(notes or {})
    _check_saved_model(saved_model_dir)
    _make_base_dir(base_dir)
    with _locked(base_dir, timeout_seconds=lock_timeout_seconds):
        # Whoever staged these is dead: it could only stage while holding the lock.
        _remove_staging_folders(base_dir)
        published = versions(base_dir)
        if published and _same_content(
            saved_model_dir, extra, _path(base_dir, published[-1]), noted
        ):
            return Publication(published[-1], created=False)
        version = _next_version(base_dir)
        staging = os.path.join(base_dir, f"{STAGING_PREFIX}{version}")
        try:
            _copy(saved_model_dir, staging, base_dir, {**extra, **noted})
            # Before the rename: a number may be skipped, never given twice.
            _record_highest(base_dir, version)
            os.rename(staging, _path(base_dir, version))
        except BaseException:  # Ctrl-C too must leave nothing.
            shutil.rmtree(staging, ignore_errors=True)
            raise
        _fsync(base_dir)
        return Publication(version, created=True)


def content_digest(
    folder: str,
    extra_files: Mapping[str, bytes] | None = None,
    without: Collection[str] = (),
) -> str:
    """SHA-256 over the relative paths and the bytes of all files below `folder`.

    Args:
      folder: may be read-only.
      extra_files: relative path -> content, as if `folder` had these files.
      without: relative paths, as if `folder` did not have these.
    """
    digest, extra = hashlib.sha256(), extra_files or {}
    for relative, size in _files(folder, extra, without).items():
        # The size closes the name, so that no two trees give the same stream.
        digest.update(f"{relative}\0{size}\0".encode("utf-8", "surrogateescape"))
        if relative in extra:
            digest.update(extra[relative])
            continue
        with open(os.path.join(folder, relative), "rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                digest.update(chunk)
    return digest.hexdigest()


def _checked_extra_files(extra_files: Mapping[str, bytes]) -> dict[str, bytes]:
    checked = {os.path.normpath(path): data for path, data in extra_files.items()}
    outside = sorted(p for p in checked if not p.startswith(EXTRA_DIR + os.sep))
    if outside:
        raise ValueError(
            f"`extra_files` must lie below {EXTRA_DIR}/, which the server leaves "
            f"alone. Received: {outside}."
        )
    return checked


def _check_saved_model(saved_model_dir: str) -> None:
    if os.path.isfile(os.path.join(saved_model_dir, SAVED_MODEL_FILE)):
        return
    if os.path.isdir(saved_model_dir):
        found = f"It holds {sorted(os.listdir(saved_model_dir))[:10]}."
    else:
        found = "There is no such folder."
    raise NotASavedModel(
        f"`saved_model_dir` must be a folder with {SAVED_MODEL_FILE}. "
        f"Received: {saved_model_dir!r}. {found} In a model artifact of the pipeline "
        "the SavedModel is the folder Format-Serving."
    )


def _make_base_dir(base_dir: str) -> None:
    if "://" in base_dir:
        raise DestinationNotWritable(
            "`base_dir` must be a folder of a mounted file system: only there can a "
            f"version appear all at once. Received: {base_dir!r}. Mount the bucket, "
            "or publish to a disk that the servers share."
        )
    with _reporting(base_dir):
        os.makedirs(base_dir, exist_ok=True)


@contextlib.contextmanager
def _reporting(base_dir: str, needed_bytes: int | None = None) -> Iterator[None]:
    """Turns the system's refusals to write in `base_dir` into our errors."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise _no_space(base_dir, needed_bytes, os.strerror(error.errno)) from error
        if error.errno in _REFUSED:
            raise DestinationNotWritable(
                "`base_dir` must be a folder in which this user may write. "
                f"Received: {base_dir!r}: {os.strerror(error.errno)} "
                f"({error.filename!r}, user {os.getuid()}). Correct the path or its "
                "permissions, then publish again."
            ) from error
        raise


def _no_space(base_dir: str, needed_bytes: int | None, reason: str) -> NoSpaceLeft:
    free = _megabytes(shutil.disk_usage(base_dir).free)
    needed = "" if needed_bytes is None else f"{_megabytes(needed_bytes)} needed, "
    return NoSpaceLeft(
        f"The model does not fit into `base_dir` {base_dir!r}: {reason} "
        f"({needed}{free} free). Nothing was published, and what was served before is "
        "untouched. Delete old versions or use another disk, then publish again; if "
        "there are enough bytes, look at the quota (`quota`), the file size limit "
        "(`ulimit -f`) and the inodes (`df -i`)."
    )


def _megabytes(count_bytes: int) -> str:
    return f"{count_bytes / 1e6:,.1f} MB"


@contextlib.contextmanager
def _locked(base_dir: str, *, timeout_seconds: float) -> Iterator[None]:
    path = os.path.join(base_dir, LOCK_FILE)
    # The file stays for ever: a lock on a file that another process unlinked and
    # made anew would exclude nobody.
    with _reporting(base_dir):
        lock = open(path, "a+", encoding="ascii")
    with lock:
        _wait_for(lock, path, timeout_seconds)
        with _reporting(base_dir):
            lock.truncate(0)
            lock.write(str(os.getpid()))
            lock.flush()
        yield


def _wait_for(lock: TextIO, path: str, timeout_seconds: float) -> None:
    deadline = time.monotonic() + timeout_seconds
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= deadline:
                lock.seek(0)
                raise PublisherBusy(
                    f"Another process (id {lock.read() or 'unknown'}) has been "
                    f"publishing for {timeout_seconds:g} seconds. It holds {path!r}. "
                    "Wait until it ends, or end it; the lock then frees itself."
                ) from None
            time.sleep(_SECONDS_BETWEEN_TRIES)


def _remove_staging_folders(base_dir: str) -> None:
    with _reporting(base_dir):
        for name in os.listdir(base_dir):
            if name.startswith(STAGING_PREFIX):
                shutil.rmtree(os.path.join(base_dir, name))


def _numbers(base_dir: str) -> list[int]:
    """All names in `base_dir` that are numbers, also of what is no folder."""
    if not os.path.isdir(base_dir):
        return []
    names = (name for name in os.listdir(base_dir) if re.fullmatch("[0-9]+", name))
    return sorted({n for n in map(int, names) if n <= _MAX_VERSION})


def _next_version(base_dir: str) -> int:
    return max([*_numbers(base_dir), _read_highest(base_dir)]) + 1


def _read_highest(base_dir: str) -> int:
    path = os.path.join(base_dir, HIGHEST_VERSION_FILE)
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            text = file.read().strip()
    except FileNotFoundError:
        return 0
    if not re.fullmatch("[0-9]+", text):
        raise RecordDamaged(
            f"{path!r} must hold the highest version ever published. Received: "
            f"{text[:40]!r}. Write that number into it; if you are not sure, a number "
            "that is surely higher does no harm."
        )
    return int(text)


def _record_highest(base_dir: str, version: int) -> None:
    path = os.path.join(base_dir, HIGHEST_VERSION_FILE)
    with _reporting(base_dir):
        with open(path + ".new", "w", encoding="ascii") as file:
            file.write(f"{version}\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(path + ".new", path)
        _fsync(base_dir)


def _same_content(
    model: str, extra: Mapping[str, bytes], version: str, notes: Collection[str]
) -> bool:
    # Names and sizes cost nothing; most different models already differ there.
    return _files(model, extra, notes) == _files(version, {}, notes) and (
        content_digest(model, extra, notes) == content_digest(version, {}, notes)
    )


def _files(
    folder: str,
    extra: Mapping[str, bytes] | None = None,
    without: Collection[str] = (),
) -> dict[str, int]:
    """Relative path -> size in bytes of all files, sorted by path."""
    sizes = {}
    for directory, _, names in os.walk(folder, followlinks=True):
        for name in names:
            path = os.path.join(directory, name)
            sizes[os.path.relpath(path, folder)] = os.path.getsize(path)
    sizes.update({path: len(content) for path, content in (extra or {}).items()})
    return {path: sizes[path] for path in sorted(set(sizes) - set(without))}


def _copy(source: str, target: str, base_dir: str, extra: Mapping[str, bytes]) -> None:
    """Copies a tree, durably: what it wrote survives a power cut."""
    needed_bytes = sum(_files(source, extra).values())
    if needed_bytes > shutil.disk_usage(base_dir).free:
        raise _no_space(base_dir, needed_bytes, "not enough free space")
    # Not shutil.copytree: it goes on after a full disk, and loses the errno.
    for directory, _, names in os.walk(source, followlinks=True):
        copy = os.path.normpath(
            os.path.join(target, os.path.relpath(directory, source))
        )
        with _reporting(base_dir, needed_bytes):
            os.mkdir(copy)
        for name in names:
            # Opened here, so that an unreadable model is not blamed on `base_dir`.
            with (
                open(os.path.join(directory, name), "rb") as reader,
                _reporting(base_dir, needed_bytes),
            ):
                _write(reader, os.path.join(copy, name))
        with _reporting(base_dir, needed_bytes):
            _fsync(copy)
    for relative, content in extra.items():
        path = os.path.join(target, relative)
        with _reporting(base_dir, needed_bytes):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            _write(io.BytesIO(content), path)
            _fsync(os.path.dirname(path))
    with _reporting(base_dir, needed_bytes):
        _fsync(target)


def _write(reader: BinaryIO, target: str) -> None:
    with open(target, "wb") as writer:
        shutil.copyfileobj(reader, writer, _CHUNK_BYTES)
        writer.flush()
        os.fsync(writer.fileno())


def _fsync(directory: str) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _path(base_dir: str, version: int) -> str:
    return os.path.join(base_dir, str(version))
