import pytest

from components.data_gate.texts.scripts import main_script


@pytest.mark.parametrize(
    "text, script",
    [
        ("My card is lost", "Latin"),
        ("Café für Łódź", "Latin"),
        ("我的卡丢了 PIN", "Han"),
        ("カードをなくしました", "Hiragana"),
        ("Где моя карта? OK", "Cyrillic"),
        ("أين بطاقتي", "Arabic"),
        ("카드를 잃어버렸어요", "Hangul"),
        ("ບັດ", "Lao"),
        ("ᚠᚢᚦ", "other"),
        ("12.50 €, 😀!", "no letters"),
        ("12:30", "no letters"),
        ("", "no letters"),
    ],
)
def test_main_script_is_the_one_with_most_letters(text, script):
    assert main_script(text) == script
