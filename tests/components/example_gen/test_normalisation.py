"""components.example_gen.normalisation: clean texts, and which ones are the same."""

import pytest

from components.example_gen import normalisation


@pytest.mark.parametrize(
    "text, cleaned, removed",
    [
        ("  hi\n", "hi", 0),
        ("cafe\u0301", "caf\u00e9", 0),
        ("a\r\nb\rc\x0cd", "a\nb\nc\nd", 0),
        ("a\tb", "a\tb", 0),
        ("a\x07b\x1ec\x00", "abc", 3),
        ("\u00a0hi\u00a0there\u3000", "hi\u00a0there", 0),
        ("a\ud800b", "ab", 1),
        ("family \U0001f468\u200d\U0001f469", "family \U0001f468\u200d\U0001f469", 0),
        (" \x1f ", "", 1),
    ],
    ids=[
        "stripped", "nfc", "line_breaks", "tab", "control", "hard_space", "surrogate",
        "joined_emoji", "nothing_left",
    ],
)  # fmt: skip
def test_clean_keeps_the_text_and_counts_what_it_removes(text, cleaned, removed):
    assert normalisation.clean(text) == (cleaned, removed)


@pytest.mark.parametrize(
    "other",
    [
        "Where is my card?",
        " where  is\nmy card? ",
        "WHERE IS MY CARD?",
        "ｗhere is my card？",
    ],
    ids=["case", "white_space", "upper_case", "full_width"],
)
def test_key_is_the_same_for_copies(other):
    assert normalisation.text_key(other) == normalisation.text_key("where is my card?")


def test_key_differs_for_other_words():
    assert normalisation.text_key("my card") != normalisation.text_key("my cards")


def test_shares_are_spread_evenly():
    shares = [
        normalisation.share_of(normalisation.text_key(str(i))) for i in range(2000)
    ]
    assert 0 <= min(shares) and max(shares) < 1
    assert 360 < sum(share < 0.2 for share in shares) < 440


@pytest.mark.parametrize(
    "text, words",
    [
        ("", 0),
        ("it doesn't - really - work", 4),
        ("(one) two, three", 3),
        ("我的卡在哪里？", 6),
        ("VISA卡がない", 5),
        ("내 카드가 어디에", 3),
        ("12 €", 1),
    ],
    ids=["none", "dashes", "brackets", "chinese", "mixed", "korean", "digits"],
)
def test_words_are_counted_in_every_script(text, words):
    assert normalisation.count_words(text) == words


@pytest.mark.parametrize(
    "words, band",
    [
        (1, "up to 20 words"),
        (20, "up to 20 words"),
        (21, "21 to 60 words"),
        (60, "21 to 60 words"),
        (61, "over 60 words"),
    ],
    ids=str,
)
def test_length_band_includes_its_upper_limit(words, band):
    assert normalisation.length_band("word " * words, (20, 60)) == band


def test_excerpt_is_one_line_of_at_most_80_characters():
    assert normalisation.excerpt("two\nlines") == "two lines"
    assert normalisation.excerpt("x" * 80) == "x" * 80
    assert normalisation.excerpt("x" * 81) == "x" * 79 + "…"
