"""SIGTERM: what a spot instance gets some seconds before it is taken back."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator

from trainer_module.progress import Refusal

_requested = threading.Event()
_trainings = 0
EXIT_CODE = 128 + signal.SIGTERM


class Stopped(Refusal):
    """The training was asked to end; it has saved what it had."""


def requested() -> bool:
    return _requested.is_set()


def request() -> bool:
    """Asks the training to save and end; gives whether there is one."""
    _requested.set()
    return _trainings > 0


@contextlib.contextmanager
def listening() -> Iterator[None]:
    """While inside, SIGTERM only asks; before and after it ends the process.

    A process whose main thread does something else, such as the one that runs the
    DAG, has to set a handler that calls `request` itself.
    """
    global _trainings
    _requested.clear()
    _trainings += 1
    before = None
    on_main_thread = threading.current_thread() is threading.main_thread()
    if on_main_thread:
        before = signal.signal(signal.SIGTERM, lambda *_: request())
    try:
        yield
    finally:
        _trainings -= 1
        if on_main_thread:
            signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def end_process_unless_training(*_: object) -> None:
    """A handler of SIGTERM for a process that may or may not be training."""
    if not request():
        os._exit(EXIT_CODE)
