"""TensorBoard in this process: for this machine alone, and silent on the terminal."""

import contextlib
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence

from pipeline import trainings
from pipeline.config import ConfigError
from pipeline.trainings import Training

HOST = "127.0.0.1"
# More than a training writes (`curves.MOST_POINTS`, an epoch's samples): by default
# TensorBoard leaves out what is beyond 1000 and 10.
_POINTS_SHOWN = "scalars=4000,text=1000"


@contextlib.contextmanager
def ended_by_signals() -> Iterator[None]:
    """Ctrl-C, an orderly kill and a closed terminal leave the block, in silence."""

    def end(number: int, frame: object) -> None:
        for sign in before:  # The end is not to be cut short.
            signal.signal(sign, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = {
        sign: signal.signal(sign, end)
        for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(sign) is not signal.SIG_IGN
    }
    try:
        with contextlib.suppress(KeyboardInterrupt):
            yield
    finally:
        for sign, handler in before.items():
            signal.signal(sign, handler)


def wait() -> None:
    """Does nothing until a signal comes."""
    threading.Event().wait()


@contextlib.contextmanager
def running(found: Sequence[Training], port: int | None) -> Iterator[str]:
    """Serves the trainings, each under its run's id, and gives the address.

    Args:
      found: with folders that are there.
      port: 0 for any; None for the first free one from 6006 on.

    Raises:
      ConfigError: if the port is in use, or not this user's to take.
    """
    with tempfile.TemporaryDirectory(prefix="texttune-tensorboard-") as folder:
        links = os.path.join(folder, "runs")
        os.mkdir(links)
        for name, training in trainings.by_name(found):
            os.symlink(os.path.abspath(training.folder), os.path.join(links, name))
        with _errors_to(os.path.join(folder, "log.txt")):
            yield _launch(links, port)


def _launch(logdir: str, port: int | None) -> str:
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    from tensorboard import default, program

    board = program.TensorBoard(plugins=default.get_plugins())
    arguments = ["--logdir", logdir, "--host", HOST]
    arguments += ["--samples_per_plugin", _POINTS_SHOWN]
    board.configure(
        [None, *arguments, *([] if port is None else ["--port", str(port)])]
    )
    try:
        return board.launch()
    except program.TensorBoardServerException as error:
        raise ConfigError(
            f"--port: {error.msg}. Another TensorBoard may run there; `--port 0` takes "
            "a free one."
        ) from error


@contextlib.contextmanager
def _errors_to(path: str) -> Iterator[None]:
    """What libraries and their child processes print to stderr goes to a file."""
    sys.stderr.flush()
    kept = os.dup(2)
    with open(path, "ab") as log:
        os.dup2(log.fileno(), 2)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(kept)
