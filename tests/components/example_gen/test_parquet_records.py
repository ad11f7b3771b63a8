"""Parquet: values as text, and a refusal of what is damaged."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from components.example_gen import reading
from trainer_module.progress import DataRefused


@pytest.fixture
def parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")

    def write(columns, name="data.parquet"):
        path = tmp_path / name
        parquet.write_table(pyarrow.table(columns), path)
        return str(path)

    return write


def test_parquet_values_become_text(parquet, settings):
    path = parquet(
        {
            "text": [["one", "two"], None, []],
            "label": [1, 2, None],
            "when": [b"x", b"\xff", None],
        }
    )
    rows = list(reading.read_rows(path, settings(path, slices=("when",))))
    assert [row.number for row in rows] == [1, 2, 3]
    assert rows[0].cells == {"text": ("one", "two"), "label": "1", "when": "x"}
    assert rows[1].problem == "neither text nor a list of texts"
    assert rows[2].cells == {"text": (), "label": None, "when": None}


def test_gzipped_parquet_is_read_whatever_its_name(parquet, write, settings):
    with open(parquet({"text": ["hi"], "label": ["01"]}), "rb") as file:
        path = write(file.read(), "data.gz")
    (row,) = reading.read_rows(path, settings(path))
    assert row.cells == {"text": "hi", "label": "01"}


def test_parquet_without_rows_or_content_is_refused(parquet, refusal, settings):
    path = parquet({"text": [], "label": []})
    with pytest.raises(DataRefused, match="0 rows"):
        reading.check_columns(path, settings(path))
    assert "damaged" in refusal(b"PAR1 and no more", "bad.parquet")
    assert "the name says Parquet" in refusal(b"text,label\nhi,a\n", "bad.parquet")


def test_parquet_with_a_damaged_page_is_refused_with_its_path(parquet, settings):
    path = parquet({"text": [f"text {n}" for n in range(999)], "label": ["a"] * 999})
    with open(path, "r+b") as file:
        file.seek(100)
        file.write(b"\xff" * 200)
    with pytest.raises(DataRefused, match="data.parquet: the Parquet file is damaged"):
        list(reading.read_rows(path, settings(path)))


def test_parquet_column_that_is_missing_is_named(parquet, settings):
    path = parquet({"Text": ["hi"], "label": ["a"]})
    with pytest.raises(DataRefused, match="did you mean 'Text'"):
        reading.check_columns(path, settings(path))


@pytest.mark.parametrize("kind", ["string", "large_string", "dictionary", "list"])
def test_parquet_text_that_is_not_utf8_makes_a_row_of_no_use(parquet, settings, kind):
    import pyarrow as pa

    bad = pa.array([b"good", b"caf\xe9"], pa.binary())
    types = {"string": pa.string(), "large_string": pa.large_string()}
    # A view, for pyarrow itself checks what it casts.
    text = bad.cast(pa.large_binary()) if kind == "large_string" else bad
    text = text.view(types.get(kind, pa.string()))
    if kind == "dictionary":
        text = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), text)
    if kind == "list":
        text = pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), text)
    path = parquet({"text": text, "label": ["a", "b"]})
    rows = list(reading.read_rows(path, settings(path)))
    assert [row.problem for row in rows] == [None, reading.NOT_TEXT]
    assert rows[0].cells == {
        "text": ("good",) if kind == "list" else "good",
        "label": "a",
    }


def test_parquet_value_beyond_python_is_refused_with_its_file(parquet, settings):
    import pyarrow as pa

    when = pa.array([2**31 - 1], pa.date32())
    path = parquet({"text": ["hi"], "label": ["a"], "when": when})
    with pytest.raises(DataRefused, match="data.parquet: .*a value cannot be read"):
        list(reading.read_rows(path, settings(path, slices=("when",))))


def test_map_and_unknown_time_zone_are_no_text(settings, tmp_path):
    path = str(tmp_path / "data.parquet")
    maps = pa.array([[("a", "b")]], pa.map_(pa.string(), pa.string()))
    pq.write_table(pa.table({"text": maps, "label": ["a"]}), path)
    (row,) = reading.read_rows(path, settings(path))
    assert row.problem == reading.NOT_TEXT
    times = pa.array([0], pa.timestamp("ms", "Nowhere/X"))
    pq.write_table(pa.table({"text": ["hi"], "label": ["a"], "time": times}), path)
    with pytest.raises(DataRefused, match="data.parquet: a value cannot be read"):
        list(reading.read_rows(path, settings(path, slices=["time"])))


def test_nan_is_no_value(tmp_path, settings):
    path = str(tmp_path / "data.parquet")
    pq.write_table(pa.table({"text": ["hi"], "label": [float("nan")]}), path)
    (row,) = reading.read_rows(path, settings(path))
    assert row.cells["label"] is None


def test_types_are_told_as_far_as_they_change_a_text(tmp_path, settings):
    def types(**columns):
        path = str(tmp_path / "data.parquet")
        pq.write_table(pa.table({"text": ["hi"], "label": ["a"], **columns}), path)
        found = reading.check_columns(path, settings(path)).types()
        return {name: found[name] for name in columns}

    assert types(
        a=pa.array(["x"], pa.large_string()),
        b=pa.array(["x"]).dictionary_encode(),
        c=pa.array([b"x"]),
        d=pa.array([1], pa.int16()),
        e=pa.array([1.5], pa.float32()),
        f=pa.array([["x"]]),
        g=pa.array([True]),
        h=pa.array([0], pa.date32()),
    ) == {
        **dict.fromkeys("abc", "text"),
        **{"d": "integer", "e": "float", "f": "list of text", "g": "bool"},
        "h": "date32[day]",
    }


@pytest.mark.parametrize(
    "content, name",
    [("text,label\nhi,a\n", "d.csv"), ('{"text": "hi", "label": "a"}\n', "d.jsonl")],
)
def test_formats_without_types_tell_none(write, settings, content, name):
    path = write(content, name)
    types = reading.check_columns(path, settings(path)).types()
    assert types == {"text": "", "label": ""}
