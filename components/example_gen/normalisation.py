"""What a text is after reading, and when two texts are the same. Pure."""

import hashlib
import re
import unicodedata
from collections.abc import Sequence

# \x1e, which parts the references of a target, is one of these: see scoring.
_CONTROL = r"\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff"
# Soft hyphen, zero-width space, word joiner, byte-order mark, marks of direction.
_UNSEEN = r"\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff"
_JOINERS = r"\u200c\u200d"
_BREAKS = r"\r\x0b\x0c\x85"

_REMOVED = re.compile(f"[{_CONTROL}{_UNSEEN}]")
_LINE_BREAK = re.compile(rf"\r\n|[{_BREAKS}]")
_NOTABLE = re.compile(f"[{_CONTROL}{_UNSEEN}{_JOINERS}{_BREAKS}]")
_ZERO_WIDTH = re.compile(f"[{_UNSEEN}{_JOINERS}]")
# Joiners shape Persian, the scripts of India and emoji; beside Latin letters and spaces
# and at an end they do nothing. A run of them is kept or removed as a whole.
# As a class and a repetition, not `+`: re scans faster for a pattern like that.
_RUN_OF_JOINERS = re.compile(f"[{_JOINERS}][{_JOINERS}]*")
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}][^\s{_UNSPACED}]*")
_CLOSING = ".,;:!?)]}\"'…»”’"


def clean(text: str) -> tuple[str, int]:
    """NFC, one kind of line break, nothing that is not seen, stripped.

    Removed are control characters but \\n and \\t, surrogates without their partner,
    which JSON can hold and UTF-8 cannot, and characters of no width; joiners (U+200C,
    U+200D) only where they have no effect: unless both neighbours are beyond U+02FF.

    Returns:
      (text, characters removed).
    """
    removed = 0
    if _NOTABLE.search(text):
        text, removed = _REMOVED.subn("", _LINE_BREAK.sub("\n", text))
    if text.isascii():
        return text.strip(), removed
    text = unicodedata.normalize("NFC", text).strip()
    if "\u200c" in text or "\u200d" in text:
        text, idle = _without_idle_joiners(text)
        removed += idle
    return text, removed


def _without_idle_joiners(text: str) -> tuple[str, int]:
    removed = 0
    while True:
        shorter = _RUN_OF_JOINERS.sub(_kept_if_it_joins, text)
        if len(shorter) == len(text):
            return text, removed
        removed += len(text) - len(shorter)
        # What they kept apart combines, and may then be beside another one.
        text = unicodedata.normalize("NFC", shorter).strip()


def _kept_if_it_joins(run: re.Match[str]) -> str:
    start, end = run.span()
    before, after = run.string[max(start - 1, 0) : start], run.string[end : end + 1]
    return run.group() if _is_joined(before) and _is_joined(after) else ""


def _is_joined(neighbour: str) -> bool:
    return neighbour > "\u02ff" and not neighbour.isspace()


def folded(text: str) -> str:
    """The same for texts that differ in case, width, or white space only.

    Characters of no width make no difference either.
    """
    if text.isascii():
        same = text.lower()
    else:
        same = unicodedata.normalize("NFKC", text).casefold()
        same = unicodedata.normalize("NFKC", same)
        if _ZERO_WIDTH.search(same):
            same = _ZERO_WIDTH.sub("", same)
    return " ".join(same.split())


def text_key(text: str) -> bytes:
    """16 bytes, equal for texts that are `folded` to the same."""
    return hashlib.sha256(folded(text).encode("utf-8")).digest()[:16]


def share_of(key: bytes) -> float:
    """Spreads keys evenly over [0, 1); a row's place depends on its text alone."""
    return int.from_bytes(key[:6], "big") / 2**48


def count_words(text: str) -> int:
    """Words; each character of Chinese and Japanese is one, as they put no spaces."""
    return len(_WORD.findall(text))


def words(text: str) -> list[str]:
    """The words of the folded text, each without the punctuation that closes it."""
    return [word.rstrip(_CLOSING) for word in _WORD.findall(folded(text))]


def length_band(text: str, bands_words: Sequence[int]) -> str:
    """For bands (20, 60): "up to 20 words", "21 to 60 words" or "over 60 words"."""
    words, above = count_words(text), 0
    for limit in bands_words:
        if words <= limit:
            return f"{above + 1} to {limit} words" if above else f"up to {limit} words"
        above = limit
    return f"over {above} words"


def excerpt(text: str, max_characters: int = 80) -> str:
    """The beginning of a text on one line, for a message."""
    line = " ".join(text[: 4 * max_characters].split())
    if len(line) <= max_characters:
        return line
    return f"{line[: max_characters - 1]}…"
