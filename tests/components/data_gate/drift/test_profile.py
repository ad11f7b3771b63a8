"""components.data_gate.profile: what is counted, what is kept, what is read back."""

import json
from collections import Counter

import numpy as np
import pytest

from components.data_gate.drift import profile
from components.example_gen.examples import Example


def rows(*texts, target="a", **slices):
    return [Example(text, target, f"r{i}", slices) for i, text in enumerate(texts)]


def of(found, *, task="classification", columns=None):
    counts = profile.count(found, task)
    return profile.of(counts, task=task, columns=columns or {})


def test_words_are_folded_and_lose_the_punctuation_that_closes_them():
    counts = profile.count(
        rows("Card lost?", "card (LOST), ｃａｒｄ 退款!"), "classification"
    )
    assert counts.words == Counter({"card": 3, "lost": 2, "退": 1, "款": 1})
    assert counts.word_rows == Counter({"card": 2, "lost": 2, "退": 1, "款": 1})
    assert counts.text_words.tolist() == [2, 5]


def test_nothing_of_fewer_than_5_rows_is_kept_but_label_names():
    found = rows(*["common"] * 5, *["rare"] * 4, channel="web")
    found[5] = Example("rare " * 9, "b", "long", {"channel": "fax"})
    made = of(found)
    assert made.words == {"common": 5}
    assert made.slices == {"channel": {"web": 8}}
    assert made.labels == {"a": 8, "b": 1}
    assert made.text_words == profile.Histogram(edges=(1,), rows=(9,))
    assert "rare" not in made.to_json() and "fax" not in made.to_json()


def test_word_often_in_few_rows_is_not_frequent():
    assert of(rows(*["word word word"] * 4, "other")).words == {}


def test_at_most_2000_words_and_100_values_are_kept_the_commonest_first():
    found = [
        Example(f"every w{i}", "a", f"{i}.{n}", {"channel": f"v{i}"})
        for i in range(2100)
        for n in range(5)
    ]
    made = of(found)
    assert len(made.words) == 2000
    assert made.words["every"] == 2100 * 5
    assert len(made.slices["channel"]) == 100


def test_histogram_bins_hold_5_rows_each():
    made = profile.histogram(np.array([1] * 5 + [2] * 3 + [3] * 2 + [9] * 6 + [900]))
    assert made.edges == (1, 3, 10) and made.rows == (5, 5, 7)
    assert made.cumulative.tolist() == pytest.approx([5 / 17, 10 / 17, 1])


def test_histogram_takes_texts_of_any_length():
    made = profile.histogram(np.array([0] * 5 + [10**7] * 5))
    assert made.edges == (1, 2**20) and made.rows == (5, 5)


@pytest.mark.parametrize(
    "lengths, median",
    [
        ([3] * 10 + [40] * 5, "1 to 3"),
        ([1] * 5 + [2] * 20 + [40] * 5, "2"),
        ([1] * 5 + [40] * 20, "2 to 46"),
    ],
    ids=["range", "one_length", "last"],
)
def test_median_of_a_histogram_is_a_bin(lengths, median):
    assert profile.histogram(np.array(lengths)).median_in_words() == median


def test_fewer_than_5_rows_have_no_histogram():
    assert profile.histogram(np.array([1, 2, 3, 4])).rows == ()


def test_share_of_unknown_words_is_that_of_fresh_rows():
    # "six" is frequent without any one of its rows, "five" only with all of them.
    made = of(rows(*["six five"] * 5, "six odd"))
    assert set(made.words) == {"six", "five"}
    assert made.unknown_share == 0.5  # 5 times "five" and once "odd" in 12.


def test_error_of_the_unknown_share_counts_rows_and_not_words():
    once = profile.count(rows(*["a b", "c d"] * 20), "classification")
    repeated = profile.count(rows(*["a b " * 50, "c d " * 50] * 20), "classification")
    expected = np.sqrt(0.25 / 39)  # Of 40 rows that are either all known or not.
    assert once.unknown_error({"a", "b"}) == pytest.approx(expected)
    assert repeated.unknown_error({"a", "b"}) == pytest.approx(expected)


def test_lengths_of_summaries_are_of_the_first_reference():
    found = [Example("text", "one two\x1ethree", f"r{i}", {}) for i in range(5)]
    made = of(found, task="summarization")
    assert profile.count(found, "summarization").target_words.tolist() == [2] * 5
    assert made.labels == {} and made.target_words.rows == (5,)


def test_share_of_empty_values():
    found = rows(*["t"] * 10, channel="web", region="")
    found[0] = Example("t", "a", "r0", {"channel": "", "region": ""})
    assert of(found).empty == {"channel": 0.0, "region": 1.0}


def test_columns_are_those_of_the_named_files_as_far_as_they_have_types():
    account = {
        "files": [
            {"path": "a", "columns": {"n": "integer", "x": "text"}},
            {"path": "b", "columns": {"n": "float"}},
            {"path": "c", "columns": {"m": "", "x": ""}},
            {"path": "e", "columns": {"other": "text"}},
        ]
    }
    assert profile.columns_of(account, ("a", "b", "c")) == {
        "m": "",
        "n": "float|integer",
        "x": "text",
    }


# To JSON and back

ROWS = rows(*["Card lost?", "refund please", "退款 now"] * 10, channel="web")


@pytest.mark.parametrize("task", ["classification", "summarization"])
def test_profile_survives_json(task):
    made = of(ROWS, task=task, columns={"text": "text", "n": "int64"})
    assert profile.parse(made.to_json().encode()) == made


def test_order_of_the_rows_leaves_the_bytes_as_they_are():
    assert of(ROWS).to_json() == of(ROWS[::-1]).to_json()


def damaged(**changes):
    return json.dumps({**json.loads(of(ROWS).to_json()), **changes}).encode()


@pytest.mark.parametrize(
    "text, reason",
    [
        (b"", "it is damaged (EOF"),
        (b"\xff\xfe", "it is damaged ("),
        (b"[" * 100_000, "it is damaged ("),
        (of(ROWS).to_json().encode()[:-9], "it is damaged (EOF"),
        (b"[1]", "it is no data profile"),
        (b'{"rows": 3}', "it is no data profile"),
        (damaged(format_version=2), "its format is version 2, and this release reads"),
        (damaged(format_version="1"), "its format is version '1'"),
        (damaged(rows="30"), "it is damaged (rows: "),
        (damaged(rows=-1), "it is damaged (rows: "),
        (damaged(labels={"a": 0}), "it is damaged (labels.a: "),
        (damaged(rows=2**63), "it is damaged (rows: "),
        (damaged(rows=31), "do not add up to 31 rows"),
        (damaged(unknown_share=1.5), "it is damaged (unknown_share: "),
        (damaged(unknown_error=float("nan")), "it is damaged ("),
        (damaged(extra=1), "it is damaged (extra: "),
        (damaged(words={"a": None}), "it is damaged (words.a: "),
        (
            damaged(text_words={"edges": [3, 2], "rows": [10, 20]}),
            "the edges of a histogram must rise",
        ),
        (damaged(text_words={"edges": [3], "rows": [10, 20]}), "as many bins as edges"),
    ],
    ids=lambda value: None if isinstance(value, str) else value[:12].hex(),
)
def test_what_is_not_exactly_a_profile_is_unreadable(text, reason):
    with pytest.raises(profile.Unreadable) as caught:
        profile.parse(text)
    assert reason in str(caught.value)
