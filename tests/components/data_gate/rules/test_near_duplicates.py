"""Similar texts are found as by comparing all of them."""

import subprocess
import sys

import numpy as np
import pytest

from components.data_gate.rules import near_duplicates
from components.data_gate.rules.near_duplicates import find, similarity_of

WORDS = (
    "the my please help today again why not now card refund late order wrong".split()
)


def texts(count, seed, words=30):
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(WORDS, words)) for _ in range(count)]


def edited(text, edits, seed):
    random = np.random.default_rng(seed)
    letters = list(text)
    for place in random.choice(len(letters), edits, replace=False):
        letters[place] = "z"
    return "".join(letters)


def test_similarity_counts_runs_of_five_bytes():
    # 12345 23456 34567 45678 | 56789
    assert similarity_of("12345678", "123456789") == 4 / 5


@pytest.mark.parametrize(
    "a, b",
    [("Card  LOST, today", "card lost today"), ("don't panic", "dont panic!")],
    ids=["case_and_space", "punctuation"],
)
def test_case_space_and_punctuation_do_not_matter(a, b):
    assert similarity_of(a, b) == 1


@pytest.mark.parametrize(
    "a, b",
    [("yes sir", "yes sir"), ("", ""), ("?!?!?!?!?", "?!?!?!?!?")],
    ids=["seven_letters", "empty", "punctuation"],
)
def test_very_short_texts_are_not_similar(a, b):
    assert similarity_of(a, b) == 0
    assert find([a], [b], similarity=0.1).pairs == []


def test_one_other_character_in_chinese_weighs_as_a_word_does():
    a = "请问我的信用卡为什么今天在商店里不能付款"
    assert similarity_of(a, a.replace("今", "昨")) == pytest.approx(0.77, abs=0.05)
    assert similarity_of(a, "今天天气很好我们去公园散步吧大家都很高兴") < 0.05


def test_finds_what_comparing_all_finds():
    held = texts(24, seed=1)
    train = texts(120, seed=2)
    for n, text in enumerate(held):
        train.insert(5 * n, edited(text, n % 6, seed=n))
    best = [max(similarity_of(text, other) for other in train) for text in held]
    similar = [n for n, similarity in enumerate(best) if similarity >= 0.85]
    assert 5 < len(similar) < 24
    found = find(train, held, similarity=0.85)
    assert [pair.held for pair in found.pairs] == similar
    for pair in found.pairs:
        assert pair.similarity == similarity_of(held[pair.held], train[pair.train])
        assert pair.similarity >= 0.85


@pytest.mark.parametrize("similarity", [0.3, 0.5, 0.85, 0.97, 1.0])
def test_recall_at_the_bound_is_near_one(similarity):
    """500 pairs that are as similar as asked for, or a little more."""
    random = np.random.default_rng(3)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz0123456789"))
    train, held = [], []
    for _ in range(500):
        a = "".join(random.choice(letters, 400))
        kept = int(2 * similarity / (1 + similarity) * 396 + 4.999)
        train.append(a)
        held.append(a[:kept] + "".join(random.choice(letters, 400 - kept)))
    true = [similarity_of(a, b) for a, b in zip(train, held, strict=True)]
    assert similarity <= min(true) < similarity + 0.03
    assert len(find(train, held, similarity=similarity).pairs) >= 495


def test_first_similar_train_text_is_given():
    text = texts(1, seed=1)[0]
    train = ["something else entirely", f"{text} a", text]
    (pair,) = find(train, [text], similarity=0.85).pairs
    assert pair.train == 1


def test_chunks_change_nothing(monkeypatch):
    held = texts(30, seed=1)
    train = [edited(t, 3, seed=n) for n, t in enumerate(held)] + texts(50, seed=2)
    whole = find(train, held, similarity=0.7)
    monkeypatch.setattr(near_duplicates, "_CHUNK_BYTES", 300)
    monkeypatch.setattr(near_duplicates, "_PAIRS_AT_ONCE", 5)
    assert find(train, held, similarity=0.7) == whole
    assert whole.pairs


def test_result_is_equal_in_another_process():
    code = (
        "from components.data_gate.rules.near_duplicates import find\n"
        "texts = [f'this is the text number {n} of a few' for n in range(50)]\n"
        "print(find(texts[:25], texts[25:], similarity=0.6))\n"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(told) == 1 and "Pair(" in told.pop()


@pytest.mark.parametrize("train, held", [([], ["a b c d e f"]), (["a b c d e f"], [])])
def test_nothing_to_compare_gives_nothing(train, held):
    assert find(train, held, similarity=0.85).pairs == []


def test_text_that_is_like_too_many_is_given_up(monkeypatch):
    monkeypatch.setattr(near_duplicates, "MAX_COMPARED", 10)
    text = texts(1, seed=1)[0]
    train = [edited(text, 9, seed=n) for n in range(99)]
    found = find(train, [text], similarity=0.85)
    assert (found.pairs, found.given_up) == ([], [0])
