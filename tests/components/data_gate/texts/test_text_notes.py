"""Notes at their thresholds, and limits of the schema that stop."""

import numpy as np
import pytest

from components.data_gate.texts import text_notes
from components.data_gate.texts.text_statistics import TokenCounts
from components.example_gen.examples import Example
from components.example_gen.settings import DataSettings

SETTINGS = DataSettings(
    train="a.csv", text="message", target="intent", reviewed_schema="reviewed"
)


def group(*, truncated=0, p99=10, unknown=0.0, key="model.max_source_tokens", at=128):
    """What `text_statistics.summarise` gives for 1,000 rows."""
    return {
        "tokens": {"of_rows": 1000, "p99": p99},
        "truncated": {
            **{"of_rows": 1000, "key": key, "max_tokens": at},
            **{"rows": truncated, "share": truncated / 1000},
        },
        "unknown": {
            **{"of_rows": 1000, "rows": 20, "share": unknown},
            "most_frequent": [("你", 1200), ("好", 7)],
        },
    }


def notes(text, *, positions=512, **others):
    statistics = {"train": {"rows": 1000, "text": text, **others}}
    return text_notes.notes(statistics, positions=positions)


def test_few_truncated_rows_and_few_unknown_tokens_are_no_note():
    assert notes(group(truncated=50, unknown=0.01)) == []


def test_many_truncated_rows_are_noted_with_the_value_that_keeps_them():
    (found,) = notes(group(truncated=51, p99=200))
    assert (found.rule, found.severity) == ("truncated_text", "note")
    assert found.message == (
        "Texts longer than `model.max_source_tokens` (128) lose their end: 5.1% of "
        "train (51 of 1,000 rows). To keep 99% whole: "
        "`--set model.max_source_tokens=200`."
    )


@pytest.mark.parametrize(
    "at, p99, positions, way",
    [
        (
            128,
            700,
            512,
            "99% would need 700 tokens, and this checkpoint reads at most 512: "
            "`--set model.max_source_tokens=512`.",
        ),
        (
            512,
            700,
            512,
            "99% would need 700 tokens, and this checkpoint reads at most 512; shorten "
            "them in the file.",
        ),
        (128, 700, None, "To keep 99% whole: `--set model.max_source_tokens=700`."),
        (
            128,
            9000,
            None,
            "99% would need 9,000 tokens, and `model.max_source_tokens` allows at most "
            "4,096: `--set model.max_source_tokens=4096`.",
        ),
    ],
    ids=["positions", "at_positions", "no_positions", "bound"],
)
def test_value_that_is_offered_can_be_set(at, p99, positions, way):
    (found,) = notes(group(truncated=300, p99=p99, at=at), positions=positions)
    assert found.message.endswith(way)


def test_targets_are_bounded_by_their_own_key():
    long = group(truncated=300, p99=900, key="model.max_target_tokens", at=64)
    (found,) = notes(group(), target=long)
    assert found.message.startswith("Targets longer than `model.max_target_tokens`")
    assert found.message.endswith("`--set model.max_target_tokens=900`.")


def test_both_splits_are_in_one_note_with_the_larger_value():
    statistics = {
        "train": {"rows": 1000, "text": group(truncated=60, p99=150)},
        "eval": {"rows": 1000, "text": group(truncated=90, p99=140)},
    }
    (found,) = text_notes.notes(statistics, positions=None)
    assert "6.0% of train" in found.message and "9.0% of eval" in found.message
    assert "max_source_tokens=150`" in found.message


def test_many_unknown_tokens_are_noted_with_examples():
    (found,) = notes(group(unknown=0.021))
    assert (found.rule, found.severity) == ("unknown_text", "note")
    assert found.message == (
        "Texts with signs or words that are not in the checkpoint's vocabulary, so "
        "that the model does not see them: 2.1% of train's tokens (in 20 of 1,000 "
        "rows), like '你' (1,200 times), '好' (7 times). If they matter, name a "
        "checkpoint that knows them as `model.checkpoint`."
    )


def too_long(lengths, limits):
    rows = [Example(f"text {i}", "a", f"r{i}", {}) for i in range(len(lengths))]
    lengths = np.array(lengths, np.int64)
    counts = {"train": {"text": TokenCounts(lengths, np.zeros_like(lengths))}}
    return text_notes.too_long(
        {"train": rows}, counts, limits=limits, settings=SETTINGS
    )


def test_text_of_just_the_limit_is_allowed():
    assert too_long([9, 10], {"text": 10}) == []


def test_longer_texts_stop_and_are_named():
    (found,) = too_long([11, 5, 12, 13, 2000], {"text": 10})
    assert (found.rule, found.severity) == ("too_long_text", "stop")
    assert found.allow == "data.reviewed_schema"
    assert found.message == (
        "Texts of the train split longer than the 10 tokens that the schema allows: "
        "4 rows: 'text 0' (r0: 11 tokens), 'text 2' (r2: 12 tokens), 'text 3' (r3: 13 "
        "tokens) and 1 more. Shorten them or take them out of the file, allow them in "
        "the reviewed schema (reviewed: `max_sequence_length` of 'text'), or go on "
        "without it: `--set data.reviewed_schema=null`."
    )


def test_limit_of_what_is_not_counted_is_none():
    assert too_long([11], {"target": 10}) == []
