"""components.example_gen.examples: rows to the feature contract."""

import pytest

from components.example_gen import examples
from components.example_gen.examples import Mapper, UniqueNames
from components.example_gen.reading import Row


@pytest.fixture
def map_row(settings):
    """Maps cells to an example."""

    def map_row(cells, task="classification", **changes):
        return Mapper(settings(**changes), task)(Row(2, cells))

    return map_row


def test_row_becomes_bytes_under_the_contract(map_row):
    example = map_row(
        {"text": " hi ", "label": " 01 ", "nr": "7", "channel": "web  chat"},
        id="nr",
        slices=("channel", "region"),
    )
    assert example.features() == {
        "text": b"hi",
        "target": b"01",
        "example_id": b"7",
        "channel": b"web chat",
        "region": b"",
    }


@pytest.mark.parametrize(
    "cells, reason",
    [
        ({"text": "", "label": "a"}, "empty text"),
        ({"text": " \u3000\x07", "label": "a"}, "empty text"),
        ({"text": None, "label": "a"}, "empty text"),
        ({"text": ("", " "), "label": "a"}, "empty text"),
        ({"label": "a"}, "empty text"),
        ({"text": "hi", "label": "  "}, "empty target"),
        ({"text": "hi", "label": None}, "empty target"),
        ({"text": "hi", "label": "a\nb"}, "newline in the label"),
        ({"text": "hi", "label": "a\r\nb"}, "newline in the label"),
        ({"text": "hi", "label": ("a", "b")}, "more than one label"),
    ],
    ids=[
        "empty", "blank", "null", "blank_list", "absent", "blank_label", "null_label",
        "newline", "crlf", "two_labels",
    ],
)  # fmt: skip
def test_row_of_no_use_is_rejected_with_its_reason(map_row, cells, reason):
    with pytest.raises(examples.RowRejected, match=reason):
        map_row(cells)
    assert reason in examples.REASONS


def test_summary_may_have_lines(map_row):
    example = map_row({"text": "hi", "label": "a\nb"}, task="summarization")
    assert example.target == "a\nb"


def test_list_of_targets_is_kept_as_references(map_row):
    cells = {"text": "hi", "label": ("one\x1estill one", " ", "two")}
    example = map_row(cells, task="summarization")
    assert example.target == "onestill one\x1etwo"


def test_list_of_texts_is_joined_by_the_separator(map_row):
    cells = {"text": (" one.", "two. "), "label": "a"}
    assert map_row(cells).text == "one.\ntwo."
    assert map_row(cells, list_separator=" ").text == "one. two."


def test_id_without_a_column_depends_on_text_and_target_alone(map_row):
    first = map_row({"text": "hi", "label": "a"}).example_id
    assert map_row({"text": " hi", "label": "a "}).example_id == first
    assert map_row({"text": "hi", "label": "b"}).example_id != first
    assert map_row({"text": "hi", "label": "a", "nr": " "}, id="nr").example_id == first


def test_names_that_come_again_are_numbered():
    names = UniqueNames()
    wanted = ["7", "7", "7#2", "8", "7", "7#2"]
    given = [names.name(name) for name in wanted]
    assert given == ["7", "7#2", "7#2#2", "8", "7#3", "7#2#3"]
    assert len(set(given)) == len(given)


def test_names_are_unique_among_the_rows_of_a_file(settings):
    to_example = Mapper(settings(id="nr"), "classification")
    rows = [Row(n, {"text": f"t{n}", "label": "a", "nr": "7"}) for n in (2, 3)]
    assert [to_example(row).example_id for row in rows] == ["7", "7#2"]


def test_removed_characters_are_those_of_the_last_row(settings):
    to_example = Mapper(settings(), "classification")
    for text, removed in (("a\x07\x07b", 2), ("ab", 0)):
        to_example(Row(2, {"text": text, "label": "a"}))
        assert to_example.removed == removed


def test_split_key_is_of_the_text_or_of_the_named_column(settings):
    rows = [
        Row(2, {"text": "one", "label": "a", "customer": "K 1"}),
        Row(3, {"text": "two", "label": "a", "customer": "k  1"}),
        Row(4, {"text": "one", "label": "a", "customer": " "}),
    ]

    def keys(**changes):
        to_example = Mapper(settings(**changes), "classification")
        return [to_example.split_key(to_example(row), row) for row in rows]

    by_text, by_customer = keys(), keys(split_by="customer")
    assert by_text[0] == by_text[2] != by_text[1]
    assert by_customer[0] == by_customer[1] != by_customer[2] == by_text[2]
