"""BLEU and chrF from counts that add up: sacreBLEU's own values."""

import itertools
import json

import numpy as np
import pytest
import sacrebleu

from tests import public_data
from trainer_module.scoring import corpus

PREDICTIONS = [
    "The card was declined twice in Porto.",
    "Refund is late",
    "",
    "He'd paid $1,250.50 (twice) -- really?",
]
REFERENCES = [
    ["A card was declined twice in Porto.", "The card failed twice."],
    ["The refund is late.", "My refund is very late."],
    ["Nothing was said.", "No answer."],
    ["He had paid $1,250.50 twice.", "He'd paid 1,250.50 dollars (twice)!"],
]


def total(counts_of):
    rows = zip(REFERENCES, PREDICTIONS, strict=True)
    return np.sum([counts_of(*row) for row in rows], axis=0)


def test_scores_of_summed_counts_are_those_of_sacrebleu():
    documents = list(zip(*REFERENCES, strict=True))
    bleu = sacrebleu.corpus_bleu(PREDICTIONS, documents).score
    chrf = sacrebleu.corpus_chrf(PREDICTIONS, documents).score
    assert 10 < bleu < 90 and 10 < chrf < 90
    assert corpus.bleu(total(corpus.bleu_counts)) == pytest.approx(bleu, abs=1e-9)
    assert corpus.chrf(total(corpus.chrf_counts)) == pytest.approx(chrf, abs=1e-9)


def test_published_summaries_score_as_sacrebleu_does():
    with open(public_data.path_of("scitldr/train.clean.jsonl"), encoding="utf-8") as f:
        rows = [json.loads(line) for line in itertools.islice(f, 60)]
    predictions = [row["source"][:300] for row in rows]
    references = [row["target"] for row in rows]
    pairs = list(zip(references, predictions, strict=True))
    bleu = np.sum([corpus.bleu_counts([r], p) for r, p in pairs], axis=0)
    chrf = np.sum([corpus.chrf_counts([r], p) for r, p in pairs], axis=0)
    theirs = sacrebleu.corpus_bleu(predictions, [references]).score
    assert corpus.bleu(bleu) == pytest.approx(theirs, abs=1e-9)
    theirs = sacrebleu.corpus_chrf(predictions, [references]).score
    assert corpus.chrf(chrf) == pytest.approx(theirs, abs=1e-9)


def test_counts_have_the_promised_lengths():
    assert len(corpus.bleu_counts(["a b"], "a b c")) == corpus.BLEU_COUNTS
    assert len(corpus.chrf_counts(["a b"], "a b c")) == corpus.CHRF_COUNTS


@pytest.mark.parametrize(
    "text",
    [
        "我的银行卡还没有到。",
        "カードが届きません",
        "บัตรของฉันยังไม่มา",
        "Моя карта не пришла.",
    ],
)
def test_identical_texts_score_100_in_any_script(text):
    assert corpus.bleu(corpus.bleu_counts([text], text)) == pytest.approx(100)
    assert corpus.chrf(corpus.chrf_counts([text], text)) == pytest.approx(100)


def test_characters_of_unspaced_scripts_are_words_to_bleu():
    counts = corpus.bleu_counts(["我的卡到了"], "我的卡没了")
    length, reference_length, hits = counts[0], counts[1], counts[2]
    assert (length, reference_length, hits) == (5, 5, 4)


def test_empty_text_scores_zero():
    assert corpus.bleu(corpus.bleu_counts(["a text"], "")) == 0.0
    assert corpus.chrf(corpus.chrf_counts(["a text"], "")) == 0.0
