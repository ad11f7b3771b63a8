"""components.example_gen.reading: dirty files give the right rows, or a refusal."""

import os
import subprocess
import sys

import pytest

from components.example_gen import json_records, reading
from trainer_module.progress import DataRefused


@pytest.fixture
def pairs(write, settings):
    """Reads a file and returns the (text, label) pairs."""

    def pairs(content, name="data.csv", **changes):
        path = write(content, name)
        rows = reading.read_rows(path, settings(path, **changes))
        return [(row.cells["text"], row.cells["label"]) for row in rows]

    return pairs


@pytest.fixture
def refusal(write, settings):
    """Reads a file that is refused, and returns the message without the folder."""

    def refusal(content, name="data.csv", **changes):
        path = write(content, name)
        with pytest.raises(DataRefused) as error:
            list(reading.read_rows(path, settings(path, **changes)))
        return str(error.value).replace(path, name)

    return refusal


@pytest.mark.parametrize(
    "content",
    [
        "text,label\nhi,a\nyo,b\n",
        "\ufefftext,label\nhi,a\nyo,b\n",
        '"text","label"\n"hi","a"\n"yo","b"\n',
        '\ufeff"text","label"\nhi,a\nyo,b\n',
        'text, label\nhi,a\n"yo", "b"\n',
        " text , label \nhi,a\nyo,b\n",
        "text,label\r\nhi,a\r\nyo,b\r\n",
        "text,label\rhi,a\ryo,b\r",
        "text,label\nhi,a\nyo,b",
        "\n\ntext,label\n\nhi,a\n   \nyo,b\n\n",
        "text;label\nhi;a\nyo;b\n",
        "text\tlabel\nhi\ta\nyo\tb\n",
        "text|label\nhi|a\nyo|b\n",
        "no,text,label\n1,hi,a\n2,yo,b\n",
    ],
    ids=[
        "clean", "bom", "quoted_header", "bom_and_quotes", "space_after_comma",
        "padded_header", "crlf", "cr_only", "no_last_line_end", "blank_lines",
        "semicolon", "tab", "bar", "more_columns",
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["data.csv", "data.txt", "data.csv.gz", "packed.gz"])
def test_csv_gives_the_rows_of_the_clean_file(pairs, content, name):
    assert pairs(content, name) == [("hi", "a"), ("yo", "b")]


@pytest.mark.parametrize(
    "line, text",
    [
        ('5" screen,a', '5" screen'),
        ('5" and 6" screens,a', '5" and 6" screens'),
        ('"5"" screen",a', '5" screen'),
        ('"two\nlines",a', "two\nlines"),
        ('"two\r\nlines",a', "two\r\nlines"),
        ('"a, b",a', "a, b"),
        ("12345,a", "12345"),
        ("nan,a", "nan"),
        ("  padded ,a", "  padded "),
        (",a", ""),
    ],
    ids=[
        "inch_once", "inch_twice", "doubled_quote", "newline", "crlf_in_cell",
        "quoted_comma", "digits", "nan", "padded", "empty",
    ],
)  # fmt: skip
def test_csv_cell_stays_as_it_is_written(pairs, line, text):
    assert pairs(f"text,label\n{line}\nlast,b\n") == [(text, "a"), ("last", "b")]


def test_labels_that_look_like_numbers_stay_text(pairs):
    labels = [label for _, label in pairs("text,label\na,01\nb,02\nc,nan\nd,1.0\n")]
    assert labels == ["01", "02", "nan", "1.0"]


def test_article_of_140000_characters_is_read(pairs):
    article = "word " * 28_000
    assert pairs(f"text,label\n{article},a\n") == [(article, "a")]


def test_row_knows_the_line_where_it_starts(write, settings):
    path = write('\ntext,label\nhi,a\n"two\nlines",b\n\nlast,c\n')
    rows = reading.read_rows(path, settings(path))
    assert [row.number for row in rows] == [3, 4, 7]


def test_row_with_a_wrong_number_of_cells_is_kept_apart(write, settings):
    path = write("text,label\nunquoted, comma,a\nshort\nhi,a\n")
    rows = list(reading.read_rows(path, settings(path)))
    assert [(row.number, row.problem, row.raw) for row in rows] == [
        (2, "wrong number of cells", "unquoted, comma,a"),
        (3, "wrong number of cells", "short"),
        (4, None, ""),
    ]


def test_delimiter_that_is_set_wins_over_the_header(pairs):
    content = "text,label;text;label\n1;hi;a\n"
    assert pairs(content, delimiter=";") == [("hi", "a")]


def test_delimiter_is_the_one_that_gives_the_wanted_columns(pairs):
    assert pairs("a,b,c;text;label\n1;hi;x\n") == [("hi", "x")]


@pytest.mark.parametrize(
    "content, line, found",
    [
        (b"", None, "the file is empty or holds only white space."),
        (b"\xef\xbb\xbf", None, "the file is empty or holds only white space."),
        (b" \n\t\r\n", None, "the file is empty or holds only white space."),
        (b"text,label\n", None, "there is a header and no row (0 rows)."),
        (b"text,label\r", None, "there is a header and no row (0 rows)."),
        (b"text,label,text\nhi,a,b\n", None, "columns ['text'] are there more"),
        (b"text, label,text \nhi,a,b\n", None, "columns ['text'] are there more"),
        (b"text,label\nhi,a\ncaf\xe9,b\n", 3, "this is not UTF-8 (byte 0xE9)"),
        (b"text,label\rhi,a\rcaf\xe9,b\r", 3, "this is not UTF-8 (byte 0xE9)"),
        ("text,label\nhi,a\n".encode("utf-16"), None, "this looks like UTF-16"),
        ("text,label\nhi,a\n".encode("utf-16-be"), None, "this looks like UTF-16"),
        (b"text,label\nhi,a\nn\0l,b\n", 3, "there is a NUL byte, so"),
        (b'text,label\nhi,a\n"5 screen,b\nyo,c\n', 3, 'a quote (") opens'),
        (b'text,label\n"5" screen",b\n', 2, 'text follows the closing quote'),
        (b'text,label\n"say \\"hi\\" now",b\n', 2, "text follows the closing"),
        (b'text,label\nx,"5\ny,6" z\n', 3, "text follows the closing quote"),
        (b"PK\x03\x04rest", None, "this is a zip archive (an Excel workbook is one"),
        (b"version https://git-lfs.github.com/spec/v1\n", None, "this is a Git LFS"),
        (b"\n<!DOCTYPE html>\n<p>Sign in</p>", None, "this is an HTML page. Download"),
        (b"text,label\n<<<<<<< HEAD\nhi,a\n=======\n", 2, "there is the mark"),
        (b"<<<<<<< HEAD\ntext,label\n", 1, "there is the mark of a merge"),
    ],
    ids=[
        "zero_bytes", "bom_only", "white_space", "header_only", "header_only_cr",
        "doubled_column", "doubled_column_padded", "latin1", "latin1_cr_only", "utf16",
        "utf16_no_bom", "nul", "quote_never_closes", "inch_in_quotes",
        "backslash_quotes", "quote_closes_in_next_row", "zip", "lfs", "html",
        "conflict", "conflict_at_top",
    ],
)  # fmt: skip
def test_csv_file_is_refused_with_line_and_cause(refusal, content, line, found):
    where = f"data.csv, line {line}" if line else "data.csv"
    assert refusal(content).startswith(f"{where}: {found}")


def test_quote_that_closes_rows_later_names_both_lines(refusal):
    message = refusal('text,label\nx,"5\ny,6" z\n')
    assert "line 3:" in message and "the row that starts at line 2." in message


def test_quoted_conflict_mark_is_text(pairs):
    assert pairs('text,label\n"<<<<<<< HEAD",a\n') == [("<<<<<<< HEAD", "a")]


def test_missing_column_names_the_near_one_and_all_there_are(refusal):
    assert refusal("id,message,label\n1,hi,a\n", text="mesage") == (
        "data.csv: `data.text` names the column 'mesage', which is not there; did you "
        "mean 'message'? The columns are ['id', 'message', 'label'] (CSV)."
    )


def test_every_missing_column_is_named_with_its_key(refusal):
    message = refusal("text,intent\nhi,a\n", id="nr", slices=("channel", "text_length"))
    keys = [line.split("`")[1] for line in message.splitlines()]
    assert keys == ["data.target", "data.id", "data.slices"]


def test_header_read_as_one_column_points_to_the_delimiter(refusal):
    assert "set `data.delimiter`" in refusal("text^label\nhi^a\n")


def test_missing_file_names_the_near_one(write, settings, tmp_path):
    write("text,label\n", "tickets.csv")
    with pytest.raises(DataRefused, match="no such file.*Did you mean.*tickets.csv"):
        reading.check_columns(str(tmp_path / "ticket.csv"), settings())


def test_folder_is_refused_with_its_files(write, settings, tmp_path):
    write("text,label\n", "a.csv")
    write("", ".DS_Store")
    with pytest.raises(DataRefused, match=r"one file is read.*\['a.csv'\]"):
        reading.check_columns(str(tmp_path), settings())


def test_damaged_gzip_is_refused(write, settings):
    path = write("text,label\nhi,a\n" * 1000, "data.csv.gz")
    with open(path, "r+b") as file:
        file.truncate(60)
    with pytest.raises(DataRefused, match="the gzip archive is damaged"):
        list(reading.read_rows(path, settings(path)))


@pytest.mark.parametrize(
    "content", ["text,label\n", 'text,label\n"a', "text,lable\nhi,a\n", ""]
)
def test_check_columns_refuses_by_the_head_alone(write, settings, content):
    path = write(content)
    with pytest.raises(DataRefused):
        reading.check_columns(path, settings(path))


def test_header_beyond_the_limit_of_csv_is_refused_as_a_file(refusal):
    message = refusal("x" * 131_073)
    assert message.startswith("data.csv: there is a header and no row")


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_is_no_regular_file_is_refused_and_not_read(tmp_path, settings, kind):
    path = str(tmp_path / "pipe") if kind == "pipe" else "/dev/zero"
    if kind == "pipe":
        os.mkfifo(path)
    with pytest.raises(DataRefused, match="this is no regular file"):
        reading.check_columns(path, settings(path))


def test_link_to_nowhere_is_named(tmp_path, settings):
    (tmp_path / "link.csv").symlink_to("gone.csv")
    path = str(tmp_path / "link.csv")
    with pytest.raises(DataRefused, match="It is a link to gone.csv, where nothing"):
        reading.check_columns(path, settings(path))


def test_columns_that_may_be_left_out_say_so(refusal):
    message = refusal("text,label\nhi,a\n", id="nr", slices=("channel",))
    assert "`--set data.id=null`" in message
    assert "Take it out of `data.slices`" in message


# JSON Lines


@pytest.mark.parametrize("name", ["data.jsonl", "data.json", "data", "data.ndjson.gz"])
def test_json_lines_keep_strings_numbers_and_lists(pairs, name):
    content = (
        '\ufeff{"text": "hi", "label": "a"}\r\n\n'
        '{"text": ["one", "two"], "label": 7}\n'
        '{"text": "x", "label": 1.10}\n'
        '{"text": null, "label": true, "other": {"a": [1]}}\n'
    )
    assert pairs(content, name) == [
        ("hi", "a"), (("one", "two"), "7"), ("x", "1.10"), (None, "true"),
    ]  # fmt: skip


def test_json_row_with_a_nested_value_is_kept_apart(write, settings):
    path = write('{"text": {"en": "hi"}, "label": "a"}\n', "data.jsonl")
    (row,) = reading.read_rows(path, settings(path))
    assert (row.number, row.problem) == (1, "neither text nor a list of texts")
    assert row.raw == "{'text': {'en': 'hi'}, 'label': 'a'}"


def test_json_key_that_the_first_record_omits_is_a_column(write, settings):
    path = write('{"text": "hi"}\n{"text": "yo", "label": "a"}\n', "data.jsonl")
    assert reading.check_columns(path, settings(path)).columns == ("text", "label")


@pytest.mark.parametrize(
    "content, line, found",
    [
        ('{"text": "a", "label": "b"}\n{"text": 01}\n', 2, "this is not"),
        ('{"text": "a"}\n["b"]\n', 2, "this is not a JSON object ('[\"b\"]')"),
        ('{"text": "a"} {"text": "b"}', 1, "this is not valid JSON (Extra data at"),
        ('{\n "text": "a"\n}', 1, "this is not valid JSON (Expecting"),
        ('{"text": "a", "text": "b"}', 1, "the key 'text' is there twice"),
        ("\n\n", None, "the file is empty or holds only white space."),
        ('{"texts": "a", "label": "b"}', None, "`data.text` names the column 'text'"),
        ("<<<<<<< HEAD\n", 1, "there is the mark of a merge conflict"),
        ('{"text": ' + "[" * 100_000, 1, "this JSON is nested too deeply"),
    ],
    ids=[
        "bad_number", "no_object", "two_on_a_line", "pretty_printed", "doubled_key",
        "empty", "no_column", "conflict", "deep",
    ],
)  # fmt: skip
def test_json_lines_are_refused_with_line_and_cause(refusal, content, line, found):
    where = f"data.jsonl, line {line}" if line else "data.jsonl"
    assert refusal(content, "data.jsonl").startswith(f"{where}: {found}")


@pytest.mark.parametrize("name", ["data.json", "data.jsonl", "data.txt", "data.gz"])
def test_json_array_is_read_whatever_its_name(pairs, name):
    content = (
        '\ufeff[\n {"text": "hi", "label": 7},\r\n {"text": ["a", "b"],"label":"x"}]\n'
    )
    assert pairs(content, name) == [("hi", "7"), (("a", "b"), "x")]


def test_rows_of_a_json_array_have_the_line_where_they_start(write, settings):
    content = '[{"text": "a",\n "label": "x"},\n\n {"text": "b"}, {"text": "c"}\n]'
    path = write(content, "data.json")
    rows = list(reading.read_rows(path, settings(path)))
    assert [row.number for row in rows] == [1, 4, 4]
    assert reading.check_columns(path, settings(path)).format == "JSON array"


@pytest.mark.parametrize(
    "content, line, found",
    [
        ('[{"text": "a"},\n{"text": 01}]', 2, "this is not valid JSON (Expecting ','"),
        ('[{"text": "a"}\n {"text": "b"}]', 2, "this is not a valid JSON array: '{"),
        ('[{"text": "a"},\n', 2, "this is not valid JSON (Expecting value at"),
        ('[{"text": "a"}\n', 2, "this is not a valid JSON array: its end is missing"),
        ('[{"text": "a"}]\n[]', 2, "this is not a valid JSON array: '[]'"),
        ('[{"text": "a"},\n "b"]', 2, "this is not a JSON object ('\"b\"')"),
        ('[{"text": "a", "text": "b"}]', 1, "the key 'text' is there twice"),
        ("[" * 100_000, 1, "this JSON is nested too deeply"),
        ("[]", None, "there is a header and no row"),
    ],
    ids=[
        "bad_number", "no_comma", "cut", "no_end", "two_arrays", "no_object",
        "doubled_key", "deep", "empty",
    ],
)  # fmt: skip
def test_json_array_is_refused_with_line_and_cause(refusal, content, line, found):
    where = f"data.json, line {line}" if line else "data.json"
    assert refusal(content, "data.json").startswith(f"{where}: {found}")


def test_json_array_that_memory_does_not_hold_is_refused(refusal, monkeypatch):
    monkeypatch.setattr(json_records, "MAX_ARRAY_BYTES", 20)
    assert "JSON Lines: `jq -c" in refusal('[{"text": "a", "label": "b"}]', "data.json")


# Parquet


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


def test_import_is_light():
    code = (
        "import sys, components.example_gen.reading\n"
        "heavy = {'tensorflow', 'tfx', 'pyarrow', 'pydantic', 'numpy', 'rouge_score'}\n"
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
