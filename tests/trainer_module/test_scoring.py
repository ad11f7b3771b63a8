"""ROUGE and label scores: equal to rouge-score, and to numbers worked out by hand."""

import math
import socket
from collections import Counter

import pytest
from rouge_score import rouge_scorer

from trainer_module import scoring

PAIRS = [
    ("The cat sat on the mat.", "A cat was sitting on the mat"),
    ("The cards were declined twice!", "card declined; twice, declining"),
    ("Crème brûlée à la carte", "Creme brulee a la carte"),
    ("Überweisung über 1.250,50 EUR", "überweisung uber 1250 eur"),
    ("don't stop-me_now", "Don’t stop me now"),
    ("one two three four", "four three two one"),
    ("", "something"),
    ("something", ""),
    ("...", "!!!"),
    ("flies flying flew", "fly flies"),
]
SAME_IN_ANY_SCRIPT = {
    "chinese": "我的银行卡还没有到。",
    "japanese": "カードがまだ届いていません。",
    "thai": "บัตรของฉันยังไม่มา",
    "lao": "ບັດຂອງຂ້ອຍຍັງບໍ່ມາ",
    "khmer": "កាតរបស់ខ្ញុំមិនទាន់មកដល់",
    "burmese": "ကတ်မရောက်သေးဘူး",
    "russian": "Моя карта ещё не пришла.",
    "greek": "Η κάρτα μου δεν ήρθε.",
    "arabic": "لم تصل بطاقتي بعد.",
    "hebrew": "הכרטיס שלי עוד לא הגיע.",
    "hindi": "मेरा कार्ड अभी तक नहीं आया।",
    "korean": "카드가 아직 도착하지 않았어요.",
    "mixed": "我的 Visa card 还没有到, привет!",
}


@pytest.mark.parametrize("reference, prediction", PAIRS)
@pytest.mark.parametrize("name, rouge_type", scoring.ROUGE_TYPES.items())
def test_latin_text_scores_as_rouge_score_does(name, rouge_type, reference, prediction):
    scorer = rouge_scorer.RougeScorer([rouge_type], use_stemmer=True)
    want = scorer.score(reference, prediction)[rouge_type].fmeasure
    assert scoring.rouge_f1(name, [reference], prediction) == pytest.approx(
        want, abs=1e-9
    )


def test_rouge_lsum_splits_sentences_as_rouge_score_does_at_newlines():
    reference = ["Cards are late.", "Why?", "Nobody knows!"]
    prediction = ["Nobody knows.", "Cards are very late!"]
    scorer = rouge_scorer.RougeScorer(["rougeLsum"], use_stemmer=True)
    want = scorer.score("\n".join(reference), "\n".join(prediction))
    got = scoring.rouge_f1("rouge_lsum", [" ".join(reference)], " ".join(prediction))
    assert got == pytest.approx(want["rougeLsum"].fmeasure, abs=1e-9)


@pytest.mark.parametrize("text", SAME_IN_ANY_SCRIPT.values(), ids=SAME_IN_ANY_SCRIPT)
@pytest.mark.parametrize("name", scoring.ROUGE_TYPES)
def test_identical_texts_score_one_in_any_script(name, text):
    assert scoring.rouge_f1(name, [text], text) == pytest.approx(1.0)


def test_characters_of_unspaced_scripts_are_tokens():
    tokens = scoring.ScriptTokenizer().tokenize("我的Cards到了，ok ไทย カ")
    assert tokens == ["我", "的", "card", "到", "了", "ok", "ไ", "ท", "ย", "カ"]


def test_words_of_other_spaced_scripts_are_tokens_without_their_marks():
    tokens = scoring.ScriptTokenizer().tokenize("«Карта, VISA» हिन्दी। 카드")
    assert tokens == ["карта", "visa", "हिन्दी", "카드"]


def test_different_words_of_another_script_share_nothing():
    assert scoring.rouge_f1("rouge1", ["карта пришла"], "перевод отменён") == 0.0
    assert scoring.rouge_f1("rouge1", ["карта пришла"], "КАРТА утеряна") == 0.5


def test_reordered_sentences_score_one_in_lsum_and_less_in_l():
    one, two = (
        "The card is late. Nobody knows why.",
        "Nobody knows why. The card is late.",
    )
    assert scoring.rouge_f1("rouge_lsum", [one], two) == pytest.approx(1.0)
    assert scoring.rouge_f1("rouge_l", [one], two) == pytest.approx(4 / 7)


def test_reordered_chinese_sentences_score_one_in_lsum():
    one, two = "卡还没到。没人知道！", "没人知道！卡还没到。"
    assert scoring.rouge_f1("rouge_lsum", [one], two) == pytest.approx(1.0)


def test_lsum_reaches_for_no_network(monkeypatch):
    def refuse(*_args, **_kwargs):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    assert scoring.rouge_f1("rouge_lsum", ["One. Two."], "One. Two.") == 1.0


def test_best_of_several_references_counts():
    references = scoring.split_references("card lost\x1ecard stolen today")
    assert references == ["card lost", "card stolen today"]
    assert scoring.rouge_f1("rouge1", references, "card stolen today") == 1.0
    assert scoring.rouge_f1("rouge1", references, "card lost") == 1.0
    assert scoring.rouge_f1("rouge1", references, "card") == pytest.approx(2 / 3)


def test_one_reference_is_not_split():
    assert scoring.split_references("card lost\nreally") == ["card lost\nreally"]


def test_unknown_score_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"rouge1.*rouge_lsum.*Got: 'rougeL'"):
        scoring.rouge_f1("rougeL", ["a"], "a")


COUNTS = Counter(
    {
        ("lost", "lost"): 3,
        ("lost", "late"): 1,
        ("late", "late"): 2,
        ("fee", "late"): 2,  # Never predicted.
        ("late", "odd"): 2,  # A label that no true row has.
    }
)


def test_accuracy_is_the_share_of_equal_pairs():
    assert scoring.accuracy(COUNTS) == pytest.approx(5 / 10)


def test_macro_f1_is_the_mean_over_the_true_labels():
    lost = 2 * 3 / (4 + 3)
    late = 2 * 2 / (4 + 5)
    assert scoring.macro_f1(COUNTS) == pytest.approx((lost + late + 0.0) / 3)


def test_scores_of_nothing_are_nan_and_counts_stay_as_they_were():
    empty = Counter()
    assert math.isnan(scoring.accuracy(empty))
    assert math.isnan(scoring.macro_f1(empty))
    before = dict(COUNTS)
    scoring.macro_f1(COUNTS)
    assert dict(COUNTS) == before
