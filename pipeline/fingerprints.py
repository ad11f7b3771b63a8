"""Content hashes of data, checkpoints and code, for trustworthy caching. Pure.

TFX's cache key holds paths, not contents: an edited helper or a swapped file would
be reused as if nothing had happened. These hashes travel as execution parameters.
"""

import ast
import functools
import hashlib
import os
from collections.abc import Iterable, Iterator

FIRST_PARTY = ("pipeline", "components", "trainer_module", "schemas", "serving")
# Files beside a module that it reads, so that they count as part of it.
_RESOURCE_SUFFIXES = (".j2", ".html", ".css")


def project_dir() -> str:
    """The folder that holds the first-party packages."""
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def of_file(path: str) -> str:
    """SHA-256 of a file's bytes."""
    digest = hashlib.sha256()
    with open(path, "rb") as f:
        while block := f.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def of_folder(path: str) -> str:
    """SHA-256 over the relative names and contents of all files below `path`."""
    digest = hashlib.sha256()
    for folder, folders, files in os.walk(path):
        folders.sort()
        for name in sorted(files):
            full = os.path.join(folder, name)
            digest.update(os.path.relpath(full, path).encode() + b"\0")
            digest.update(of_file(full).encode())
    return digest.hexdigest()


def of_code(*modules: str, root: str | None = None) -> str:
    """SHA-256 of the source of `modules` and of all first-party code they import.

    Imports are read from the source, also those inside functions, so nothing is
    executed. An edit changes the fingerprint of exactly the nodes that reach it.

    Args:
      modules: dotted names, such as "trainer_module.run_fn".
      root: the folder of the first-party packages. Defaults to this project's.

    Raises:
      ValueError: if a module does not exist.
    """
    root = root or project_dir()
    digest = hashlib.sha256()
    for path in sorted(_reachable(modules, root)):
        digest.update(os.path.relpath(path, root).encode() + b"\0")
        digest.update(of_file(path).encode())
    return digest.hexdigest()


def _reachable(modules: Iterable[str], root: str) -> set[str]:
    found: set[str] = set()
    waiting: list[str] = []
    for module in modules:
        if _source(module, root) is None:
            raise ValueError(f"There is no module {module!r} below {root}.")
        waiting.extend(filter(None, (_source(m, root) for m in _with_parents(module))))
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        found.update(_resources(path))
        waiting.extend(_imports(path, root, os.stat(path).st_mtime_ns))
    return found


@functools.lru_cache(maxsize=1024)
def _imports(path: str, root: str, mtime_ns: int) -> frozenset[str]:
    del mtime_ns  # Only there so that an edited file is parsed again.
    with open(path, encoding="utf-8") as f:
        tree = ast.parse(f.read())
    sources = (_source(name, root) for name in _imported_names(tree))
    return frozenset(source for source in sources if source)


def _imported_names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            # `from package import name`: the name may be a module of the package.
            names = [node.module, *(f"{node.module}.{a.name}" for a in node.names)]
        else:
            continue
        for name in names:
            if name.split(".")[0] in FIRST_PARTY:
                yield from _with_parents(name)


def _with_parents(module: str) -> list[str]:
    """a.b.c -> a, a.b, a.b.c: importing a module runs its packages too."""
    parts = module.split(".")
    return [".".join(parts[: n + 1]) for n in range(len(parts))]


def _source(module: str, root: str) -> str | None:
    base = os.path.join(root, *module.split("."))
    for path in (base + ".py", os.path.join(base, "__init__.py")):
        if os.path.isfile(path):
            return path
    return None


def _resources(path: str) -> list[str]:
    """The files beside a module that it reads, and those of its templates."""
    beside = os.path.dirname(path)
    folders = [beside]
    folders += [folder for folder, _, _ in os.walk(os.path.join(beside, "templates"))]
    return [
        os.path.join(folder, name)
        for folder in folders
        for name in os.listdir(folder)
        if name.endswith(_RESOURCE_SUFFIXES)
    ]
