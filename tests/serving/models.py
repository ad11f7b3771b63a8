"""Folders with the files of a SavedModel, and what publishing leaves."""

import os
import pathlib

from serving import promotion


def make_model(folder: pathlib.Path, content: str = "a") -> str:
    """A folder with the files of a SavedModel, a nested one and an empty folder."""
    (folder / "variables").mkdir(parents=True, exist_ok=True)
    (folder / "assets").mkdir(exist_ok=True)
    (folder / "saved_model.pb").write_text(f"graph {content}")
    (folder / "variables" / "variables.index").write_text(f"index {content}")
    (folder / "variables" / "variables.data-00000-of-00001").write_text(content)
    return str(folder)


def make_large_model(folder: pathlib.Path, *, files: int, file_bytes: int) -> str:
    make_model(folder)
    for number in range(files):
        (folder / "variables" / f"part-{number:04}").write_bytes(b"x" * file_bytes)
    return str(folder)


def tree(folder) -> dict[str, bytes]:
    folder = pathlib.Path(folder)
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def leftovers(base_dir) -> list[str]:
    """Names in `base_dir` that are neither versions nor the two small files."""
    ours = {promotion.HIGHEST_VERSION_FILE, promotion.LOCK_FILE}
    return sorted(n for n in os.listdir(base_dir) if n not in ours and not n.isdigit())
