"""All rules together: which run for which task, in which order, told how often."""

import pytest

from components.data_gate import core
from components.data_gate.rules import schema_rules
from components.data_gate.rules.schema_rules import Anomaly

TEXT = "could you please tell me why my card was declined today"


@pytest.fixture
def findings(settings):
    def findings(
        train, held, *, anomalies=(), domains=None, task="classification", **gate
    ):
        return core.check(
            {"train": train, "eval": held},
            anomalies,
            domains=domains or {},
            settings=settings(**gate),
            task=task,
        )

    return findings


@pytest.fixture
def train(rows):
    return rows(("one", "a"), ("two", "b"))


@pytest.fixture
def held(rows):
    pairs = [(f"number {word}", label) for word in "vwxyz" for label in "ab"]
    return rows(*pairs, prefix="e")


def outside(feature, split="eval"):
    return Anomaly(split, feature, schema_rules.OUTSIDE_DOMAIN, "Unexpected values.")


def test_clean_data_has_no_findings(findings, train, held):
    assert findings(train, held) == []


def test_summaries_have_no_labels(findings, rows):
    train = rows(("one", "A target"), ("one", "a target"))
    held = rows(("three", "new"), prefix="e")
    assert findings(train, held, task="summarization", min_examples_per_label=9) == []


def test_unseen_label_is_told_once(findings, rows, train):
    held = rows(*[("three", "a")] * 5, *[("x", "b")] * 5, ("four", "typo"), prefix="e")
    (found,) = findings(
        train, held, anomalies=[outside("target")], domains={"target": ["a", "b"]}
    )
    assert found.rule == "unseen_label"


def test_equal_text_is_told_once(findings, rows, held):
    train = rows((TEXT, "a"), ("two", "b"))
    copies = [*held, *rows((TEXT.upper(), "a"), prefix="c")]
    assert [f.rule for f in findings(train, copies)] == ["leaked_text"]


def test_findings_that_stop_come_first_and_the_gravest_at_the_top(findings, rows):
    train = rows((TEXT, "a"), (TEXT, "A"), ("two", "b"), ("two", "b"), channel="")
    held = rows((f"{TEXT}s", "c"), (TEXT, "b"), prefix="e", channel="fax")
    found = findings(
        train, held, anomalies=[outside("channel")], max_interval_half_width=0.15
    )
    assert [(f.severity, f.rule) for f in found] == [
        ("stop", "unseen_label"),
        ("stop", "schema"),
        ("stop", "leaked_text"),
        ("stop", "near_duplicate"),
        ("stop", "contradicting_labels"),
        ("stop", "similar_labels"),
        ("stop", "wide_interval"),
        ("stop", "missing_value"),
        ("note", "thin_label"),
        ("note", "repeated_row"),
    ]


def test_no_message_drowns_the_others(findings, rows):
    """Labels, texts and ids of 2,000 characters, and everything wrong."""
    long = "x" * 2000
    train = rows(*[(f"{long} {i}", f"{i} {long}") for i in range(60)], prefix=long)
    held = rows(*[(f"{long} {i}", f"{i} {long}!") for i in range(60)], prefix=long)
    anomalies = [
        Anomaly("eval", f"column {i}", schema_rules.OUTSIDE_DOMAIN, long)
        for i in range(200)
    ]
    found = findings(train, held, anomalies=anomalies, min_examples_per_label=2)
    assert {"unseen_label", "rare_label", "leaked_text", "schema"} <= {
        f.rule for f in found
    }
    assert len(found) < 25
    assert max(len(f.message) for f in found) < 10_000
