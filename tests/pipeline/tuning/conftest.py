import pytest

from pipeline.config import load
from pipeline.tuning.space import override


@pytest.fixture
def with_values(job, write):
    """The small valid configuration, with other values."""
    path = write(job)
    return lambda values: load(path, [override(k, v) for k, v in values.items()])
