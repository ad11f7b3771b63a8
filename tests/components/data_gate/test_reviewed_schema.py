"""Schemas that people wrote, rightly and wrongly."""

import pytest

from components.data_gate import reviewed_schema
from components.data_gate.reviewed_schema import Column, SchemaError
from tests.pipeline.conftest import ROOT


def test_shipped_schema_is_read():
    text = (ROOT / "schemas" / "support_intent.pbtxt").read_text(encoding="utf-8")
    columns = reviewed_schema.parse(text)
    assert list(columns) == ["text", "target", "example_id", "language", "channel"]
    assert columns["text"] == Column("text", None, 1, True, None)
    assert columns["language"].values == ("en", "zh")
    assert len(columns["target"].values) == 12


def test_list_may_stand_in_the_feature():
    text = 'feature { name: "a" string_domain { value: "x" value: "" } }'
    assert reviewed_schema.parse(text)["a"] == Column("a", ("x", ""), 0, False, None)


def test_limit_on_length_is_read():
    limit = "sequence_length_constraints { max_sequence_length: 9 }"
    text = f'feature {{ name: "a" natural_language_domain {{ {limit} }} }}'
    assert reviewed_schema.parse(text)["a"].max_tokens == 9


@pytest.mark.parametrize(
    "text, line, message",
    [
        ("", None, "it has no `feature`"),
        ("# only words\n", None, "it has no `feature`"),
        ("text,label\nhi,a\n", 1, 'no field named "text"'),
        ('feature {\n  name: "a"\n  typ: BYTES\n}', 3, 'no field named "typ"'),
        ('feature {\n  name: "a"\n', 2, 'Expected "}"'),
        ('feature {\n  name: "a"\n  type: TEXT\n}', 3, "no value named TEXT"),
        (
            'feature { name: "a" }\nfeature { name: "a" }',
            None,
            "the feature 'a' is there twice",
        ),
        (
            'feature {\n  name: "a"\n  domain: "lables"\n}\n'
            'string_domain { name: "labels" value: "x" }',
            3,
            "the domain 'lables', and there is no such `string_domain`, only "
            r"\['labels'\]",
        ),
    ],
    ids=["empty", "comment", "csv", "key", "unclosed", "type", "twice", "domain"],
)
def test_what_is_no_schema_is_refused_with_its_line(text, line, message):
    with pytest.raises(SchemaError, match=message) as error:
        reviewed_schema.parse(text)
    assert error.value.line == line
