"""components.evaluator.slices: names and their order."""

import pytest

from components.evaluator import slices


@pytest.mark.parametrize(
    "key, name",
    [
        ((), "Overall"),
        ((("language", "en"),), "language: en"),
        ((("language", "退款".encode()),), "language: 退款"),
        ((("language", b"\xff"),), "language: \N{REPLACEMENT CHARACTER}"),
        ((("language", "en"), ("channel", 3)), "language: en, channel: 3"),
    ],
    ids=["all_rows", "text", "utf8", "not_utf8", "crossed"],
)
def test_name(key, name):
    assert slices.name(key) == name


@pytest.mark.parametrize(
    "ordered",
    [
        ["Overall", "channel: app", "channel: phone", "language: en"],
        ["text_length: up to 8 words", "text_length: 9 to 16 words"]
        + ["text_length: over 16 words"],
        ["release: beta", "release: v2", "release: v10"],
    ],
    ids=["all_rows_first", "length_bands", "numbers"],
)
def test_order(ordered):
    assert slices.in_order(reversed(ordered)) == ordered


def test_a_name_that_comes_twice_is_shown_once():
    assert slices.in_order(["a: 1", "Overall", "a: 1"]) == ["Overall", "a: 1"]
