"""What a text is after reading, and when two texts are the same. Pure."""

import hashlib
import re
import unicodedata
from collections.abc import Sequence

# \x1e, which parts the references of a target, is one of these: see scoring.
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")
_LINE_BREAK = re.compile(r"\r\n|[\r\x0b\x0c\x85]")
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}][^\s{_UNSPACED}]*")


def clean(text: str) -> tuple[str, int]:
    """NFC, one kind of line break, no control characters but \\n and \\t, stripped.

    Surrogates without their partner, which JSON can hold and UTF-8 cannot, count as
    control characters.

    Returns:
      (text, control characters removed).
    """
    text, removed = _CONTROL.subn("", _LINE_BREAK.sub("\n", text))
    return unicodedata.normalize("NFC", text).strip(), removed


def text_key(text: str) -> bytes:
    """16 bytes, equal for texts that differ in case, width or white space only."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    folded = " ".join(unicodedata.normalize("NFKC", folded).split())
    return hashlib.sha256(folded.encode("utf-8")).digest()[:16]


def share_of(key: bytes) -> float:
    """Spreads keys evenly over [0, 1); a row's place depends on its text alone."""
    return int.from_bytes(key[:6], "big") / 2**48


def count_words(text: str) -> int:
    """Words; each character of Chinese and Japanese is one, as they put no spaces."""
    return len(_WORD.findall(text))


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
