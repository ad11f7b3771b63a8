import pytest

from tests.e2e import jobs


@pytest.fixture(scope="session")
def bert(tmp_path_factory) -> str:
    """A tiny BERT checkpoint."""
    return jobs.write_bert(tmp_path_factory.mktemp("bert") / "checkpoint")


@pytest.fixture(scope="session")
def rows_file(tmp_path_factory) -> str:
    """A CSV of 90 rows with three labels."""
    return jobs.write_csv(tmp_path_factory.mktemp("rows") / "rows.csv", jobs.rows(90))
