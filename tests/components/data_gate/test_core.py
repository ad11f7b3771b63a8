"""components.data_gate.core: each rule, what it says, and which key allows it."""

import pytest

from components.data_gate import core
from components.data_gate.core import Anomaly
from components.example_gen.examples import Example
from components.example_gen.settings import DataSettings

LAX = {"min_train_examples": 1, "min_eval_examples": 1, "min_examples_per_label": 1}


def settings(**gate):
    return DataSettings(
        train="a.csv", text="message", target="intent", gate={**LAX, **gate}
    )


def rows(*pairs, prefix="r", **slices):
    return [
        Example(text, target, f"{prefix}{i}", slices)
        for i, (text, target) in enumerate(pairs)
    ]


def findings(train, held, *, anomalies=(), domains=None, task="classification", **gate):
    return core.check(
        {"train": train, "eval": held},
        anomalies,
        domains=domains or {},
        settings=settings(**gate),
        task=task,
    )


TRAIN = rows(("one", "a"), ("two", "b"))
EVAL = rows(("three", "a"), ("four", "b"), prefix="e")


def test_clean_data_has_no_findings():
    assert findings(TRAIN, EVAL) == []


@pytest.mark.parametrize(
    "train, held, message",
    [
        (
            TRAIN[:1],
            EVAL,
            "The train split has 1 example, and at least 2 are asked for. Add rows, or "
            "allow it: `--set data.gate.min_train_examples=1`.",
        ),
        (
            TRAIN,
            [],
            "The eval split has 0 examples, and at least 2 are asked for. Add rows.",
        ),
    ],
    ids=["train", "eval"],
)
def test_too_few_examples_stop(train, held, message):
    found = core.too_few_examples(
        {"train": train, "eval": held},
        settings(min_train_examples=2, min_eval_examples=2),
    )
    assert [(f.severity, f.message) for f in found] == [("stop", message)]


def test_every_rare_label_is_named():
    train = rows(*[("t", "a")] * 3, ("t", "b"), *[("t", "c")] * 2)
    (found,) = core.rare_labels(train, settings(min_examples_per_label=3))
    assert found.severity == "stop"
    assert found.examples == ("'b' (1)", "'c' (2)")
    assert found.allow == "data.gate.min_examples_per_label"
    assert "Labels with fewer than 3 train examples: 2 of 3: " in found.message


def test_label_that_train_never_has_is_named_with_its_rows():
    (found,) = findings(TRAIN, rows(("x", "c"), ("y", "c"), ("z", "a"), prefix="e"))
    assert (found.rule, found.severity) == ("unseen_label", "stop")
    assert found.examples == ("'c' (2 rows: e0, e1)",)


def test_summaries_have_no_labels():
    held = rows(("three", "new"), prefix="e")
    assert findings(TRAIN, held, task="summarization", min_examples_per_label=9) == []


@pytest.mark.parametrize(
    "max_share, severity",
    [(0.0, "stop"), (0.24, "stop"), (0.25, "note"), (1.0, "note")],
    ids=["default", "below", "at", "all"],
)
def test_text_in_both_splits_stops_above_the_share(max_share, severity):
    held = rows((" ONE ", "a"), ("x", "a"), ("y", "a"), ("z", "a"), prefix="e")
    (found,) = findings(TRAIN, held, max_leaked_share=max_share)
    assert (found.rule, found.severity) == ("leaked_text", severity)
    assert found.examples == ("'ONE' (eval e0, train r0)",)
    assert "1 of 4 (25.00%): 'ONE'" in found.message


def test_leak_shows_three_texts_and_offers_a_share_that_is_enough():
    texts = [(f"text {i}", "ab"[i % 2]) for i in range(7)]
    train, held = rows(*texts), rows(*texts[:5], ("x", "a"), ("y", "a"), prefix="e")
    (found,) = findings(train, held)
    assert len(found.examples) == 3
    assert "and 2 more" in found.message
    assert "max_leaked_share=0.715`" in found.message
    (allowed,) = findings(train, held, max_leaked_share=0.715)
    assert allowed.severity == "note"


def test_text_with_two_labels_is_noted():
    train = rows(("one", "a"), ("One", "b"), ("two", "b"))
    (found,) = findings(train, EVAL)
    assert (found.rule, found.severity) == ("contradicting_labels", "note")
    assert found.examples == ("'one' (a in r0, b in r1)",)


def test_single_label_stops():
    (found,) = findings(rows(("one", "a"), ("two", "a")), rows(("x", "a"), prefix="e"))
    assert (found.rule, found.severity) == ("single_label", "stop")
    assert "All 2 train rows have the label 'a'" in found.message


def test_long_label_is_shown_in_short():
    train = rows(("one", "a"), ("two", "b" * 10_000))
    (found,) = findings(train, EVAL, min_examples_per_label=2)[:1]
    assert len(found.message) < 500


# Anomalies


def outside(feature, split="eval"):
    return Anomaly(split, feature, core.OUTSIDE_DOMAIN, "Unexpected values.")


@pytest.mark.parametrize(
    "feature, task, findings_expected",
    [
        ("text", "classification", 0),
        ("example_id", "classification", 0),
        ("target", "summarization", 0),
        ("target", "classification", 1),
        ("channel", "summarization", 1),
    ],
)
def test_closed_lists_do_not_bind_free_text(feature, task, findings_expected):
    found = findings(TRAIN, EVAL, anomalies=[outside(feature)], task=task)
    assert len(found) == findings_expected


def test_other_anomalies_of_the_text_stop():
    anomaly = Anomaly("train", "text", "FEATURE_TYPE_NOT_PRESENT", "Column dropped.")
    (found,) = findings(TRAIN, EVAL, anomalies=[anomaly])
    assert found.severity == "stop"
    assert found.message == (
        "The train split does not fit the schema: text (column 'message'): Column "
        "dropped. Correct the file, or name a schema that allows them as "
        "`data.reviewed_schema`."
    )


def test_value_outside_the_schema_is_found_in_its_rows():
    held = rows(*[(f"t{i}", "a") for i in range(5)], prefix="e", channel="fax")
    (found,) = findings(
        TRAIN, held, anomalies=[outside("channel")], domains={"channel": ["web", ""]}
    )
    assert found.examples == ("'fax' (e0)", "'fax' (e1)", "'fax' (e2)")
    assert "Rows: 'fax' (e0), 'fax' (e1), 'fax' (e2) and 2 more." in found.message


def test_unseen_label_is_told_once():
    held = rows(("three", "typo"), prefix="e")
    (found,) = findings(
        TRAIN, held, anomalies=[outside("target")], domains={"target": ["a", "b"]}
    )
    assert found.rule == "unseen_label"


def test_label_that_a_reviewed_schema_lacks_is_told_of_train():
    (found,) = findings(
        TRAIN, EVAL, anomalies=[outside("target", "train")], domains={"target": ["a"]}
    )
    assert (found.rule, found.examples) == ("schema", ("'b' (r1)",))


def test_new_band_of_lengths_is_noted():
    (found,) = findings(TRAIN, EVAL, anomalies=[outside("text_length")])
    assert found.severity == "note"
    assert "Correct" not in found.message


def test_findings_that_stop_come_first():
    train = rows(("one", "a"), ("one", "b"))
    found = findings(train, EVAL, anomalies=[outside("channel")])
    assert [f.severity for f in found] == ["stop", "note"]
