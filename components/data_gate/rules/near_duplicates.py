"""Texts of one list that are all but a text of another. Pure.

Two texts are compared by their shingles: the sets of all runs of five bytes of their
UTF-8, folded and without punctuation. Their similarity is the Jaccard index of the
sets, |A and B| / |A or B|. Five bytes are five letters of English, and about two
characters of Chinese or Japanese, the usual unit there.

Only pairs that are likely similar are compared: their MinHashes (Broder, "On the
resemblance and containment of documents", 1997) agree in at least one of several bands
(Indyk and Motwani, "Approximate nearest neighbors", 1998). A pair that is exactly as
similar as asked for is found with a probability of over 0.99, a more similar one nearly
always.
"""

import dataclasses
import functools
import math
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from components.example_gen.normalisation import folded

SHINGLE_BYTES = 5
# Shorter texts have too few shingles; they are similar only if they are equal.
MIN_BYTES = 8
# An eval text that is somewhat like so many train texts shares a greeting or a
# signature with them; it is compared with no more than these.
MAX_COMPARED = 300

_HASHES = 96  # Of each text; a multiple of all of the next.
_HASHES_OF_A_BAND = (12, 8, 6, 4, 3, 2, 1)
_MISSED_SHARE = 0.001  # At most, of the pairs that are just similar enough.
_DEVIATIONS = 4.0  # Below, of an estimate from all hashes, no pair is compared.

_CHUNK_BYTES = 2**18  # Of texts that are hashed at once, unless one is longer.
_PAIRS_AT_ONCE = 2**17
_SHINGLES_KEPT = 2**19  # Each is about 100 bytes of a set.

Array = np.ndarray[Any, Any]


@dataclasses.dataclass(frozen=True)
class Pair:
    """The numbers of two texts in their lists, and how similar they are."""

    held: int
    train: int
    similarity: float


@dataclasses.dataclass(frozen=True)
class Found:
    """At most one pair for each eval text, by its number.

    Attributes:
      pairs: each with the first of the train texts that is similar enough.
      given_up: eval texts that have none among the first `MAX_COMPARED`.
    """

    pairs: list[Pair]
    given_up: list[int]


def find(train: Iterable[str], held: Sequence[str], *, similarity: float) -> Found:
    """Looks for each text of `held` for one of `train` that is similar.

    Equal input gives equal results, in every process. The texts of `train` are read
    once and not kept.

    Args:
      train, held: texts as they are.
      similarity: the least Jaccard index, above 0 and at most 1.
    """
    search = _Search(held, similarity)
    for numbers, chunk in _chunks(map(plain, train)):
        search.look_at(numbers, chunk)
    pairs = [search.pairs[number] for number in sorted(search.pairs)]
    return Found(pairs, sorted(search.given_up))


