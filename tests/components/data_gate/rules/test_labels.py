"""Rules on labels: what each says, and what lets the same labels through."""

import pytest

from components.data_gate.findings import override
from components.data_gate.rules import labels


def test_single_label_stops(rows):
    (found,) = labels.single_label(rows(("one", "a"), ("two", "a")))
    assert found.severity == "stop"
    assert "All 2 train rows have the label 'a'" in found.message


def test_two_labels_are_no_single_label(rows):
    assert labels.single_label(rows(("one", "a"), ("two", "b"))) == []


def test_every_rare_label_is_named_with_its_rows(rows, settings):
    train = rows(*[("t", "a")] * 3, ("t", "b"), *[("t", "c")] * 2)
    (found,) = labels.rare_labels(train, settings(min_examples_per_label=3))
    assert found.severity == "stop"
    assert found.examples == ("'b' (1: r3 't')", "'c' (2: r4 't', r5 't')")
    assert found.allow == "data.gate.min_examples_per_label"
    assert "Labels with fewer than 3 train examples: 2 of 3: " in found.message


def test_rare_labels_pass_with_what_is_offered(rows, settings, allow):
    train = rows(*[("t", "a")] * 4, *[("t", "b")] * 2, *[("t", "c")] * 3)
    strict = settings(min_examples_per_label=4)
    (found,) = labels.rare_labels(train, strict)
    assert labels.rare_labels(train, allow(strict, found)) == []


@pytest.mark.parametrize("slip", ["refnud", "Refund!"], ids=["edit", "spelling"])
def test_rare_label_has_the_frequent_one_that_is_meant(rows, settings, slip):
    train = rows(*[("t", "refund")] * 4, ("t", slip))
    (found,) = labels.rare_labels(train, settings(min_examples_per_label=2))
    assert found.examples == (f"{slip!r} (1: r4 't'; did you mean 'refund'?)",)


def test_label_that_train_never_has_is_named_with_its_rows(rows):
    held = rows(("x", "Refund"), ("y", "Refund"), ("z", "new"), prefix="e")
    splits = {"train": rows(("t", "refund"), ("u", "other")), "eval": held}
    (found,) = labels.unseen_labels(splits)
    assert found.severity == "stop"
    assert found.examples == (
        "'Refund' (2 rows: e0 'x', e1 'y'; did you mean 'refund'?)",
        "'new' (1 row: e2 'z')",
    )


def test_labels_that_train_has_are_not_unseen(rows):
    train = rows(("t", "a"), ("u", "b"))
    assert labels.unseen_labels({"train": train, "eval": train[:1]}) == []


def test_long_label_is_shown_in_short(rows, settings):
    train = rows(("one", "a"), ("two", "b" * 10_000))
    (found,) = labels.rare_labels(train, settings(min_examples_per_label=2))
    assert len(found.message) < 500


# Similar labels


@pytest.mark.parametrize(
    "slip, rows_of_it",
    [("Card lost", 50), ("card_lost?", 1), ("card_lsot", 5)],
    ids=["as_frequent", "mark", "edit"],
)
def test_label_in_two_spellings_stops(rows, settings, slip, rows_of_it):
    train = rows(*[("t", "card_lost")] * 50, *[("t", slip)] * rows_of_it)
    (found,) = labels.similar_labels(train, settings())
    assert (found.rule, found.severity) == ("similar_labels", "stop")
    # Of two that are as frequent, the first by its name is told as the one meant.
    told = {slip, "card_lost"}
    assert all(name in found.examples[0] for name in told)


def test_similar_label_is_told_with_its_rows_and_the_frequent_one(rows, settings):
    train = rows(*[("t", "card_lost")] * 5, *[("t", "Card lost")] * 4)
    (found,) = labels.similar_labels(train, settings())
    assert found.examples == (
        "'Card lost' (4 rows: r5 't', r6 't', r7 't' and 1 more) "
        "beside 'card_lost' (5 rows)",
    )


@pytest.mark.parametrize(
    "slip, rows_of_it",
    [("card_lsot", 6), ("card_list1", 1), ("lost_card", 1)],
    ids=["too_frequent_for_a_slip", "digit", "other"],
)
def test_labels_that_differ_enough_pass(rows, settings, slip, rows_of_it):
    train = rows(*[("t", "card_lost")] * 50, *[("t", slip)] * rows_of_it)
    assert labels.similar_labels(train, settings()) == []


@pytest.mark.parametrize(
    "slip",
    [
        "Card lost",
        "card-lost: ",
        "'card', [lost]",
        'Card "lost"',
        "Card\tlost",
        "- card lost",
        "{card_lost}",
        "*card_lost",
        "!card_lost",
        "&card_lost % \\n",
        "card_lost\u2028",
        "cárd lost",
    ],
)
def test_similar_labels_pass_with_what_is_offered(rows, settings, allow, slip):
    base = "cardlostn" if slip.endswith("n") else "cardlost"
    train = rows(*[("t", base)] * 5, ("t", slip))
    (found,) = labels.similar_labels(train, settings())
    assert labels.similar_labels(train, allow(settings(), found)) == []


def test_offer_keeps_what_is_allowed_already(rows, settings, allow):
    train = rows(*[("t", "aa")] * 3, ("t", "AA"), *[("t", "bb")] * 3, ("t", "BB"))
    first = settings(allow_similar_labels=["AA"])
    (found,) = labels.similar_labels(train, first)
    assert [name.split()[0] for name in found.examples] == ["'BB'"]
    assert allow(first, found).gate.allow_similar_labels == ("AA", "BB")


def test_either_label_of_a_pair_may_be_allowed(rows, settings):
    train = rows(*[("t", "refund")] * 50, ("t", "refunds"))
    for label in ("refund", "refunds"):
        assert (
            labels.similar_labels(train, settings(allow_similar_labels=[label])) == []
        )


def test_many_similar_labels_are_told_in_bounded_length(rows, settings):
    pairs = [("t", f"{case} {'x' * 90} a{i}") for i in range(99) for case in "bB"]
    (found,) = labels.similar_labels(rows(*pairs), settings())
    assert len(found.examples) == 99
    assert len(found.message) < 5000
    assert "list them as `data.gate.allow_similar_labels`" in found.message


def test_labels_that_are_yaml_of_other_kinds_stay_texts():
    written = override("data.gate.allow_similar_labels", ["1", "no", "null", "~"])
    assert written == (
        """--set 'data.gate.allow_similar_labels=["1", "no", "null", "~"]'"""
    )
