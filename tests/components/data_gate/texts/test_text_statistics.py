"""The numbers, each counted by hand, with a word for a token."""

from collections import Counter

import numpy as np
import pytest

from components.data_gate.texts import text_statistics as ts
from components.data_gate.texts.text_statistics import TokenCounts
from components.example_gen.examples import Example
from trainer_module.settings import ModelSettings

MODEL = ModelSettings(checkpoint="x", max_source_tokens=4, max_target_tokens=2)


def count_words(feature, texts):
    """A word is a token, and a word in capitals is an unknown one."""
    words = [text.split() for text in texts]
    unknown = [[w for w in of_text if w.isupper()] for of_text in words]
    return TokenCounts(
        np.array([len(of_text) for of_text in words], np.int64),
        np.array([len(of_text) for of_text in unknown], np.int64),
        Counter(w for of_text in unknown for w in of_text),
    )


def rows(*texts, target="a"):
    return [Example(text, target, f"r{i}", {}) for i, text in enumerate(texts)]


def first_letters(texts):
    return [text[0] for text in texts]


def summarise(examples, task="classification", detect=first_letters):
    splits = {"train": examples}
    counts = ts.count_all(splits, task, count_words)
    return ts.summarise(splits, counts, model=MODEL, detect=detect)["train"]


def test_lengths_are_told_in_characters_and_tokens():
    found = summarise(rows("a b c", "dd", "e f"))
    assert found["rows"] == 3
    assert found["text"]["characters"] == {
        **{"of_rows": 3, "mean": 3.3},
        **{"median": 3, "p95": 5, "p99": 5, "max": 5},
    }
    assert found["text"]["tokens"]["mean"] == 2.0
    assert found["text"]["tokens"]["max"] == 3


def test_percentile_is_a_length_that_occurs_and_that_enough_do_not_exceed():
    spread = ts.spread([*[1] * 98, 7, 900])
    assert (spread["p95"], spread["p99"], spread["max"]) == (1, 7, 900)


def test_spread_of_nothing_has_no_numbers():
    assert ts.spread([]) == {
        **{"of_rows": 0, "mean": None, "median": None},
        **{"p95": None, "p99": None, "max": None},
    }


def test_text_of_just_the_maximum_is_not_truncated():
    found = summarise(rows("a b c d", "a b c d e"))["text"]["truncated"]
    assert found == {
        **{"of_rows": 2, "key": "model.max_source_tokens", "max_tokens": 4},
        **{"rows": 1, "share": 0.5},
    }


def test_unknown_tokens_are_counted_and_the_most_frequent_named():
    found = summarise(rows("X a X", "Y b c", "d"))["text"]["unknown"]
    assert found == {
        **{"of_rows": 3, "of_tokens": 7, "tokens": 3, "share": 0.4286},
        **{"rows": 2, "share_of_rows": 0.6667},
        "most_frequent": [("X", 2), ("Y", 1)],
    }


def test_scripts_are_told_by_share():
    found = summarise(rows("hello", "world", "你好", "12"))["text"]["scripts"]
    assert found == {
        "of_rows": 4,
        "shares": {"Latin": 0.5, "Han": 0.25, "no letters": 0.25},
    }


def test_copies_differ_in_case_and_white_space_only():
    found = summarise(rows("one", "ONE ", "two", "on e"))["text"]["duplicates"]
    assert found == {"of_rows": 4, "rows": 1, "share": 0.25}


def test_languages_are_told_of_every_row_of_a_small_split():
    found = summarise(rows("en 1", "en 2", "de 3"))["text"]["languages"]
    assert found == {"of_rows": 3, "shares": {"e": 0.6667, "d": 0.3333}}


def test_languages_of_a_large_split_are_told_from_a_sample_that_stays():
    texts = [f"{'ab'[i % 2]} {i}" for i in range(3000)]
    asked = []

    def detect(texts):
        asked.append(set(texts))
        return ["en"] * len(texts)

    found = summarise(rows(*texts), detect=detect)["text"]["languages"]
    assert found == {"of_rows": 2000, "shares": {"en": 1.0}}
    summarise(rows(*texts, "one more"), detect=detect)
    assert len(asked[0] - asked[1]) <= 1


def test_without_a_detector_the_reason_is_told():
    found = summarise(rows("a"), detect=None)["text"]["languages"]
    assert found["of_rows"] == 0 and "make setup" in found["why_none"]


def test_label_is_no_text():
    assert set(summarise(rows("a"))) == {"rows", "text"}


def test_target_of_a_summary_is_its_first_reference():
    examples = rows("a b", target="one two three\x1eanother")
    found = summarise(examples, "summarization")["target"]
    assert found["tokens"]["max"] == 3
    assert found["characters"]["max"] == len("one two three")
    assert found["truncated"]["key"] == "model.max_target_tokens"
    assert found["truncated"]["rows"] == 1
    assert "duplicates" not in found


@pytest.mark.parametrize("task", ["classification", "summarization"])
def test_no_rows_have_statistics_of_no_rows(task):
    found = summarise([], task)["text"]
    assert found["truncated"]["share"] == 0.0
    assert found["unknown"]["share"] == 0.0
    assert found["languages"] == {"of_rows": 0, "shares": {}}
