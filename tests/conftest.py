"""Settings that must be in place before a test imports anything."""

import os
import re
import signal
import subprocess
from pathlib import Path

import hypothesis
import pytest

# Before the first TensorFlow import: the models of transformers 4 need Keras 2.
os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")  # As the worker of a run has it.
# Tests answer the same with and without a GPU, and never reach for a network.
os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["HF_HUB_OFFLINE"] = "1"

# How long an example takes depends on the machine, and equal runs give equal examples.
hypothesis.settings.register_profile("texttune", deadline=None, derandomize=True)
hypothesis.settings.load_profile("texttune")

# A job in the background of a shell ignores Ctrl-C, and so would all that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

SLOW_MODULE = re.compile(
    r"^pytestmark = (pytest\.mark\.slow|\[.*\bslow\b)", re.MULTILINE
)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves slow modules unread in the fast tier: importing them is what costs.

    pytest deselects by mark only after it has imported the module.
    """
    if config.option.markexpr != "not slow" or collection_path.suffix != ".py":
        return None
    if SLOW_MODULE.search(collection_path.read_text(encoding="utf-8")):
        return True
    return None


@pytest.fixture
def mounted(tmp_path):
    """Mounts a small disk of its own: `mounted("size=2m")` gives its folder.

    Skips where this user may not mount one.
    """
    folders: list[Path] = []

    def mount(options: str) -> Path:
        folder = tmp_path / f"disk-{len(folders)}"
        folder.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)],
            capture_output=True,
            text=True,
        )
        if done.returncode:
            pytest.skip(f"only root may mount a full disk: {done.stderr.strip()}")
        folders.append(folder)
        return folder

    yield mount
    for folder in folders:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
