"""The bare texts of the training file, for a vocabulary. Pure."""

import itertools
from collections.abc import Callable, Iterator

from components.example_gen import reading
from components.example_gen.settings import DataSettings


def texts_of(
    settings: DataSettings,
    task: str,
    *,
    passed_over: Callable[[reading.Row], None] = lambda row: None,
) -> Iterator[str]:
    """Sources, and for summaries targets too.

    Args:
      passed_over: is told of each row that cannot be read.
    """
    columns = [settings.text] + ([settings.target] if task == "summarization" else [])
    rows = (reading.read_rows(path, settings) for path in settings.train)
    for row in itertools.chain.from_iterable(rows):
        if row.problem:
            passed_over(row)
        for column in columns:
            value = row.cells.get(column)
            if isinstance(value, str):
                yield value
            elif isinstance(value, tuple):
                yield from value
