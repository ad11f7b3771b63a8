"""Which labels are one in two spellings, and which are not."""

import pytest

from components.data_gate.rules import spelling


@pytest.mark.parametrize(
    "a, b",
    [
        ("Card lost", "card_lost"),
        ("card-lost", "card lost?"),
        ("Rückgabe", "ruckgabe"),
        ("Straße", "STRASSE"),
        ("Ａ１", "a1"),
        ("İstanbul", "istanbul"),
        ("“refund”", "refund"),
        ("level 1", "level_1"),
        ("❤", "❤\ufe0f"),
        ("reverted_card_payment?", "reverted card payment"),
    ],
)
def test_spellings_of_one_label_have_one_key(a, b):
    assert spelling.label_key(a) == spelling.label_key(b)


@pytest.mark.parametrize(
    "labels",
    [
        ("?", "!", "...", "-", "_"),
        ("👍", "👎", "❤"),
        ("👍 yes", "👎 yes", "yes"),
        ("1", "-1", "+1"),
        ("A", "A+", "A-"),
        ("C", "C++", "C#"),
        ("1.5", "15"),
        ("<10", ">10"),
        ("かき", "かぎ"),
        ("की", "का"),
        ("退款", "退貨"),
    ],
)
def test_labels_that_marks_tell_apart_keep_their_keys(labels):
    assert len({spelling.label_key(label) for label in labels}) == len(labels)


@pytest.mark.parametrize(
    "a, b, apart",
    [
        ("refund", "refunds", True),
        ("refund", "efund", True),
        ("refund", "retund", True),
        ("refund", "refnud", True),
        ("refund", "refund", False),
        ("refund", "refuse", False),
        ("abcde", "badce", False),
        ("refund", "refundxx", False),
    ],
)
def test_one_edit(a, b, apart):
    assert spelling.one_edit_apart(a, b) is apart
    assert spelling.one_edit_apart(b, a) is apart


def test_rare_label_an_edit_away_from_a_frequent_one_is_misspelt():
    counts = {"card_lost": 50, "card_lsot": 5, "card_lots": 6, "other": 50}
    assert spelling.misspelt(counts, ratio=10) == {"card_lsot": "card_lost"}


@pytest.mark.parametrize(
    "rare, frequent",
    [("level_1", "level_2"), ("time", "tame"), ("buy", "buys")],
    ids=["digits", "short", "short_and_longer"],
)
def test_other_digits_and_short_labels_are_not_misspelt(rare, frequent):
    assert spelling.misspelt({rare: 1, frequent: 100}, ratio=10) == {}


def test_most_frequent_of_several_is_meant():
    counts = {"refun": 1, "refund": 100, "refuns": 20}
    assert spelling.misspelt(counts, ratio=10)["refun"] == "refund"


def test_group_begins_with_its_most_frequent_label():
    counts = {"Card lost": 2, "card_lost": 9, "CARD-LOST": 2, "other": 1}
    assert spelling.groups(counts) == [["card_lost", "CARD-LOST", "Card lost"]]
