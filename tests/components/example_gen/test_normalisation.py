"""components.example_gen.normalisation: clean texts, and which ones are the same."""

import hashlib
import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

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
    "text, cleaned, removed",
    [
        ("a\u200bb\u2060c\ufeffd\u00ade\u180ef", "abcdef", 5),
        ("\u200e\u202bab\u202e\u2066c\u2069\u200f", "abc", 6),
        ("e\u200b\u0301", "\u00e9", 1),
        ("cat\u200d\u200cs", "cats", 2),
        ("\u200ccat \u200d", "cat", 2),
        ("\u200b \ufeff", "", 2),
        ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", None, 0),
        ("\u0915\u094d\u200d\u0937", None, 0),
        ("\u0645\u200c\u200d\u062e", None, 0),
        ("\U0001f469\u200d\U0001f52c", None, 0),
        ("\u0645\u200ca \u200c\u0645", "\u0645a \u0645", 2),
        ("e\u200c\u0301\u200c\u0645", "\u00e9\u0645", 2),
        ("\u3000\u200d\u0645", "\u0645", 1),
    ],
    ids=[
        "unseen", "direction", "between_letter_and_accent", "joiners_in_latin",
        "joiners_at_ends", "nothing_left", "persian", "devanagari", "run", "emoji",
        "half_latin", "joiner_after_composition", "joiner_after_space",
    ],
)  # fmt: skip
def test_what_has_no_width_is_removed_where_it_has_no_effect(text, cleaned, removed):
    assert normalisation.clean(text) == (text if cleaned is None else cleaned, removed)


# Where the rules meet: letters, accents, spaces, breaks, joiners, all that is removed.
SPECIAL = st.text(
    st.sampled_from(
        "ab\u00e9e\u0301\u0308\u0645\u0915\u094d\U0001f469 \u3000\t\n\r\x0b\x85"
        "\x00\x1e\x7f\u200b\u200c\u200d\u00ad\ufeff\u202e\ud800"
    )
)


@given(st.one_of(SPECIAL, st.text()))
def test_clean_text_is_clean_already(text):
    cleaned, _ = normalisation.clean(text)
    assert normalisation.clean(cleaned) == (cleaned, 0)
    cleaned.encode("utf-8")


@given(SPECIAL)
def test_characters_removed_are_those_that_are_missing(text):
    # Without accents nothing combines, so that lengths can be compared.
    text = text.replace("\u0301", "").replace("\u0308", "").replace("\r\n", "\n")
    inner = f"a{text}a"
    cleaned, removed = normalisation.clean(inner)
    assert len(cleaned) + removed == len(inner)


@pytest.mark.timeout(20)
def test_a_long_run_of_joiners_takes_no_longer_than_others():
    run = "\u200d" * 300_000
    assert normalisation.clean(f"\u0645{run}\u0645") == (f"\u0645{run}\u0645", 0)
    assert normalisation.clean(f"\u0645{run}a") == ("\u0645a", 300_000)
    assert normalisation.clean(f"{run}\u0645 " * 3)[1] == 900_000


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


def key_by_definition(text):
    """The long way, for every text: NFKC, case folding, NFKC, white space."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    folded = " ".join(unicodedata.normalize("NFKC", folded).split())
    return hashlib.sha256(folded.encode("utf-8")).digest()[:16]


@given(st.one_of(st.text(), st.text(st.characters(max_codepoint=0x2FF))))
@example("\x1c a \x1f\x85b")
@example("\u0130\ufb01\u01c5")
def test_key_of_a_text_without_zero_width_is_the_one_by_definition(text):
    text = re.sub(
        "[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]", "", text
    )
    assert normalisation.text_key(text) == key_by_definition(text)


def test_key_is_the_same_with_and_without_joiners():
    assert normalisation.text_key("\u0645\u06cc\u200c\u062e") == normalisation.text_key(
        "\u0645\u06cc\u062e"
    )


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


@pytest.mark.parametrize(
    "text, words",
    [
        ("Card lost?", ["card", "lost"]),
        ('He said: "No!"...', ["he", "said", "no"]),
        ("it's 3.50 e-mail", ["it's", "3.50", "e-mail"]),
        ("ｃａｒｄ STRASSE straße", ["card", "strasse", "strasse"]),
        ("退款 now", ["退", "款", "now"]),
        ("हिन्दी", ["हिन्दी"]),
        ("?! --", []),
    ],
    ids=["plain", "quoted", "inner", "width_and_case", "chinese", "marks", "none"],
)
def test_words_are_folded_without_closing_punctuation(text, words):
    assert normalisation.words(text) == words
