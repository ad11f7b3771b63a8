"""What TFDV says becomes findings that name split, column, reason and rows."""

import dataclasses

import pytest

from components.data_gate.rules import schema_rules
from components.data_gate.rules.schema_rules import Anomaly


def outside(feature, split="eval"):
    return Anomaly(split, feature, schema_rules.OUTSIDE_DOMAIN, "Unexpected values.")


@pytest.fixture
def findings(rows, settings):
    lax = settings()

    def findings(anomalies, *, held=(), domains=None, settings=lax, derived=()):
        splits = {"train": rows(("one", "a"), ("two", "b")), "eval": held}
        return schema_rules.schema_anomalies(
            anomalies, splits, domains or {}, settings, derived
        )

    return findings


def test_dropped_column_stops_with_split_column_and_reason(findings):
    anomaly = Anomaly("train", "text", "FEATURE_TYPE_NOT_PRESENT", "Column dropped.")
    (found,) = findings([anomaly])
    assert found.severity == "stop"
    assert found.message == (
        "The train split does not fit the schema: text (column 'message'): Column "
        "dropped. Correct the file, or name a schema that allows them as "
        "`data.reviewed_schema`."
    )


def test_value_outside_the_schema_is_found_in_its_rows(findings, rows):
    held = rows(*[(f"t{i}", "a") for i in range(5)], prefix="e", channel="fax")
    (found,) = findings(
        [outside("channel")], held=held, domains={"channel": ["web", ""]}
    )
    assert found.examples == ("'fax' (e0 't0')", "'fax' (e1 't1')", "'fax' (e2 't2')")
    assert (
        "Rows: 'fax' (e0 't0'), 'fax' (e1 't1'), 'fax' (e2 't2') and 2 more."
        in found.message
    )


def test_one_row_of_ten_thousand_is_named(findings, rows):
    held = rows(*[("t", "a")] * 10_000, prefix="e", channel="web")
    held[7777] = dataclasses.replace(held[7777], slices={"channel": "fax"})
    (found,) = findings([outside("channel")], held=held, domains={"channel": ["web"]})
    assert found.examples == ("'fax' (e7777 't')",)


def test_label_that_a_reviewed_schema_lacks_is_told_of_train(findings):
    (found,) = findings([outside("target", "train")], domains={"target": ["a"]})
    assert (found.rule, found.examples) == ("schema", ("'b' (r1 'two')",))


def test_anomaly_of_the_whole_split_stops(findings):
    anomaly = Anomaly("eval", "", "DATASET_LOW_NUM_EXAMPLES", "No examples.")
    (found,) = findings([anomaly])
    assert found.severity == "stop"
    assert "The eval split does not fit the schema: all of it: No" in found.message


def test_reviewed_schema_can_be_left_out(findings, settings, allow):
    reviewed = settings().model_copy(update={"reviewed_schema": "intents"})
    (found,) = findings([outside("channel")], settings=reviewed)
    assert "allow them in the reviewed schema (intents)" in found.message
    assert allow(reviewed, found).reviewed_schema is None


@pytest.mark.parametrize("name", ["text_length", "language"])
def test_new_value_of_a_slice_that_is_made_here_is_noted(findings, name):
    (found,) = findings([outside(name)], derived={name})
    assert found.severity == "note"
    assert "Correct" not in found.message
    (found,) = findings([outside(name)])
    assert found.severity == "stop"


def test_many_anomalies_are_told_in_one_after_the_first_ten(findings):
    anomalies = [outside("text_length"), *[outside(f"c{i}") for i in range(14)]]
    found = findings(anomalies, derived={"text_length"})
    assert len(found) == 11
    assert [f.severity for f in found] == ["stop"] * 11
    assert "in 5 more ways: eval: column 'c10': Unexpected values" in found[-1].message
    assert len(found[-1].examples) == 5
