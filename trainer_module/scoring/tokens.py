"""Words and sentences, in the sense of ROUGE, of any script.

On text in Latin letters these are exactly rouge-score's tokens: runs of a-z and 0-9 of
the text in lower case, those of more than three characters as their Porter stems. Of
other scripts a token is a word in lower case, or a character where words are not
parted by spaces; rouge-score itself drops them all, and so gives two identical Chinese
or Russian texts a score of 0.
"""

import functools
import re
import unicodedata
from typing import Any

# Scripts that put no space between words: each character is a token of its own.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u312f\u31a0-\u31ff"
    "\u3400-\u4dbf\u4e00-\ua4cf\ua980-\ua9ff\uaa60-\uaa7f\uf900-\ufaff"
    "\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
# Scripts with spaces that are not Latin: Greek, Cyrillic, Arabic, Hindi, Korean, ...;
# and the full-width letters of Japanese and Chinese text.
_SPACED = (
    "\u0370-\u0dff\u0f00-\u0fff\u10a0-\u177f\u1800-\u1cff\u1f00-\u1fff"
    "\u2c00-\u2c5f\u2c80-\u2dff\ua4d0-\ua6ff\ua800-\ua97f\uaa00-\uaa5f"
    "\uaa80-\uab2f\uab70-\ud7ff\ufb13-\ufdff\ufe70-\ufefc\uff10-\uff5a"
    "\U00010280-\U0001afff\U0001c000-\U0001efff"
)
_NOT_LATIN = re.compile(f"[{_UNSPACED}]|[{_SPACED}]+")
_UNSPACED_CHARACTER = re.compile(f"[{_UNSPACED}]")
_LATIN_WORD = re.compile("[a-z0-9]+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")

_LONGEST_UNSTEMMED = 3
_STEMS_KEPT = 1 << 17


def tokenize(text: str) -> list[str]:
    """The tokens of a text, in its order."""
    tokens: list[str] = []
    last = 0
    for match in _NOT_LATIN.finditer(text):
        tokens += _latin_tokens(text[last : match.start()])
        tokens += _other_tokens(match.group())
        last = match.end()
    return tokens + _latin_tokens(text[last:])


def sentences(text: str) -> list[str]:
    """Parts of a text that end with a line or a final mark; nothing is downloaded."""
    parts = (part for line in text.split("\n") for part in _SENTENCE_END.split(line))
    return [part for part in parts if part]


def part_unspaced(text: str) -> str:
    """The text with spaces around each character of a script that has none."""
    return _UNSPACED_CHARACTER.sub(r" \g<0> ", text)


def _latin_tokens(text: str) -> list[str]:
    words = _LATIN_WORD.findall(text.lower())
    return [_stem(w) if len(w) > _LONGEST_UNSTEMMED else w for w in words]


@functools.lru_cache(maxsize=_STEMS_KEPT)
def _stem(word: str) -> str:
    """The stem; kept, since most words of a text were met before."""
    return _stemmer().stem(word)


@functools.lru_cache(maxsize=1)
def _stemmer() -> Any:
    from nltk.stem import porter

    return porter.PorterStemmer()


def _other_tokens(text: str) -> list[str]:
    """The words, without punctuation; vowel signs are part of their word."""
    kept = (c if unicodedata.category(c)[0] in "LMN" else " " for c in text)
    return "".join(kept).lower().split()
