"""Text metrics from sums, against the functions that score one text."""

import numpy as np
import pytest
import sacrebleu

from components.evaluator.scores import summarization
from trainer_module.scoring import behaviour, rouge
from trainer_module.scoring.texts import score_texts

SOURCES = ["My card was declined in Porto. Why?", "I lost my card", "卡没了"]
TARGETS = ["Card declined in Porto.\x1eDeclined card.", "Card lost.", "卡没了。"]
PREDICTIONS = ["My card was declined in Porto", "Card lost.", "12"]


def values(sources=SOURCES, targets=TARGETS, predictions=PREDICTIONS):
    sheet = summarization.sheet(sources, targets, predictions)
    sums, rows = sheet.sums(np.ones(sheet.rows)), np.array(sheet.rows)
    return {m.name: float(sheet.value(m, sums, rows)) for m in summarization.METRICS}


def test_means_are_those_of_the_rows():
    found = values()
    trainers = score_texts(TARGETS, PREDICTIONS)
    assert {name: found[name] for name in trainers} == pytest.approx(trainers)
    rows = list(zip(SOURCES, TARGETS, PREDICTIONS, strict=True))
    recalls = [rouge.scores(t.split("\x1e"), p)["rouge1"].recall for _, t, p in rows]
    assert found["rouge1_recall"] == pytest.approx(np.mean(recalls))
    signs = [behaviour.signs(s, t.split("\x1e"), p) for s, t, p in rows]
    for name in signs[0]:
        assert found[name] == pytest.approx(np.mean([sign[name] for sign in signs]))
    assert found["exact_match"] == pytest.approx(1 / 3)


def test_corpus_scores_are_of_the_whole_not_means_of_rows():
    predictions = ["Card declined in Lisbon.", "Card lost.", "Nothing"]
    references = [
        ["Card declined in Porto.", "Card lost.", "x"],
        ["Declined card.", "", ""],
    ]
    sheet = summarization.sheet(
        SOURCES,
        ["Card declined in Porto.\x1eDeclined card.", "Card lost.", "x"],
        predictions,
    )
    bleu = next(m for m in summarization.METRICS if m.name == "bleu")
    found = float(sheet.value(bleu, sheet.sums(np.ones(3)), np.array(3)))
    references[1] = ["Declined card.", None, None]
    assert found == pytest.approx(sacrebleu.corpus_bleu(predictions, references).score)


@pytest.mark.parametrize("target", ["", "\x1e", " \n", "Card lost."])
@pytest.mark.parametrize("prediction", ["", "...", "Card lost."])
def test_empty_texts_have_a_value_in_every_metric(target, prediction):
    found = values([SOURCES[0]], [target], [prediction])
    assert all(np.isfinite(list(found.values())))
    same = 1.0 if target == prediction == "Card lost." else 0.0
    assert found["rouge_l"] == pytest.approx(same)


def test_texts_of_140_000_characters_are_scored():
    text = " ".join(f"w{i % 977}" for i in range(28_000))[:140_000]
    found = values([text], [text], [text])
    assert (found["rouge_lsum"], found["copied"], found["length_ratio"]) == (1, 1, 1)
    assert (found["bleu"], found["chrf"]) == pytest.approx((100, 100))


def test_rows_that_count_twice_are_two_rows():
    sheet = summarization.sheet(SOURCES, TARGETS, PREDICTIONS)
    twice = summarization.sheet(SOURCES * 2, TARGETS * 2, PREDICTIONS * 2)
    np.testing.assert_allclose(sheet.sums(np.full(3, 2)), twice.sums(np.ones(6)))


def test_each_metric_has_its_block_and_a_name_of_its_own():
    sheet = summarization.sheet([], [], [])
    names = [metric.name for metric in summarization.METRICS]
    assert len(set(names)) == len(names)
    assert {metric.block for metric in summarization.METRICS} == set(sheet.blocks)
    nothing, rows = sheet.sums(np.zeros(0)), np.array(0)
    assert all(np.isnan(sheet.value(m, nothing, rows)) for m in summarization.METRICS)
