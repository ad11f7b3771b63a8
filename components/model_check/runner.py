"""Runs the probe in a process of its own. Pure: no TensorFlow in this one.

However that process ends, the answer is a record: a crash, a kill or a time-out is
{"failure": words}, and never an exception here.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from components.model_check import probe

# Imported for its name, which makes it a part of this module's code fingerprint too.
PROBE = (sys.executable, "-m", probe.__name__)
LAST_LINES = 5
MAX_LINE_CHARACTERS = 300

_ROOT = pathlib.Path(__file__).parents[2]  # Where `components` is imported from.


def run(
    saved_model_dir: str,
    texts: list[str],
    *,
    timeout_seconds: float,
    command: Sequence[str] = PROBE,
) -> dict[str, Any]:
    """Returns the record of the probe, or {"failure": why there is none}."""
    if "://" not in saved_model_dir:
        saved_model_dir = os.path.abspath(saved_model_dir)  # The probe runs elsewhere.
    with tempfile.TemporaryDirectory(prefix="model-check-") as name:
        folder = pathlib.Path(name)
        request = {"saved_model_dir": saved_model_dir, "texts": texts}
        (folder / "request.json").write_text(json.dumps(request), encoding="utf-8")
        ended = _run([*command, "request.json", "result.json"], folder, timeout_seconds)
        result = folder / "result.json"
        if ended is None and result.exists():
            return json.loads(result.read_text(encoding="utf-8"))
        reason = ended or "ended without a result"
        last = _last_words(folder / "log.txt")
        return {
            "failure": "The process that loads and asks the model "
            f"{saved_model_dir!r} {reason}.{last}"
        }


def _run(
    command: list[str], folder: pathlib.Path, timeout_seconds: float
) -> str | None:
    """None if the process ended well, else how it ended."""
    with open(folder / "log.txt", "wb") as log:
        try:
            code = subprocess.run(
                command,
                cwd=folder,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                timeout=timeout_seconds,
            ).returncode
        except subprocess.TimeoutExpired:
            return f"was stopped: it did not end within {timeout_seconds:g} seconds"
        except OSError as error:
            return f"could not be started: {error}"
    if code < 0:
        hint = " (out of memory?)" if -code == signal.SIGKILL else ""
        return f"was killed by {signal.Signals(-code).name}{hint}"
    return f"failed with exit code {code}" if code else None


def _environment() -> dict[str, str]:
    paths = [str(_ROOT), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        # The trainer's process may still hold the GPU; and limits are for one machine.
        "CUDA_VISIBLE_DEVICES": "-1",
        "TF_CPP_MIN_LOG_LEVEL": "2",
    }


def _last_words(log: pathlib.Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    last = [line.strip()[:MAX_LINE_CHARACTERS] for line in lines if line.strip()]
    return " Its last words: " + " | ".join(last[-LAST_LINES:]) if last else ""
