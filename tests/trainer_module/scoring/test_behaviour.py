"""Signs of a bad summary: present where a reader would see them, and nowhere else."""

import pytest

from trainer_module.scoring import behaviour

SOURCE = (
    "My Visa card was declined twice in Porto on 12/05 for 1,250.50 EUR. "
    "Nobody at the hotline could tell me why."
)
REFERENCE = "A card was declined twice in Porto."


def sign(name, prediction, *, source=SOURCE, references=(REFERENCE,)):
    return behaviour.signs(source, references, prediction)[name]


def test_good_summary_shows_no_sign():
    signs = behaviour.signs(
        SOURCE, [REFERENCE], "The card was declined twice in Porto."
    )
    assert signs == {
        "empty": 0.0,
        "truncated": 0.0,
        "copied": 0.0,
        "repetition": 0.0,
        "length_ratio": 1.0,
        "unseen_numbers": 0.0,
        "unseen_names": 0.0,
    }


@pytest.mark.parametrize(
    "text, empty", [("", 1), (" \n", 1), ("...", 1), ("🙂", 1), ("ok", 0), ("卡", 0)]
)
def test_text_without_letters_and_digits_is_empty(text, empty):
    assert sign("empty", text) == empty


@pytest.mark.parametrize(
    "text, references, truncated",
    [
        ("A card was", [REFERENCE], 1),
        ("A card was declined.", [REFERENCE], 0),
        ('He said "declined!" ', [REFERENCE], 0),
        ("(declined?)", [REFERENCE], 0),
        ("卡被拒", ["卡被拒绝了。"], 1),
        ("卡被拒绝了。", ["卡被拒绝了。"], 0),
        ("card declined", ["card declined twice"], 0),  # Nobody ends with a mark.
        ("card declined", ["card declined", REFERENCE], 1),
        ("", [REFERENCE], 0),  # Empty is a sign of its own.
    ],
)
def test_end_without_the_mark_of_a_reference_is_truncated(text, references, truncated):
    assert sign("truncated", text, references=references) == truncated


@pytest.mark.parametrize(
    "text, copied",
    [
        ("my visa card was declined", 1),
        ("Declined twice, in Porto on 12/05!", 1),
        ("visa card was declined", 0),  # Four words are a phrase.
        ("My card was declined twice", 0),
        (SOURCE, 1),
        ("y Visa card was declined", 0),  # Part of a word is no word.
    ],
)
def test_verbatim_run_of_the_source_is_copied(text, copied):
    assert sign("copied", text) == copied


@pytest.mark.parametrize(
    "text, repetition",
    [
        ("the card the card the card", 1 - 2 / 4),
        ("a b c d e", 0.0),
        ("a b", 0.0),
        ("", 0.0),
        ("no no no no no", 1 - 1 / 3),
    ],
)
def test_triples_written_before_are_repetition(text, repetition):
    assert sign("repetition", text) == pytest.approx(repetition)


def test_length_is_held_against_the_reference_nearest_in_length():
    references = ["one two", "one two three four five six"]
    assert sign("length_ratio", "a b c", references=references) == 3 / 2
    assert sign("length_ratio", "a b c d e", references=references) == 5 / 6
    assert sign("length_ratio", "a b", references=["..."]) == 2.0


@pytest.mark.parametrize(
    "text, unseen",
    [
        ("Declined for 1250.50", 0),
        ("Declined for 1.250,50", 0),
        ("Declined for 1,250", 1),
        ("Declined on 12/05", 0),
        ("Declined on 5/12", 1),
        ("Declined ١٢-٠٥", 0),  # Arabic digits of 12 and 05.
        ("Declined 3 times", 1),
        ("Declined", 0),
    ],
)
def test_number_of_neither_source_nor_reference_is_unseen(text, unseen):
    assert sign("unseen_numbers", text) == unseen


@pytest.mark.parametrize(
    "text, unseen",
    [
        ("The card failed in Porto", 0),
        ("The card failed in Lisbon", 1),
        ("Lisbon declined it", 0),  # A sentence begins with a capital anyway.
        ("Declined. Lisbon did. In Porto", 0),
        ("The Visa's owner and the VISA desk", 0),
        ("The Hotlines know", 0),  # Another form of a word of the source.
        ("Then I called", 0),
        ("Карта отклонена в Москве", 1),
        ("我的卡被拒绝了", 0),
    ],
)
def test_capitalised_word_of_neither_source_nor_reference_is_unseen(text, unseen):
    assert sign("unseen_names", text) == unseen


def test_what_a_reference_says_is_known():
    references = ["Declined in Lisbon, 3 times."]
    signs = behaviour.signs(SOURCE, references, "The card failed 3 times in Lisbon.")
    assert (signs["unseen_numbers"], signs["unseen_names"]) == (0.0, 0.0)


def test_text_of_140_000_characters_has_signs():
    text = "Card 12, declined. " * 7_400
    signs = behaviour.signs(text, [REFERENCE], text)
    assert signs["copied"] == 1.0
    assert signs["repetition"] > 0.99
