"""How much memory this process may still take, on Linux. Pure: reads text files."""

import dataclasses
import os
from collections.abc import Iterator

_NO_LIMIT_BYTES = 2**60  # cgroup v1 writes its largest number where v2 writes "max".


@dataclasses.dataclass(frozen=True)
class Free:
    """What is free, and what sets the bound.

    Attributes:
      bytes_free: beyond what the process holds already; never below zero.
      source: "this machine", or "the memory limit of this container".
    """

    bytes_free: int
    source: str


def read(proc: str = "/proc", cgroups: str = "/sys/fs/cgroup") -> Free | None:
    """The least of what the machine and each cgroup above the process leave.

    Files in the page cache that nobody used lately count as free: the kernel drops
    them before it kills anyone. Swap does not: a training that swaps never ends.

    Returns:
      None where the kernel does not tell, as on macOS.
    """
    found = []
    machine = _available(os.path.join(proc, "meminfo"))
    if machine is not None:
        found.append(Free(machine, "this machine"))
    for folder in _folders(os.path.join(proc, "self", "cgroup"), cgroups):
        left = _left_of_limit(folder)
        if left is not None:
            found.append(Free(left, "the memory limit of this container"))
    return min(found, key=lambda free: free.bytes_free, default=None)


def _available(path: str) -> int | None:
    for line in (_text(path) or "").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def _folders(path: str, root: str) -> Iterator[str]:
    """The folders of the process's memory cgroups, from its own up to the root.

    In a container the path is often that of the host, which is not there: then the
    limit is the root's.
    """
    for line in (_text(path) or "").splitlines():
        _, controllers, cgroup = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        mount = os.path.join(root, "memory") if controllers else root
        parts = [part for part in cgroup.split("/") if part]
        for end in range(len(parts), -1, -1):
            yield os.path.join(mount, *parts[:end])


def _left_of_limit(folder: str) -> int | None:
    for limit_file, used_file, cache in (
        ("memory.max", "memory.current", "inactive_file"),
        ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    ):
        limit = _text(os.path.join(folder, limit_file))
        used = _text(os.path.join(folder, used_file))
        if limit is None or used is None or limit.strip() == "max":
            continue
        if int(limit) >= _NO_LIMIT_BYTES:
            continue
        statistics = (_text(os.path.join(folder, "memory.stat")) or "").splitlines()
        dropped = [int(s.split()[1]) for s in statistics if s.split()[0] == cache]
        return max(0, int(limit) - int(used) + sum(dropped))
    return None


def _text(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8") as f:
            return f.read()
    except OSError:
        return None
