"""The script that a text is mainly written in, by Unicode's Script property. Pure."""

import functools
from collections import Counter

import regex

NO_LETTERS, OTHER = "no letters", "other"
_SCRIPTS = (
    *("Latin", "Han", "Hiragana", "Katakana", "Hangul", "Cyrillic", "Greek", "Arabic"),
    *("Hebrew", "Devanagari", "Bengali", "Gurmukhi", "Gujarati", "Oriya", "Tamil"),
    *("Telugu", "Kannada", "Malayalam", "Sinhala", "Thai", "Lao", "Khmer", "Myanmar"),
    *("Tibetan", "Georgian", "Armenian", "Ethiopic", "Mongolian"),
)
_LETTER = regex.compile(
    "|".join(rf"(?P<{s}>\p{{Script={s}}})" for s in _SCRIPTS) + r"|(?P<other>\p{L})"
)


def main_script(text: str) -> str:
    """The script with the most letters: "Latin", "Han", "Cyrillic" and so on.

    Returns:
      `OTHER` for a rarer script, and `NO_LETTERS` for digits and signs alone.
    """
    if text.isascii():
        return "Latin" if any(c.isalpha() for c in text) else NO_LETTERS
    letters: Counter[str] = Counter()
    for character, times in Counter(text).items():
        if script := _script_of(character):
            letters[script] += times
    return letters.most_common(1)[0][0] if letters else NO_LETTERS


@functools.lru_cache(maxsize=1 << 16)
def _script_of(character: str) -> str | None:
    """None for what is no letter, such as a digit, a sign or an emoji."""
    found = _LETTER.match(character)
    return found.lastgroup if found else None
