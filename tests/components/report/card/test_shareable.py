"""What a card may tell: figures and labels, and no texts of the data or folders."""

import pytest

from components.report.card import shareable

TEXT = "my card 'ends' in 1234"


@pytest.mark.parametrize(
    "sentence, examples, kept",
    [
        ("2 texts have two labels.", (), "2 texts have two labels."),
        ("The model's size is 5 MB.", (), "The model's size is 5 MB."),
        (f"Copies: 2 of 9: {TEXT!r} (eval 1).", (), "Copies: 2 of 9."),
        (f"Copies: 2 of 9: {TEXT} and more.", (TEXT,), "Copies: 2 of 9."),
        ("In 3 rows, like '了' (4 times). Name", (), "In 3 rows."),
        (f"It fails on {TEXT!r}: bad input.", (), "It fails on …"),
        ("Ids of the column 'ticket': 3: x.", ("x",), "Ids of the column 'ticket': 3."),
        (f"{TEXT!r} is wrong.", (), "Its words quote the data, and are left out here."),
    ],
    ids=str,
)
def test_a_sentence_ends_where_it_begins_to_quote_the_data(sentence, examples, kept):
    assert shareable.without_quotations(sentence, ["ticket"], examples) == kept


@pytest.mark.parametrize(
    "checkpoint, name",
    [
        ("/home/me/models/bert/", "bert"),
        ("hub:google/bert@abc", "hub:google/bert@abc"),
        ("package:minilm", "package:minilm"),
        ("create", "create"),
    ],
)
def test_a_checkpoint_is_named_without_the_folders_above_it(checkpoint, name):
    model = {"model": {"checkpoint": checkpoint}}
    lineage = {"checkpoint": checkpoint, "config": model}
    found = shareable.shareable({"lineage": lineage})["lineage"]
    assert found == {"checkpoint": name, "config": {"model": {"checkpoint": name}}}


def test_what_a_schema_lacks_is_not_named():
    message = "The train split does not fit the schema: column 'x': new values: a (2%)."
    finding = {"rule": "schema", "severity": "note", "message": message}
    data = {"lineage": {"config": {"data": {"slices": ["x"]}}}}
    (found,) = shareable.shareable({"findings": [finding], **data})["findings"]
    assert found["message"] == "The train split does not fit the schema: column 'x'"


def test_nothing_known_stays_nothing_known():
    assert shareable.shareable({"account": None, "findings": []}) == {
        "account": None,
        "findings": [],
    }
