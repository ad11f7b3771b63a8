"""The bare texts of the training file, for a vocabulary. Pure."""

from collections.abc import Iterator

from components.example_gen import reading
from components.example_gen.settings import DataSettings


def texts_of(settings: DataSettings, task: str) -> Iterator[str]:
    """Sources, and for summaries targets too; rows that lack them are passed over."""
    columns = [settings.text] + ([settings.target] if task == "summarization" else [])
    for row in reading.read_rows(settings.train, settings):
        for column in columns:
            value = row.cells.get(column)
            if isinstance(value, str):
                yield value
            elif isinstance(value, tuple):
                yield from value
