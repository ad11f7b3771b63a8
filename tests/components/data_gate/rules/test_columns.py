"""Slice columns without values, and ids that are empty or doubled."""

import pytest

from components.data_gate.rules import columns
from components.example_gen.examples import Example, stable_id


@pytest.fixture
def splits():
    """Rows whose channel is empty, `*_empty` times, or "web"."""

    def splits(train_empty, held_empty, train=4, held=4):
        def of(prefix, empty, total):
            return [
                Example("t", "a", f"{prefix}{i}", {"channel": "" if i < empty else "w"})
                for i in range(total)
            ]

        return {"train": of("r", train_empty, train), "eval": of("e", held_empty, held)}

    return splits


@pytest.mark.parametrize("train, held", [(3, 0), (0, 3)], ids=["train", "eval"])
def test_column_empty_in_too_many_rows_of_a_split_stops(splits, settings, train, held):
    (found,) = columns.missing_values(splits(train, held), settings())
    assert (found.rule, found.severity) == ("missing_value", "stop")
    assert found.allow == "data.gate.max_missing_share"
    assert "3 of 4" in found.examples[0]


def test_missing_values_are_told_with_their_rows(splits, settings):
    (found,) = columns.missing_values(splits(3, 1), settings())
    assert found.examples == (
        "'channel': 3 of 4 train rows (r0 't', r1 't', r2 't'), "
        "1 of 4 eval rows (e0 't')",
    )


def test_column_filled_as_often_as_asked_for_passes(splits, settings):
    assert columns.missing_values(splits(2, 2), settings()) == []


@pytest.mark.parametrize("train, held", [(3, 0), (2, 3)])
def test_missing_values_pass_with_what_is_offered(splits, settings, allow, train, held):
    (found,) = columns.missing_values(splits(train, held), settings())
    assert columns.missing_values(splits(train, held), allow(settings(), found)) == []


def test_column_filled_in_one_split_only_is_noted_where_it_is_allowed(
    splits, settings, allow
):
    (stop,) = columns.missing_values(splits(0, 4), settings())
    (note,) = columns.missing_values(splits(0, 4), allow(settings(), stop))
    assert (stop.severity, note.severity) == ("stop", "note")
    assert "0 of 4 train rows, 4 of 4 eval rows (e0" in note.message


def test_one_offer_is_enough_for_several_columns(settings, allow):
    train = [
        Example(
            "t", "a", f"r{i}", {"x": "" if i < 6 else "1", "y": "" if i < 9 else "1"}
        )
        for i in range(10)
    ]
    splits = {"train": train, "eval": train}
    (found,) = columns.missing_values(splits, settings())
    assert columns.missing_values(splits, allow(settings(), found)) == []


# Ids


def named(settings, column="id"):
    return settings().model_copy(update={"id": column})


def row(name, text="t"):
    return Example(text, "a", name, {})


def test_doubled_ids_are_noted(settings):
    splits = {"train": [row("7"), row("8"), row("7#2")], "eval": [row("8#2")]}
    (found,) = columns.doubtful_ids(splits, named(settings))
    assert (found.rule, found.severity) == ("repeated_id", "note")
    assert found.examples == ("7#2 't'", "8#2 't'")
    assert (
        "of the column 'id' that an earlier row has: 2: 7#2 't', 8#2 't'."
        in found.message
    )


def test_id_that_has_a_number_sign_of_its_own_is_not_noted(settings):
    splits = {"train": [row("case #7"), row("#8"), row("a#2")], "eval": []}
    assert columns.doubtful_ids(splits, named(settings)) == []


def test_empty_ids_are_noted_and_not_as_doubled(settings):
    made = stable_id("t", "a")
    splits = {"train": [row(made), row(f"{made}#2"), row("7")], "eval": []}
    (found,) = columns.doubtful_ids(splits, named(settings))
    assert (found.rule, found.severity) == ("empty_id", "note")
    assert found.examples == (f"{made} 't'", f"{made}#2 't'")
    assert "Rows without an id in the column 'id': 2: " in found.message


def test_ids_that_texttune_makes_are_not_noted(settings):
    made = stable_id("t", "a")
    splits = {"train": [row(made), row(f"{made}#2")], "eval": []}
    assert columns.doubtful_ids(splits, settings()) == []