class _Search:
    """The eval texts that are still looked for, by the keys of their bands."""

    def __init__(self, held: Sequence[str], similarity: float):
        self._similarity = similarity
        self._hashes_of_a_band = _hashes_of_a_band(similarity)
        deviation = math.sqrt(similarity * (1 - similarity) / _HASHES)
        self._least_estimate = similarity - _DEVIATIONS * deviation
        self._raw = [plain(text) for text in held]
        longest = max(map(len, self._raw), default=1)
        self._set_of = functools.lru_cache(_SHINGLES_KEPT // (longest + 1) + 2)(
            _windows
        )
        self._compared = np.zeros(len(held), np.int64)
        self.pairs: dict[int, Pair] = {}
        self.given_up: set[int] = set()
        self._index()

    def _index(self) -> None:
        none = np.zeros(0, np.int64)
        hashes, keys, owners = [np.zeros((0, _HASHES), np.uint32)], [none], [none]
        self._row_of = np.zeros(len(self._raw), np.int64)
        for numbers, chunk in _chunks(self._raw):
            self._row_of[numbers] = np.arange(len(chunk)) + sum(map(len, hashes))
            hashes.append(_min_hashes(chunk))
            of_bands = _band_keys(hashes[-1], self._hashes_of_a_band)
            keys.append(of_bands.ravel())
            owners.append(np.repeat(numbers, of_bands.shape[1]))
        self._hashes = np.concatenate(hashes)
        found = np.concatenate([np.asarray(part, np.uint64) for part in keys])
        order = np.argsort(found, kind="stable")
        self._keys, self._owners = found[order], np.concatenate(owners)[order]

    def look_at(self, numbers: Sequence[int], chunk: Sequence[bytes]) -> None:
        """Compares train texts, `chunk`, with all that is still looked for."""
        hashes = _min_hashes(chunk)
        keys = _band_keys(hashes, self._hashes_of_a_band)
        done = 0
        while done < len(chunk) and len(self._keys):
            left = np.searchsorted(self._keys, keys[done:], "left")
            hit = self._keys[np.minimum(left, len(self._keys) - 1)] == keys[done:]
            width = np.zeros_like(left)
            width[hit] = np.searchsorted(self._keys, keys[done:][hit], "right")
            width[hit] -= left[hit]
            total = np.cumsum(width.sum(1))
            rows = max(1, int(np.searchsorted(total, _PAIRS_AT_ONCE, "right")))
            pairs = _expanded(left[:rows], width[:rows])
            owners, trains = self._owners[pairs[0]], pairs[1] + done
            self._compare(owners, trains, numbers, chunk, hashes)
            done += rows

    def _compare(
        self,
        owners: Array,
        trains: Array,
        numbers: Sequence[int],
        chunk: Sequence[bytes],
        hashes: Array,
    ) -> None:
        """Compares candidates, the train texts of an eval text in their order."""
        code = np.unique(owners * len(chunk) + trains)
        owners, trains = code // len(chunk), code % len(chunk)
        self._compared += np.bincount(owners, minlength=len(self._compared))
        agree = hashes[trains] == self._hashes[self._row_of[owners]]
        likely = agree.mean(1) >= self._least_estimate
        for owner, train in zip(
            owners[likely].tolist(), trains[likely].tolist(), strict=True
        ):
            if owner in self.pairs:
                continue
            similarity = jaccard(
                self._set_of(self._raw[owner]), self._set_of(chunk[train])
            )
            if similarity >= self._similarity:
                self.pairs[owner] = Pair(owner, numbers[train], similarity)
        self._forget(set(owners.tolist()))

    def _forget(self, seen: set[int]) -> None:
        """Takes out what is found, and what is like too many."""
        spent = {n for n in seen if self._compared[n] >= MAX_COMPARED}
        self.given_up |= spent - self.pairs.keys()
        gone = (spent | self.pairs.keys()) & seen
        if gone:
            kept = ~np.isin(self._owners, list(gone))
            self._keys, self._owners = self._keys[kept], self._owners[kept]


def plain(text: str) -> bytes:
    """What is compared of a text: folded, without punctuation, in UTF-8."""
    return " ".join(folded(text).translate(_NO_PUNCTUATION).split()).encode("utf-8")


def shingles(text: str) -> frozenset[bytes]:
    """All runs of five bytes of a text; none of one that is too short."""
    return _windows(plain(text))


def similarity_of(a: str, b: str) -> float:
    """The Jaccard index of the shingles of two texts; 0 if one is too short."""
    return jaccard(shingles(a), shingles(b))


def jaccard(a: frozenset[bytes], b: frozenset[bytes]) -> float:
    common = len(a & b)
    return common / (len(a) + len(b) - common) if common else 0.0


def _windows(raw: bytes) -> frozenset[bytes]:
    if len(raw) < MIN_BYTES:
        return frozenset()
    last = len(raw) - SHINGLE_BYTES
    return frozenset(raw[n : n + SHINGLE_BYTES] for n in range(last + 1))


