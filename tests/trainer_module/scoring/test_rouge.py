"""ROUGE: rouge-score's own values on Latin text, and sound ones in any script."""

import itertools
import json
import random
import socket

import pytest
from rouge_score import rouge_scorer

from tests import public_data
from trainer_module.scoring import rouge, tokens

THEIR_NAMES = {
    "rouge1": "rouge1",
    "rouge2": "rouge2",
    "rouge_l": "rougeL",
    "rouge_lsum": "rougeLsum",
}

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
    "japanese, half width": "ｶｰﾄﾞがＶｉｓａです",
    "cantonese, rare characters": "𠮷𠀁𨋢",
    "yi": "ꆈꌠꉙ",
    "javanese": "ꦏꦂꦠꦸꦏꦸ",
    "manipuri": "ꯃꯤꯇꯩ ꯂꯣꯟ",
    "fulani": "𞤀𞤣𞤤𞤢𞤥 𞤆𞤵𞤤𞤢𞤪",
    "vai": "ꕙꔤ ꕙꔤ",
    "cham": "ꨀꨃꩌ ꨌꩌ",
    "mixed": "我的 Visa card 还没有到, привет!",
}


def f1(name, reference, prediction):
    return rouge.scores([reference], prediction)[name].f1


def assert_equals_rouge_score(reference, prediction):
    scorer = rouge_scorer.RougeScorer(list(THEIR_NAMES.values()), use_stemmer=True)
    # Its sentences are lines; ours end with a final mark too.
    theirs = scorer.score(
        *("\n".join(tokens.sentences(t)) for t in (reference, prediction))
    )
    for name, score in rouge.scores([reference], prediction).items():
        assert score == pytest.approx(tuple(theirs[THEIR_NAMES[name]]), abs=1e-9), name


@pytest.mark.parametrize("reference, prediction", PAIRS)
def test_latin_text_scores_as_rouge_score_does(reference, prediction):
    assert_equals_rouge_score(reference, prediction)


def test_random_sentences_score_as_rouge_score_does():
    dice = random.Random(11)
    words = "a cat sat on the mat flying flies. cards declined! twice? of".split()
    for _ in range(300):
        pair = [" ".join(dice.choices(words, k=dice.randrange(40))) for _ in range(2)]
        assert_equals_rouge_score(*pair)


def test_published_summaries_score_as_rouge_score_does():
    with open(public_data.path_of("scitldr/train.clean.jsonl"), encoding="utf-8") as f:
        rows = [json.loads(line) for line in itertools.islice(f, 100)]
    for row in rows:
        if row["target"].isascii() and row["source"].isascii():
            assert_equals_rouge_score(row["target"], row["source"][:600])


@pytest.mark.parametrize("text", SAME_IN_ANY_SCRIPT.values(), ids=SAME_IN_ANY_SCRIPT)
@pytest.mark.parametrize("name", rouge.TYPES)
def test_identical_texts_score_one_in_any_script(name, text):
    assert f1(name, text, text) == pytest.approx(1.0)


def test_different_words_of_another_script_share_nothing():
    assert f1("rouge1", "карта пришла", "перевод отменён") == 0.0
    assert f1("rouge1", "карта пришла", "КАРТА утеряна") == 0.5


def test_precision_and_recall_are_shares_of_their_own_text():
    score = rouge.scores(["the card is late"], "card late")["rouge1"]
    assert score == pytest.approx((1.0, 0.5, 2 / 3))


def test_reordered_sentences_score_one_in_lsum_and_less_in_l():
    one, two = (
        "The card is late. Nobody knows why.",
        "Nobody knows why. The card is late.",
    )
    assert f1("rouge_lsum", one, two) == pytest.approx(1.0)
    assert f1("rouge_l", one, two) == pytest.approx(4 / 7)


def test_reordered_chinese_sentences_score_one_in_lsum():
    assert f1("rouge_lsum", "卡还没到。没人知道！", "没人知道！卡还没到。") == 1.0


def test_lsum_reaches_for_no_network(monkeypatch):
    def refuse(*_args, **_kwargs):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    assert f1("rouge_lsum", "One. Two.", "One. Two.") == 1.0


def test_each_type_takes_its_best_reference():
    references = ["card lost today", "lost card"]
    scores = rouge.scores(references, "lost card")
    assert scores["rouge1"].f1 == scores["rouge_l"].f1 == 1.0
    scores = rouge.scores(references, "card lost")
    assert scores["rouge1"].f1 == 1.0
    assert scores["rouge2"].f1 == pytest.approx(2 / 3)


def test_no_reference_is_refused():
    with pytest.raises(ValueError, match="one text or more. Received none"):
        rouge.scores([], "a text")


@pytest.mark.parametrize("text", ["", "...", "\n", "🙂🙂"])
def test_text_without_a_token_scores_zero(text):
    assert set(rouge.scores([text], text).values()) == {(0.0, 0.0, 0.0)}
    assert set(rouge.scores(["a text"], text).values()) == {(0.0, 0.0, 0.0)}


def test_text_of_140_000_characters_is_scored():
    text = " ".join(f"w{i % 977}" for i in range(28_000))
    scores = rouge.scores([text], text)
    assert {score.f1 for score in scores.values()} == {1.0}
