"""Tokens of ROUGE: rouge-score's on Latin text, words or characters elsewhere."""

import random
import string

import pytest
from nltk.stem import porter
from rouge_score import tokenize as rouge_tokenize

from trainer_module.scoring import tokens

LATIN = [
    "The cards were declined twice!",
    "Überweisung über 1.250,50 EUR — dankeschön",
    "don't stop-me_now",
    "İstanbul'da kart ıslandı",
    "flies FLYING flew, ties dies skies; agreed aged",
    "a\u00a0b\tc\nd\r\ne",
    "  ",
    "",
]


@pytest.mark.parametrize("text", LATIN)
def test_latin_text_has_the_tokens_of_rouge_score(text):
    assert tokens.tokenize(text) == rouge_tokenize.tokenize(
        text, porter.PorterStemmer()
    )


def test_random_latin_text_has_the_tokens_of_rouge_score():
    stemmer, dice = porter.PorterStemmer(), random.Random(5)
    letters = string.ascii_letters + string.digits + " .,-'\n" + "éßñİ"
    for _ in range(300):
        text = "".join(dice.choices(letters, k=60))
        assert tokens.tokenize(text) == rouge_tokenize.tokenize(text, stemmer)


def test_characters_of_unspaced_scripts_are_tokens():
    found = tokens.tokenize("我的Cards到了，ok ไทย カ")
    assert found == ["我", "的", "card", "到", "了", "ok", "ไ", "ท", "ย", "カ"]


def test_words_of_other_spaced_scripts_are_tokens_without_their_marks():
    found = tokens.tokenize("«Карта, VISA» हिन्दी। 카드")
    assert found == ["карта", "visa", "हिन्दी", "카드"]


@pytest.mark.parametrize(
    "text, sentences",
    [
        ("Late. Why? Nobody knows!", ["Late.", "Why?", "Nobody knows!"]),
        ("卡还没到。没人知道！", ["卡还没到。", "没人知道！"]),
        ("one\n\ntwo. three", ["one", "two.", "three"]),
        ("at 3.50 EUR", ["at 3.50 EUR"]),
        ("", []),
    ],
)
def test_sentences_end_with_a_line_or_a_final_mark(text, sentences):
    assert tokens.sentences(text) == sentences


def test_tokens_of_the_sentences_are_those_of_the_text():
    text = "Late. Why? ΟΔΟΣ. ΟΔΟΣ!\n我的卡。İs. don't\tgo"
    joined = [t for s in tokens.sentences(text) for t in tokens.tokenize(s)]
    assert joined == tokens.tokenize(text)
