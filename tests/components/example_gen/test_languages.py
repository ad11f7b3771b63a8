"""Languages of real customer messages: sure ones are right, and most are sure."""

import csv
from pathlib import Path

import pytest

from components.example_gen import languages

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def detect():
    pytest.importorskip("py3langid", reason="make setup installs py3langid")
    return languages.detector()


def test_no_message_of_the_sample_gets_a_wrong_language(detect):
    with open(ROOT / "data" / "sample" / "support.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    found = detect([row["message"] for row in rows])
    sure = [
        (name, row["language"])
        for name, row in zip(found, rows, strict=True)
        if name != languages.UNSURE
    ]
    assert [pair for pair in sure if pair[0] != pair[1]] == []
    assert len(sure) > 0.95 * len(rows)


def test_each_language_has_its_code(detect):
    texts = {
        "en": "Where is the money that I sent to my landlord?",
        "de": "Wo ist das Geld, das ich meinem Vermieter geschickt habe?",
        "fr": "Où est l'argent que j'ai envoyé à mon propriétaire ?",
        "ru": "Где деньги, которые я отправил своему арендодателю?",
        "zh": "我寄给房东的钱在哪里？",
    }
    assert detect(list(texts.values())) == list(texts)


@pytest.mark.parametrize("text", ["", "?", "ok", "4031", "😀", "PIN", "\u00e9"])
def test_text_that_is_too_short_is_unsure(detect, text):
    assert detect([text]) == ["unsure"]


def test_without_the_package_there_is_no_detector(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "py3langid", None)
    assert languages.detector() is None
