"""JSON Lines and JSON arrays: as they are written, or a refusal with its line."""

import pytest

from components.example_gen import json_records, reading


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
        ('{"text": "a"}\n<<<<<<< HEAD\n{}\n', 2, "there is the mark of a merge"),
        ('{"text": "a"}\n=======\n{}\n', 2, "there is the mark of a merge"),
        ('{"text": "a\0"}\n', 1, "there is a NUL byte"),
        ('{"text": ' + "[" * 100_000, 1, "this JSON is nested too deeply"),
    ],
    ids=[
        "bad_number", "no_object", "two_on_a_line", "pretty_printed", "doubled_key",
        "empty", "no_column", "conflict", "conflict_middle", "conflict_end", "nul",
        "deep",
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
        ('[{"text": "a"},\n<<<<<<< HEAD\n{}]', 2, "there is the mark of a merge"),
        ('[{"text": "a"}\n<<<<<<< HEAD\n,{}]', 2, "there is the mark of a merge"),
        ('[{"text": "a"}]\n>>>>>>> topic\n', 2, "there is the mark of a merge"),
        ('[{\n"text": "a"\n<<<<<<< HEAD\n}]', 3, "there is the mark of a merge"),
        ('[{\r"text": "a",\r=======\r}]', 3, "there is the mark of a merge"),
        ('[{"text": "a"},\n{"text": "b\0"}]', 2, "there is a NUL byte"),
        ("[" * 100_000, 1, "this JSON is nested too deeply"),
        ("[]", None, "there is a header and no row"),
    ],
    ids=[
        "bad_number", "no_comma", "cut", "no_end", "two_arrays", "no_object",
        "doubled_key", "conflict", "conflict_after_object", "conflict_at_end",
        "conflict_in_object", "conflict_cr_only", "nul", "deep", "empty",
    ],
)  # fmt: skip
def test_json_array_is_refused_with_line_and_cause(refusal, content, line, found):
    where = f"data.json, line {line}" if line else "data.json"
    assert refusal(content, "data.json").startswith(f"{where}: {found}")


def test_json_array_that_memory_does_not_hold_is_refused(refusal, monkeypatch):
    monkeypatch.setattr(json_records, "MAX_ARRAY_CHARACTERS", 20)
    assert "JSON Lines: `jq -c" in refusal('[{"text": "a", "label": "b"}]', "data.json")


def test_nan_is_no_value(pairs):
    content = '{"text": "hi", "label": NaN}\n{"text": "ho", "label": Infinity}\n'
    assert pairs(content, "data.jsonl") == [("hi", None), ("ho", "Infinity")]
