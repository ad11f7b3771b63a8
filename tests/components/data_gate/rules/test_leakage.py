"""Near duplicates across the splits: the share, the texts, the way through."""

import pytest

from components.data_gate.rules import leakage, near_duplicates, text_keys

TEXT = "Could you please tell me why my card payment was declined in the shop"


@pytest.fixture
def run(rows):
    def run(train, held, settings):
        splits = {
            "train": rows(*[(text, "a") for text in train]),
            "eval": rows(*[(text, "a") for text in held], prefix="e"),
        }
        return leakage.near_duplicates(splits, text_keys.keys_of(splits), settings)

    return run


OTHERS = ("A lost password", "Where is the refund", "Cancel the order")


@pytest.mark.parametrize(
    "max_share, severity", [(0.24, "stop"), (0.25, "note")], ids=["below", "at"]
)
def test_near_duplicates_stop_above_the_share(run, settings, max_share, severity):
    held = [f"{TEXT}s?", *OTHERS]
    (found,) = run([TEXT], held, settings(max_near_duplicate_share=max_share))
    assert (found.rule, found.severity) == ("near_duplicate", severity)
    assert found.examples == (f"'{TEXT}s?' (eval e0) and '{TEXT}' (train r0, 0.98)",)
    assert "(similarity 0.85 or more): 1 of 4 (25.00%)" in found.message


def test_near_duplicates_pass_with_what_is_offered(run, settings, allow):
    held = [f"{TEXT}s", *OTHERS[:2]]
    (found,) = run([TEXT], held, settings())
    (allowed,) = run([TEXT], held, allow(settings(), found))
    assert (found.severity, allowed.severity) == ("stop", "note")


def test_similarity_just_below_is_none(run, settings):
    similarity = near_duplicates.similarity_of(TEXT, f"{TEXT}s")
    at = settings(near_duplicate_similarity=similarity)
    above = settings(near_duplicate_similarity=similarity + 1e-9)
    assert len(run([TEXT], [f"{TEXT}s"], at)) == 1
    assert run([TEXT], [f"{TEXT}s"], above) == []


def test_equal_texts_are_left_to_the_rule_on_leaks(run, settings):
    assert run([TEXT], [TEXT.upper(), *OTHERS], settings()) == []


def test_texts_that_share_a_signature_with_too_many_are_named(
    run, settings, monkeypatch
):
    monkeypatch.setattr(near_duplicates, "MAX_COMPARED", 20)
    greeting = "kind regards from all of us at the support desk, please do not reply"
    train = [f"{greeting} {i * 7919:06} {i:06}" for i in range(99)]
    (found,) = run(train, [f"{greeting} about another matter"], settings())
    assert (found.rule, found.severity) == ("many_similar", "note")
    assert "(e0)" in found.examples[0]
