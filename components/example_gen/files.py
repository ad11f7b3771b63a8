"""A data file as lines of text, and the refusal of what only looks like one. Pure."""

import contextlib
import difflib
import gzip
import hashlib
import io
import itertools
import os
import re
import zlib
from collections.abc import Iterator

from trainer_module.progress import DataRefused

_HEAD_BYTES = 4096
_GZIP_MAGIC = b"\x1f\x8b"
_PARQUET_MAGIC = b"PAR1"
_CONFLICT_MARKER = "<<<<<<< "
_LINE_END = re.compile(rb"\r\n|\r|\n")

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
    with _open(path) as file:
        head = file.read(_HEAD_BYTES)
    lowered = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    for magic, kind, way_out in _IMPOSTORS:
        if head.startswith(magic) or lowered.startswith(magic):
            raise refusal(path, f"this is {kind}", way_out)
    if _looks_like_utf16(head):
        raise refusal(
            path,
            "this looks like UTF-16, and UTF-8 is read",
            f"Convert it: `iconv -f UTF-16 -t UTF-8 {path} > NEW`.",
        )
    return head


def is_parquet(head: bytes) -> bool:
    return head.startswith(_PARQUET_MAGIC)


def is_compressed(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(2) == _GZIP_MAGIC


def lines(path: str) -> Iterator[str]:
    """Yields the physical lines with their ends, LF, CRLF or CR, without a BOM.

    Raises:
      DataRefused: at a line that is not UTF-8 or holds a NUL.
    """
    with _open(path) as raw:
        text = io.TextIOWrapper(raw, encoding="utf-8-sig", newline="")
        try:
            for number, line in enumerate(text, start=1):
                if "\0" in line:
                    raise refusal(
                        path,
                        "there is a NUL byte, so this is no text file or is damaged",
                        "Export the file again, or remove it: "
                        f"`tr -d '\\000' < {path} > NEW`.",
                        line=number,
                    )
                yield line
        except UnicodeDecodeError:
            raise _not_utf8(path) from None


def first_text_line(path: str) -> tuple[str, Iterator[str]]:
    """Returns the first line that is not blank, and all lines of the file."""
    seen: list[str] = []
    all_lines = lines(path)
    for line in all_lines:
        seen.append(line)
        if line.strip():
            return line, itertools.chain(seen, all_lines)
    raise nothing(path)


def nothing(path: str) -> DataRefused:
    return refusal(
        path, "the file is empty or holds only white space", "Check the export."
    )


def refuse_conflict(path: str, line: str, number: int) -> None:
    if line.startswith(_CONFLICT_MARKER):
        raise refusal(
            path,
            f"there is the mark of a merge conflict ({line.strip()[:40]!r})",
            "Resolve the conflict and commit the file.",
            line=number,
        )


def read_bytes(path: str) -> bytes:
    """All of the file, unpacked if it is gzip'ed."""
    with _open(path) as file:
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
def _open(path: str) -> Iterator[gzip.GzipFile | io.BufferedReader]:
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


def _looks_like_utf16(head: bytes) -> bool:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    # Western text in UTF-16 has a NUL in every second place, and only there.
    even, odd = head[0::2].count(0), head[1::2].count(0)
    return max(even, odd) > 0.4 * len(head) / 2 and min(even, odd) == 0


def _not_utf8(path: str) -> DataRefused:
    """Finds the line, which the decoder, reading blocks, does not know."""
    number = 1
    with _open(path) as file:
        for raw in file:
            try:
                raw.decode("utf-8")
            except UnicodeDecodeError as error:
                # A file with CR only is one line to the reader of bytes.
                number += len(_LINE_END.findall(raw[: error.start]))
                found = f"this is not UTF-8 (byte 0x{raw[error.start]:02X})"
                break
            number += len(_LINE_END.findall(raw))
    return refusal(
        path,
        found,
        "Save it as UTF-8, or convert it from the encoding that it has: "
        f"`iconv -f WINDOWS-1252 -t UTF-8 {path} > NEW`.",
        line=number,
    )


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
