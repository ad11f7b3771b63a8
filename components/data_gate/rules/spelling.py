"""Which labels are likely one label, spelled in two ways. Pure."""

import re
import unicodedata
from collections.abc import Iterator, Mapping

FEWEST_LETTERS = 5  # Of shorter labels many are one edit apart and both meant.
MOST_LETTERS = 100  # Longer ones are sentences; comparing them would take its time.

# Accents, and what asks for the coloured form of a symbol.
_LATIN_MARKS = re.compile("[\u0300-\u036f\ufe00-\ufe0f]")
_DIGIT = re.compile(r"\d")


def label_key(label: str) -> str:
    """The same for labels that differ in case, accents, or marks and spaces only.

    NFKD without the accents of Latin, Greek and Cyrillic letters (other scripts' marks
    make other words), casefold, and no punctuation or spaces. What can tell labels
    apart stays: symbols (`C++`, emoji), `#`, a minus that leads or ends (`-1`, `A-`),
    and that there is a mark between two digits (`1.5`). A label of marks alone is its
    own key.
    """
    text = unicodedata.normalize("NFKD", label)
    text = _LATIN_MARKS.sub("", text).casefold()
    text = _LATIN_MARKS.sub("", unicodedata.normalize("NFKD", text))
    kept = [_kept(text, place) for place in range(len(text))]
    return "".join(kept) or label


def _kept(text: str, place: int) -> str:
    character = text[place]
    kind = unicodedata.category(character)[0]
    if kind in "LNMS" or character == "#":
        # ^ ` ¨ and the like are symbols to Unicode, and marks to who types them.
        return "" if unicodedata.category(character) == "Sk" else character
    before, after = text[place - 1 : place], text[place + 1 : place + 2]
    if unicodedata.category(character) == "Pd":
        if not text[:place].strip() and after.isdigit():
            return "-"
        if before.isalnum() and not after:
            return "-"
    return " " if before.isdigit() and after.isdigit() else ""


def one_edit_apart(a: str, b: str) -> bool:
    """One letter more, less or other, or two neighbours exchanged (Damerau 1964)."""
    if len(a) > len(b):
        a, b = b, a
    if a == b or len(b) - len(a) > 1:
        return False
    start = 0
    while start < len(a) and a[start] == b[start]:
        start += 1
    if len(a) < len(b):
        return a[start:] == b[start + 1 :]
    rest_a, rest_b = a[start:], b[start:]
    exchanged = rest_a[:2] == rest_b[:2][::-1] and rest_a[2:] == rest_b[2:]
    return rest_a[1:] == rest_b[1:] or exchanged


def groups(counts: Mapping[str, int]) -> list[list[str]]:
    """Labels with one key, each group with the most frequent first."""
    by_key: dict[str, list[str]] = {}
    for label in sorted(counts, key=lambda label: (-counts[label], label)):
        by_key.setdefault(label_key(label), []).append(label)
    return [group for group in by_key.values() if len(group) > 1]


def misspelt(counts: Mapping[str, int], *, ratio: float) -> dict[str, str]:
    """Returns {label: one an edit away that is `ratio` times as frequent}.

    Digits must be equal: `level_1` is no misspelt `level_2`. Of several frequent ones
    the most frequent is given.
    """
    frequent: dict[str, list[str]] = {}  # Most labels are rare where all are texts.
    for label in counts:
        if counts[label] >= max(ratio, 1):
            for part in _parts(label_key(label)):
                frequent.setdefault(part, []).append(label)
    found = {}
    for label in counts if frequent else ():
        key = label_key(label)
        near = {
            other
            for part in _parts(key)
            for other in frequent.get(part, ())
            if counts[other] > counts[label]
            and counts[other] >= ratio * counts[label]
            and _misspelt(key, label_key(other))
        }
        if near:
            found[label] = max(sorted(near), key=counts.__getitem__)
    return found


def _parts(key: str) -> Iterator[str]:
    """Two keys that are one edit apart have one of these in common."""
    if FEWEST_LETTERS <= len(key) <= MOST_LETTERS:
        yield key
        yield from {key[:n] + key[n + 1 :] for n in range(len(key))}


def _misspelt(a: str, b: str) -> bool:
    return one_edit_apart(a, b) and _DIGIT.findall(a) == _DIGIT.findall(b)
