"""Each way in which a new file can differ, and whether it stops a run."""

import numpy as np
import pytest

from components.data_gate.reviewed_schema import Column
from components.example_gen.examples import Example
from components.schema_inference.differences import Difference, compare

TEXT = Column("text", None, 1, True, 10)
TARGET = Column("target", ("a", "b"), 1, True, None)
ROW_NAME = Column("example_id", None, 1, True, None)
CHANNEL = Column("channel", ("", "web"), 1, True, None)
SCHEMA = (TEXT, TARGET, ROW_NAME, CHANNEL)


def rows(*pairs):
    return [
        Example(f"text {i}", label, f"r{i}", {"channel": channel})
        for i, (label, channel) in enumerate(pairs)
    ]


GOOD = rows(("a", "web"), ("b", ""))


def differences(
    train=GOOD,
    *,
    columns=SCHEMA,
    read=("channel",),
    missing=(),
    lengths=None,
    derived=(),
):
    return compare(
        {"train": train},
        {column.name: column for column in columns},
        read=read,
        missing=missing,
        lengths=lengths,
        derived=derived,
    )


def test_file_like_the_schema_has_no_difference():
    assert differences() == []


def test_new_label_is_told_with_its_rows():
    found = differences([*GOOD, *rows(("abd", "web"), ("abd", ""))])
    assert found == [
        Difference(
            "Labels that the schema does not list",
            ("'abd': 2 rows: 'text 0' (r0), 'text 1' (r1)",),
        )
    ]


def test_new_and_gone_value_of_a_slice_are_two_groups_and_the_stop_is_first():
    found = differences(rows(("a", "web"), ("b", "fax")))
    assert found == [
        Difference(
            "Values of 'channel' that the schema does not list",
            ("'fax': 1 row: 'text 1' (r1)",),
        ),
        Difference("Values of 'channel' that no row has any more", ("''",), False),
    ]


def test_gone_label_stops_no_run():
    (found,) = differences(rows(("a", "web"), ("a", "")))
    assert found == Difference("Labels that no row has any more", ("'b'",), False)


def test_many_new_labels_are_cut_with_how_many_more():
    new = rows(*((f"n{i:02}", "web") for i in range(25)))
    found = differences([*GOOD, *new])[0]
    assert len(found.lines) == 21 and found.lines[-1] == "and 5 more"


def test_slice_that_the_file_lacks_is_missing():
    (found,) = differences(read=(), missing=("channel",))
    assert found == Difference(
        "Columns that are missing", ("'channel': `data.slices` names it",)
    )


def test_column_that_the_job_does_not_read_is_missing():
    (found,) = differences(read=())
    assert "`data.slices` does not name it" in found.lines[0] and found.stops


def test_column_that_the_schema_does_not_require_may_be_missing():
    optional = Column("channel", ("web",), 0, False, None)
    assert differences(columns=(*SCHEMA[:3], optional), read=()) == []


def test_column_that_the_schema_lacks_is_new():
    (found,) = differences(columns=SCHEMA[:3])
    expected = ("'channel'",)
    assert found == Difference("Columns that the schema does not have", expected)


def test_longer_text_is_named():
    lengths = {"train": {"text": np.array([10, 11])}}
    (found,) = differences(lengths=lengths)
    assert found == Difference(
        "A text of more than the 10 tokens that are allowed",
        ("'text 1' (r1): 11 tokens",),
    )


def test_fewer_rows_than_the_minimum_are_told_by_split():
    many = (Column("text", None, 3, True, None), *SCHEMA[1:])
    (found,) = differences(columns=many)
    assert found.lines == ("train: 2 rows, and min_count is 3",) and found.stops


@pytest.mark.parametrize(
    "name, value, listed",
    [("text_length", "over 5 words", "up to 5 words"), ("language", "de", "en")],
)
def test_value_that_is_made_here_stops_no_run(name, value, listed):
    made = Column(name, (listed,), 1, True, None)
    rows = [Example("t", label, "r", {name: value}) for label in "ab"]
    columns = (*SCHEMA[:3], made)
    assert differences(rows, columns=columns, read=(name,), derived={name}) == []
    (new, gone) = differences(rows, columns=columns, read=(name,))
    assert new.stops and not gone.stops
