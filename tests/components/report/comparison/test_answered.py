"""The answers that an Evaluator has kept, read back."""

import json
import math

import pytest

from components.report.comparison import answered
from tests import evaluated

ROWS = evaluated.rows(["fee", "late"])
LINES = evaluated.lines(ROWS, evaluated.labelled(["fee", "lost"]))


def test_rows_and_answers_come_back_as_they_were():
    found = answered.read(LINES)
    assert found.rows == ROWS
    assert found.predictions == ["fee", "lost"]
    assert found.sure == pytest.approx([0.8, 0.8])


def test_model_that_writes_has_no_probabilities():
    found = answered.read(evaluated.lines(ROWS, evaluated.written(["a", "b"])))
    assert (found.predictions, found.sure) == (["a", "b"], None)


def test_bytes_that_are_no_utf8_come_back():
    rows = evaluated.rows(["fee", "late"], sources=["caf\udce9", "b"])
    lines = evaluated.lines(rows, evaluated.labelled(["fee", "fee"]))
    assert answered.read(lines).rows.sources[0] == "caf\udce9"


def changed(**values):
    return json.dumps({**json.loads(LINES[1]), **values})


def scored(score):
    return {"candidate": {"prediction": "fee", "score": score}}


@pytest.mark.parametrize(
    "lines, said",
    [
        ([], "it has no line"),
        ([LINES[0], LINES[1][:40]], "line 2: it is no JSON, or cut off"),
        ([LINES[0], "7"], "line 2: it lacks a text"),
        ([LINES[0], changed(source=None)], "line 2: it lacks a text"),
        ([LINES[0], changed(answers={"baseline": {}})], "line 2: .* the candidate"),
        ([LINES[0], changed(answers=scored(-1))], "line 2: .* no probability: -1"),
        ([LINES[0], changed(answers=scored(math.nan))], "line 2: .* no probability"),
        ([LINES[0], changed(columns=["a"])], "line 2: it lacks"),
        ([LINES[0], LINES[0]], "line 2: the row 'r0' again"),
    ],
)
def test_line_that_is_none_is_named(lines, said):
    with pytest.raises(answered.Unreadable, match=said):
        answered.read(lines)
