"""Events of a run, as JSON lines in the file that TEXTTUNE_EVENTS names.

Nodes run in other threads and processes than the terminal that shows them; a file
that is only appended to serves them all, and stays as the record of the run.
"""

import contextlib
import json
import os
import shutil
import time
from typing import Any

EVENTS_VARIABLE = "TEXTTUNE_EVENTS"


def report(kind: str, **fields: Any) -> None:
    """Appends one event; does nothing where nobody listens."""
    path = os.environ.get(EVENTS_VARIABLE)
    if not path:
        return
    line = json.dumps({"kind": kind, "time": time.time(), **fields}, default=str)
    # One write of one line: appends of processes do not mix. A full disk stops the
    # work itself at its next write; telling about it must not be what fails.
    with contextlib.suppress(OSError), open(path, "a", encoding="utf-8") as events:
        events.write(line + "\n")


def run_id() -> str | None:
    """The id of the run, which its folder is named by; None where there is no run."""
    path = os.environ.get(EVENTS_VARIABLE)
    return os.path.basename(os.path.dirname(os.path.abspath(path))) if path else None


def keep(name: str, text: str) -> None:
    """Writes a file into the run's folder; does nothing where there is no run."""
    path = os.environ.get(EVENTS_VARIABLE)
    if not path:
        return
    with open(os.path.join(os.path.dirname(path), name), "w", encoding="utf-8") as f:
        f.write(text)


def keep_file(path: str) -> None:
    """Copies a file into the run's folder; does nothing where there is no run."""
    events = os.environ.get(EVENTS_VARIABLE)
    if events:
        name = os.path.basename(path)
        shutil.copyfile(path, os.path.join(os.path.dirname(events), name))


class Refusal(Exception):
    """A verdict about the user's data or model: the run stops, retrying is no use.

    Attributes:
      findings: what is wrong, one sentence each, with where and the way out.
    """

    def __init__(self, *findings: str):
        super().__init__("\n".join(findings))
        self.findings = findings


class DataRefused(Refusal):
    """The data is at fault: exit code 3, and nothing was trained."""
