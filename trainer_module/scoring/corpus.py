"""BLEU and chrF of many texts, by sacreBLEU, from counts that add up over rows.

Each row gives a list of counts; the score of any set of rows, or of rows drawn again
and again, is the score of their sum. The settings are sacreBLEU's own: BLEU of words up
to four (13a, mixed case, exponential smoothing), chrF2 of characters up to six. Scripts
that put no space between words would be one long word to 13a: their characters are
parted first. Scores are from 0 to 100, as sacreBLEU reports them.
"""

import functools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from trainer_module.scoring import tokens

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

BLEU_COUNTS = 10  # Length, reference's length, then hits and n-grams of each order.
CHRF_COUNTS = 18  # N-grams of the text, of the reference, and hits, of each order.

Counts = list[int]


def bleu_counts(references: Sequence[str], prediction: str) -> Counts:
    """`BLEU_COUNTS` numbers of one row; n-grams may come from any reference."""
    parted = [tokens.part_unspaced(reference) for reference in references]
    return _counts(_bleu(), parted, tokens.part_unspaced(prediction))


def chrf_counts(references: Sequence[str], prediction: str) -> Counts:
    """`CHRF_COUNTS` numbers of one row, against the reference that it is closest to."""
    return _counts(_chrf(), references, prediction)


def bleu(counts: Iterable[float]) -> float:
    """BLEU, from 0 to 100, of a sum of `bleu_counts`."""
    return _bleu()._compute_score_from_stats(list(map(int, counts))).score


def chrf(counts: Iterable[float]) -> float:
    """chrF2, from 0 to 100, of a sum of `chrf_counts`."""
    return _chrf()._compute_score_from_stats(list(map(int, counts))).score


def _counts(
    metric: "BLEU | CHRF", references: Sequence[str], prediction: str
) -> Counts:
    # Its public scores are of whole corpora; these two steps of them are not public, so
    # a test holds them to it. One document for each reference, of one row each.
    documents = [[reference] for reference in references]
    (counts,) = metric._extract_corpus_statistics([prediction], documents)
    return [int(count) for count in counts]


@functools.lru_cache(maxsize=1)
def _bleu() -> "BLEU":
    from sacrebleu.metrics.bleu import BLEU

    return BLEU()


@functools.lru_cache(maxsize=1)
def _chrf() -> "CHRF":
    from sacrebleu.metrics.chrf import CHRF

    return CHRF()
