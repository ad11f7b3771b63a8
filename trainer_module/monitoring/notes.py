"""What went wrong with the watching of a training, which goes on without it. Pure."""

import contextlib
import logging
from collections.abc import Iterator

from trainer_module.progress import report


def note(text: str) -> None:
    """Tells it in the log, and as an event of the run."""
    logging.getLogger(__name__).warning(text)
    report("note", message=text)


@contextlib.contextmanager
def only_noted(what: str) -> Iterator[None]:
    """An error inside becomes a note that begins with `what`."""
    try:
        yield
    except Exception as error:
        note(f"{what}: {in_a_line(error)}. The training goes on.")


def in_a_line(error: Exception) -> str:
    """The kind of an error and the first line of its message, without a full stop."""
    lines = str(error).strip().splitlines()
    said = lines[0][:300].rstrip(". ") if lines else ""
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
