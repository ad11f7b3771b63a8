"""A data file as bytes, and the refusal of what only looks like one. Pure."""

import contextlib
import difflib
import gzip
import hashlib
import io
import os
import shlex
import zlib
from collections.abc import Iterator

from trainer_module.progress import DataRefused

_HEAD_BYTES = 4096
_GZIP_MAGIC = b"\x1f\x8b"

# What often lies under a data file's name: (first bytes, what it is, the way out).
_IMPOSTORS = (
    (
        b"PK\x03\x04",
        "a zip archive (an Excel workbook is one too)",
        "Unpack it, or save the sheet as 'CSV UTF-8'.",
    ),
    (
        b"\xd0\xcf\x11\xe0",
        "an old Office file (.xls or .doc)",
        "Save the sheet as 'CSV UTF-8'.",
    ),
    (b"BZh", "a bzip2 archive", "Unpack it, or pack it with gzip."),
    (b"\xfd7zXZ", "an xz archive", "Unpack it, or pack it with gzip."),
    (b"\x28\xb5\x2f\xfd", "a zstd archive", "Unpack it, or pack it with gzip."),
    (
        b"version https://git-lfs",
        "a Git LFS pointer, not the data itself",
        "Fetch the data with `git lfs pull`.",
    ),
    (b"<!doctype html", "an HTML page", "Download the file itself again."),
    (b"<html", "an HTML page", "Download the file itself again."),
    (b"<?xml", "an XML page", "Download the file itself again, or export it as CSV."),
    (b"%pdf-", "a PDF", "Export the data as CSV."),
    (b"7z\xbc\xaf", "a 7-Zip archive", "Unpack it, or pack it with gzip."),
    (b"SQLite format 3", "an SQLite database", "Export the table as CSV."),
    (b"ARROW1", "an Arrow or Feather file", "Write the table as Parquet."),
    (b"Obj\x01", "an Avro file", "Write the table as Parquet."),
)


def refusal(
    path: str, found: str, way_out: str, *, line: int | None = None
) -> DataRefused:
    """The error for a file that cannot be used: where, what, and the way out."""
    where = path if line is None else f"{path}, line {line}"
    return DataRefused(f"{where}: {found}. {way_out}")


def check_is_data(path: str) -> bytes:
    """Refuses a file that is missing or is of a kind that holds no rows.

    Returns:
      The first bytes of the file, unpacked if it is gzip'ed.
    """
    if os.path.isdir(path):
        files = sorted(f for f in os.listdir(path) if not f.startswith("."))
        raise refusal(
            path,
            "this is a folder, and one file is read",
            f"Name one of its files: {files[:10]}.",
        )
    if not os.path.exists(path):
        raise refusal(path, "there is no such file", way_to_a_missing_file(path))
    if not os.path.isfile(path):  # Reading a pipe or a device may never end.
        raise refusal(path, "this is no regular file", "Copy its data into a file.")
    with open_bytes(path) as file:
        head = file.read(_HEAD_BYTES)
    lowered = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    for magic, kind, way_out in _IMPOSTORS:
        if head.startswith(magic) or lowered.startswith(magic):
            raise refusal(path, f"this is {kind}", way_out)
    return head


def is_compressed(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(2) == _GZIP_MAGIC


def command_on(path: str, command: str) -> str:
    """A shell command that reads the file, unpacked, and writes NEW."""
    if is_compressed(path):
        return f"gunzip -c < {shlex.quote(path)} | {command} > NEW"
    return f"{command} < {shlex.quote(path)} > NEW"


def nothing(path: str) -> DataRefused:
    return refusal(
        path, "the file is empty or holds only white space", "Check the export."
    )


def read_bytes(path: str) -> bytes:
    """All of the file, unpacked if it is gzip'ed."""
    with open_bytes(path) as file:
        return file.read()


def fingerprint(path: str) -> tuple[str, int]:
    """Returns (SHA-256 in hex, size in bytes) of the file as it lies on the disk."""
    digest, size = hashlib.sha256(), 0
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
            size += len(block)
    return digest.hexdigest(), size


@contextlib.contextmanager
def open_bytes(path: str) -> Iterator[gzip.GzipFile | io.BufferedReader]:
    """The content of a file, unpacked if it is gzip'ed.

    Raises:
      DataRefused: also in the body, if the archive or the disk fails there.
    """
    try:
        packed = is_compressed(path)
        with gzip.open(path, "rb") if packed else open(path, "rb") as file:
            yield file
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise refusal(
            path, f"the gzip archive is damaged ({error})", "Make or copy it again."
        ) from None
    except OSError as error:
        raise refusal(
            path,
            f"the file cannot be read ({error.strerror})",
            "Correct its permissions, or copy it to a disk of this machine.",
        ) from None


def way_to_a_missing_file(path: str) -> str:
    """What to do about a path that leads nowhere."""
    if "://" in path:
        return "Addresses are not read: copy the file here, or mount the bucket."
    if os.path.islink(path):
        return f"It is a link to {os.readlink(path)}, where nothing can be read."
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        return f"There is no folder {folder} either; correct the path."
    near = difflib.get_close_matches(os.path.basename(path), os.listdir(folder), n=1)
    if near:
        return f"Did you mean {os.path.join(os.path.dirname(path), near[0])!r}?"
    return f"Correct the path; it was looked up from {os.getcwd()}."
