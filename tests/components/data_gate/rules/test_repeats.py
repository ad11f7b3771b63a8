"""Equal texts: leaked, contradicting, repeated."""

import pytest

from components.data_gate.rules import repeats, text_keys


def run(rule, splits, settings):
    return rule(splits, text_keys.keys_of(splits), settings)


@pytest.mark.parametrize(
    "max_share, severity",
    [(0.0, "stop"), (0.24, "stop"), (0.25, "note"), (1.0, "note")],
    ids=["default", "below", "at", "all"],
)
def test_text_in_both_splits_stops_above_the_share(rows, settings, max_share, severity):
    splits = {
        "train": rows(("one", "a"), ("two", "b")),
        "eval": rows((" ONE ", "a"), ("x", "a"), ("y", "a"), ("z", "a"), prefix="e"),
    }
    (found,) = run(repeats.leaked_texts, splits, settings(max_leaked_share=max_share))
    assert (found.rule, found.severity) == ("leaked_text", severity)
    assert found.examples == ("'ONE' (eval e0, train r0)",)
    assert "1 of 4 (25.00%): 'ONE'" in found.message


def test_leak_shows_three_texts_and_offers_a_share_that_is_enough(
    rows, settings, allow
):
    pairs = [(f"text {i}", "ab"[i % 2]) for i in range(7)]
    held = rows(*pairs[:5], ("x", "a"), ("y", "a"), prefix="e")
    splits = {"train": rows(*pairs), "eval": held}
    (found,) = run(repeats.leaked_texts, splits, settings())
    assert len(found.examples) == 3
    assert "and 2 more" in found.message
    assert "max_leaked_share=0.715`" in found.message
    (allowed,) = run(repeats.leaked_texts, splits, allow(settings(), found))
    assert allowed.severity == "note"


def test_texts_of_one_split_only_are_no_leak(rows, settings):
    splits = {"train": rows(("one", "a")), "eval": rows(("two", "a"), prefix="e")}
    assert run(repeats.leaked_texts, splits, settings()) == []


# Contradictions


@pytest.mark.parametrize(
    "max_share, severity", [(0.49, "stop"), (0.5, "note")], ids=["below", "at"]
)
def test_text_with_two_labels_stops_above_the_share(
    rows, settings, max_share, severity
):
    train = rows(("one", "a"), ("One", "b"), ("two", "b"), ("three", "b"))
    splits = {"train": train, "eval": []}
    allowed = settings(max_contradicting_share=max_share)
    (found,) = run(repeats.contradicting_labels, splits, allowed)
    assert (found.rule, found.severity) == ("contradicting_labels", severity)
    assert found.examples == ("'one' ('a' in train r0, 'b' in train r1)",)
    assert "1 of the train split, on 2 of 4 rows (50.00%)" in found.message


def test_contradictions_pass_with_what_is_offered(rows, settings, allow):
    train = rows(("one", "a"), ("one", "b"), ("two", "b"))
    splits = {"train": train, "eval": []}
    (found,) = run(repeats.contradicting_labels, splits, settings())
    (allowed,) = run(repeats.contradicting_labels, splits, allow(settings(), found))
    assert (found.severity, allowed.severity) == ("stop", "note")


def test_other_label_in_eval_is_noted(rows, settings):
    splits = {
        "train": rows(("one", "a"), ("two", "b")),
        "eval": rows(("ONE", "b"), ("two", "b"), prefix="e"),
    }
    (found,) = run(repeats.contradicting_labels, splits, settings())
    assert found.severity == "note"
    assert found.examples == ("'one' ('a' in train r0, 'b' in eval e0)",)
    assert "and 1 that train and eval label differently" in found.message


def test_one_label_for_each_text_is_no_contradiction(rows, settings):
    splits = {"train": rows(("one", "a"), ("one", "a"), ("two", "b")), "eval": []}
    assert run(repeats.contradicting_labels, splits, settings()) == []


# Repeats


def test_repeated_rows_above_one_percent_are_noted(rows):
    train = rows(*[(f"text {i}", "a") for i in range(97)], *[("Text 5", "a")] * 2)
    (found,) = repeats.repeated_rows(
        train, text_keys.keys_of({"train": train, "eval": []})
    )
    assert (found.rule, found.severity) == ("repeated_row", "note")
    assert found.examples == ("'Text 5' (r97 as r5)", "'Text 5' (r98 as r5)")
    assert "2 of 99 (2.02%)" in found.message


@pytest.mark.parametrize(
    "copy", [("text 5", "a"), ("text 5", "b")], ids=["one_percent", "other_label"]
)
def test_few_copies_and_other_targets_are_not_noted(rows, copy):
    train = rows(*[(f"text {i}", "a") for i in range(99)], copy)
    keys = text_keys.keys_of({"train": train, "eval": []})
    assert repeats.repeated_rows(train, keys) == []