class _NoPunctuation(dict[int, int | None]):
    """For `str.translate`: what is punctuation is looked up once a character."""

    def __missing__(self, code: int) -> int | None:
        is_mark = unicodedata.category(chr(code)).startswith("P")
        self[code] = None if is_mark else code
        return self[code]


_NO_PUNCTUATION = _NoPunctuation()


def _chunks(raw: Iterable[bytes]) -> Iterator[tuple[list[int], list[bytes]]]:
    """Parts of texts with their numbers, without those that are too short."""
    numbers: list[int] = []
    chunk: list[bytes] = []
    size = 0
    for number, text in enumerate(raw):
        if len(text) < MIN_BYTES:
            continue
        if chunk and size + len(text) > _CHUNK_BYTES:
            yield numbers, chunk
            numbers, chunk, size = [], [], 0
        numbers.append(number)
        chunk.append(text)
        size += len(text)
    if chunk:
        yield numbers, chunk


def _min_hashes(chunk: Sequence[bytes]) -> Array:
    """The least of each of the hashes of a text's shingles: uint32 [texts, hashes]."""
    lengths = np.array([len(text) for text in chunk])
    letters = np.frombuffer(b"".join(chunk), np.uint8).astype(np.uint64)
    windows = np.zeros(len(letters) - SHINGLE_BYTES + 1, np.uint64)
    for place in range(SHINGLE_BYTES):
        windows <<= np.uint64(8)
        windows |= letters[place : place + len(windows)]
    within = np.ones(len(letters), bool)
    for place in range(1, SHINGLE_BYTES):  # Not those that reach into the next text.
        within[np.cumsum(lengths) - place] = False
    values = _mixed(windows[within[: len(windows)]])
    starts = np.cumsum(lengths - SHINGLE_BYTES + 1) - (lengths - SHINGLE_BYTES + 1)
    least = np.empty((_HASHES, len(chunk)), np.uint32)
    hashed = np.empty_like(values)
    for number, multiplier in enumerate(_MULTIPLIERS):
        np.multiply(values, multiplier, out=hashed)
        np.minimum.reduceat(hashed, starts, out=least[number])
    return np.ascontiguousarray(least.T)


def _mixed(values: Array) -> Array:
    """The upper half of MurmurHash3's finalizer: uint64 -> uint32."""
    mixed = values ^ (values >> np.uint64(33))
    mixed *= np.uint64(0xFF51AFD7ED558CCD)
    mixed ^= mixed >> np.uint64(33)
    mixed *= np.uint64(0xC4CEB9FE1A85EC53)
    return (mixed >> np.uint64(32)).astype(np.uint32)


_MULTIPLIERS = _mixed(np.arange(1, _HASHES + 1, dtype=np.uint64)) | np.uint32(1)


def _band_keys(hashes: Array, hashes_of_a_band: int) -> Array:
    """One number for each band of each text: uint64 [texts, bands]."""
    texts, total = hashes.shape
    bands = np.arange(total // hashes_of_a_band, dtype=np.uint64)
    keys = np.repeat(bands[None], texts, 0)
    for place in range(hashes_of_a_band):
        keys ^= hashes[:, place::hashes_of_a_band]
        keys *= np.uint64(0x9E3779B97F4A7C15)
        keys ^= keys >> np.uint64(29)
    return keys


def _hashes_of_a_band(similarity: float) -> int:
    """As many as can be, for fewer candidates, while few similar pairs are missed."""
    for number in _HASHES_OF_A_BAND:
        if (1 - similarity**number) ** (_HASHES // number) <= _MISSED_SHARE:
            return number
    return 1


def _expanded(left: Array, width: Array) -> tuple[Array, Array]:
    """From ranges [texts, bands] to each place in a range, and the text it is of."""
    texts = np.repeat(np.arange(len(width)), width.sum(1))
    left, width = left.ravel(), width.ravel()
    before = np.cumsum(width) - width
    places = np.arange(width.sum()) - np.repeat(before - left, width)
    return places, texts
