"""A table that is written in any format is read back equal, cell by cell."""

import gzip

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from components.example_gen import reading
from components.example_gen.settings import DataSettings
from tests.components.example_gen import formats
from trainer_module import features

WRITERS = formats.writers()
NAMES = st.text(
    st.sampled_from("abTX 019.,;|\t\"'éß你👍_-:/\\%\n"), min_size=1, max_size=8
).filter(lambda name: name == name.strip() and name not in features.RESERVED)
AWKWARD = st.sampled_from(
    ['5" screen', '5" and 6"', "nan", "01", "1.10", "", " ", "null", "a\r\nb", "\n"]
    + ["a,b;c\td|e", '"', '""', "'", "\\", '\\"', "👩\u200d🔬", "e\u0301", "x" * 5000]
    + ["\u2028", "\x0b\x0c\x1c\x85", "[", "{}", "true", "#", "=1+1", "\ufeff"]
)
CELLS = st.one_of(
    AWKWARD,
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30),
    st.text(st.sampled_from('a"\r\n,;\t| '), max_size=12),
)


@st.composite
def tables(draw):
    names = draw(st.lists(NAMES, min_size=2, max_size=4, unique=True))
    row = st.lists(CELLS, min_size=len(names), max_size=len(names))
    return names, draw(st.lists(row, min_size=1, max_size=30))


def job(path, names, writer):
    """Settings that name every column, and the encoding unless it is UTF-8."""
    encoding = next((w for w in writer.split() if w.startswith("utf-")), "utf-8")
    return DataSettings(
        train=path, text=names[0], target=names[1], slices=names[2:], encoding=encoding
    )


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("round_trip") / "data"


@given(table=tables(), writer=st.sampled_from(sorted(WRITERS)))
@example((["a", "b"], [['5" screen', "x" * 140_000]]), "csv ',' '\\r' False utf-8")
@example((["a", "b"], [["", ""], [" ", ""]]), "csv '\\t' '\\n' False utf-8")
@example((["a;b", "c\nd"], [["1", "2"]]), "csv ';' '\\n' True utf-8")
@example((["a.b", "a"], [["1", "2"]]), "parquet string")
@settings(max_examples=300)
def test_table_is_read_back_equal(path, table, writer):
    names, rows = table
    path.write_bytes(WRITERS[writer](names, rows))
    read = list(reading.read_rows(str(path), job(str(path), names, writer)))
    assert [row.problem for row in read] == [None] * len(rows)
    assert [row.cells for row in read] == [
        dict(zip(names, row, strict=True)) for row in rows
    ]


@pytest.mark.parametrize("writer", sorted(w for w in WRITERS if "gzip" not in w))
def test_every_writer_makes_what_is_read(path, writer):
    names = ["text", "größe"]
    rows = [['5" screen,\r\n😀', "01"], ["", "nan"], ["zwei", "x;y\tz|"]]
    path.write_bytes(WRITERS[writer](names, rows))
    read = list(reading.read_rows(str(path), job(str(path), names, writer)))
    assert [list(row.cells.values()) for row in read] == rows


@given(tables())
@settings(max_examples=100)
def test_row_has_the_number_of_its_first_line(path, table):
    names, rows = table
    content = formats.csv_file(names, rows)
    path.write_bytes(gzip.compress(content.encode()))
    read = list(reading.read_rows(str(path), job(str(path), names, "csv")))
    starts = [1]
    for made in (formats.csv_file(names, rows[:n]) for n in range(len(rows))):
        unified = made.replace("\r\n", "\n").replace("\r", "\n")
        starts.append(unified.count("\n") + 1)
    assert [row.number for row in read] == starts[1:]
