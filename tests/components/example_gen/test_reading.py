"""components.example_gen.reading: dirty files give the right rows, or a refusal."""

import csv
import io
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.example_gen import reading
from components.example_gen.settings import DataSettings
from trainer_module.progress import DataRefused


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
        (b"te\0t,label\nhi,a\n", 1, "there is a NUL byte, so"),
        (b'text,label\nhi,a\n"5 screen,b\nyo,c\n', 3, 'a quote (") opens'),
        (b'text,label\n"5" screen",b\n', 2, 'text follows the closing quote'),
        (b'text,label\n"say \\"hi\\" now",b\n', 2, "text follows the closing"),
        (b'text,label\nx,"5\ny,6" z\n', 3, "text follows the closing quote"),
        (b"PK\x03\x04rest", None, "this is a zip archive (an Excel workbook is one"),
        (b"version https://git-lfs.github.com/spec/v1\n", None, "this is a Git LFS"),
        (b'""\n', None, "the file is empty or holds only white space."),
        (b"text,label\nhi,a\n=======\nyo,b\n", 3, "there is the mark of a merge"),
        (b"text,label\nhi,a\n>>>>>>> branch\n", 3, "there is the mark of a merge"),
        (b'text,label\n"hi\n<<<<<<< HEAD\n",a\n=======\n', 5, "there is the mark"),
        (b"text,label\n<<<<<<< HEAD\nhi,a\n=======\n", 2, "there is the mark"),
        (b"<<<<<<< HEAD\ntext,label\n", 1, "there is the mark of a merge"),
    ],
    ids=[
        "zero_bytes", "bom_only", "white_space", "header_only", "header_only_cr",
        "doubled_column", "doubled_column_padded", "latin1", "latin1_cr_only", "utf16",
        "utf16_no_bom", "nul", "nul_in_header", "quote_never_closes", "inch_in_quotes",
        "backslash_quotes", "quote_closes_in_next_row", "zip", "lfs", "quoted_nothing",
        "conflict_middle", "conflict_end", "conflict_in_cell", "conflict",
        "conflict_at_top",
    ],
)  # fmt: skip
def test_csv_file_is_refused_with_line_and_cause(refusal, content, line, found):
    where = f"data.csv, line {line}" if line else "data.csv"
    assert refusal(content).startswith(f"{where}: {found}")


@pytest.mark.parametrize(
    "content, kind",
    [
        ("<!DOCTYPE html>\n<p>Sign in</p>", "an HTML page"),
        ("\n \t<!doctype HTML>", "an HTML page"),
        ("\ufeff<HTML><body>", "an HTML page"),
        ("\ufeff\r\n<?xml version='1.0'?>\n<Error>denied</Error>", "an XML page"),
        ("%PDF-1.7\n", "a PDF"),
        ("PK\x03\x04", "a zip archive"),
        ("SQLite format 3\0", "an SQLite database"),
        ("ARROW1\0\0", "an Arrow or Feather file"),
        ("7z\xbc\xaf", "a 7-Zip archive"),
    ],
)
@pytest.mark.parametrize("name", ["data.csv", "data.jsonl", "data.gz"])
def test_what_only_lies_under_the_name_of_a_data_file_is_refused(
    refusal, content, kind, name
):
    raw = content.encode("latin-1" if content.startswith("7z") else "utf-8")
    assert refusal(raw, name).startswith(f"{name}: this is {kind}")


def test_quoted_name_may_have_delimiters_and_lines(pairs):
    content = '"a\n,b;";"text";label\n1;hi;x\n'
    assert pairs(content) == [("hi", "x")]


def test_quoted_name_that_holds_a_comma_and_a_space_pads_nothing(pairs):
    content = 'text,"label, or so",label\n hi,x, a\n'
    assert pairs(content, target="label, or so", slices=["label"]) == [(" hi", " a")]


# What the two ways of taking a line apart may be told apart by.
LINES = st.lists(
    st.text(st.sampled_from("ab \"',;\t|\\<=\x0b\u2028é"), max_size=8), max_size=8
)


@given(LINES, st.sampled_from(["\n", "\r\n", "\r"]), st.sampled_from(",;\t|"))
def test_records_are_those_of_csv(tmp_path_factory, lines, line_end, delimiter):
    content = line_end.join([f"text{delimiter}label", *lines])
    path = tmp_path_factory.mktemp("csv") / "data.csv"
    path.write_bytes(content.encode())
    job = DataSettings(train=str(path), text="text", target="label")
    try:
        rows = list(
            csv.reader(io.StringIO(content, ""), delimiter=delimiter, strict=True)
        )
    except csv.Error:
        with pytest.raises(DataRefused):
            list(reading.read_rows(str(path), job))
        return
    expected = [r for r in rows[1:] if len(r) > 1 or any(c.strip() for c in r)]
    marks = ("=======", "<<<<<<< ")  # A merge conflict is refused, as it has to be.
    if not expected or any(line.startswith(marks) for line in lines):
        return
    read = list(reading.read_rows(str(path), job))
    assert [row.problem is None for row in read] == [len(r) == 2 for r in expected]
    assert [list(row.cells.values()) for row in read if not row.problem] == [
        r for r in expected if len(r) == 2
    ]


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


def test_import_is_light():
    code = (
        "import sys, components.example_gen.reading\n"
        "heavy = {'tensorflow', 'tfx', 'pyarrow', 'pydantic', 'numpy', 'rouge_score'}\n"
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_header_of_a_joined_file_is_no_row(write, settings):
    path = write("text,label\nhi,a\n\ufefftext,label\nho,b\n text , label\nhey,a\n")
    problems = [row.problem for row in reading.read_rows(path, settings(path))]
    again = "the header again"
    assert problems == [None, again, None, again, None]


def test_row_tells_how_many_lines_it_takes(write, settings):
    path = write('text,label\nhi,a\n"one\n\ntwo",b\nho,a\n')
    rows = reading.read_rows(path, settings(path))
    assert [(row.number, row.lines) for row in rows] == [(2, 1), (3, 3), (6, 1)]


@pytest.mark.parametrize("at_the_end", [True, False], ids=["last", "first"])
def test_column_of_a_single_record_is_found_wherever_it_is(write, settings, at_the_end):
    rows = ['{"text": "t"}'] * 150
    rows.insert(150 if at_the_end else 0, '{"text": "t", "label": "a"}')
    path = write("\n".join(rows), "data.jsonl")
    found = [r.cells.get("label") for r in reading.read_rows(path, settings(path))]
    assert sorted(label or "" for label in found) == [""] * 150 + ["a"]
