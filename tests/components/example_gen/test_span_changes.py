"""What is said and recorded of deliveries, against an earlier run."""

import pytest

from components.example_gen import span_changes
from components.example_gen.span_changes import Earlier, SpanRecord, State
from components.example_gen.spans import Found, Span


def found(*numbers, outside=(), partial=None, window=None):
    read = tuple(Span(n, (f"/d/{n}.csv",), ("train/a.csv",)) for n in numbers)
    return Found(read, tuple(outside), partial or {}, window)


def hashes(there, **changed):
    """SHA-256 of each file, made up: that of 3.csv is "3" unless `s3` says else."""
    return {
        f"/d/{span.number}.csv": changed.get(f"s{span.number}", str(span.number))
        for span in there.read
    }


def ran(there):
    """The record of a run that read this."""
    return Earlier("R", span_changes.records(there, hashes(there), None))


def told(now, earlier=None, **changed):
    """The states by number, and the notes after the first."""
    made = span_changes.records(now, hashes(now, **changed), earlier)
    notes = span_changes.notes(now, made, earlier)
    return {r.span: r.state.value for r in made}, list(notes[1:])


@pytest.mark.parametrize(
    "now, said",
    [
        (found(1), "span 1 of 1"),
        (found(9, 10, 11, 12, outside=range(1, 9), window=4), "spans 9 to 12 of 12"),
        (found(1, 2), "spans 1 and 2 of 2"),
        (found(1, 2, 4, 6, 7, 8), "spans 1, 2, 4 and 6 to 8 of 6"),
        (found(1, 3, 5, 7, 9, 11), "spans 6 from 1 to 11 of 6"),
    ],
    ids=["one", "window", "two", "runs", "many"],
)
def test_first_note_says_which_are_read(now, said):
    (first, *_) = span_changes.notes(now, (), None)
    assert first == said + (" (window 4)" if now.window else "")


def test_first_run_has_nothing_to_compare_with():
    states, notes = told(found(1, 2, partial={3: "no _SUCCESS in /d/3"}))
    assert states == {1: "new", 2: "new", 3: "partial"}
    assert notes == ["span 3 is not complete yet (no _SUCCESS in /d/3): left out"]


def test_unchanged_and_new_ones_need_no_note():
    states, notes = told(found(1, 2, 3), ran(found(1, 2)))
    assert states == {1: "unchanged", 2: "unchanged", 3: "new"}
    assert notes == []


def test_older_one_that_is_new_came_late():
    states, notes = told(found(1, 2, 4), ran(found(1, 4)))
    assert states[2] == "late"
    assert notes == [
        "span 3 is missing: there is nothing of this number",
        "span 2 came late: run R had read up to span 4 without it; read now",
    ]


def test_one_that_was_partial_and_is_complete_after_a_newer_one_came_late():
    states, _ = told(found(1, 2, 3), ran(found(1, 3, partial={2: "no _SUCCESS"})))
    assert states[2] == "late"


def test_grown_window_makes_no_delivery_late():
    earlier = ran(found(3, 4, outside=(1, 2), window=2))
    states, notes = told(found(2, 3, 4, outside=(1,), window=3), earlier)
    assert states == {
        1: "outside the window",
        2: "new",
        3: "unchanged",
        4: "unchanged",
    }
    assert notes == []


def test_late_one_before_the_window_is_said_and_not_read():
    earlier = ran(found(3, 4, window=2))
    states, notes = told(found(3, 4, outside=(2,), window=2), earlier)
    assert states[2] == "outside the window"
    assert notes == [
        "span 2 came after run R had read up to span 4, and is older than the window: "
        "not read"
    ]


def test_other_content_was_delivered_again():
    states, notes = told(found(7, 8), ran(found(7, 8)), s8="other")
    assert states == {7: "unchanged", 8: "delivered again"}
    assert notes == [
        "span 8 was delivered again since run R: its rows are read anew",
    ]


def test_file_under_another_name_was_delivered_again():
    earlier = ran(found(1))
    renamed = Found((Span(1, ("/d/1.csv",), ("train/b.csv",)),), (), {}, None)
    assert told(renamed, earlier)[0] == {1: "delivered again"}


def test_moved_folder_changes_nothing():
    moved = Found((Span(1, ("/e/1.csv",), ("train/a.csv",)),), (), {}, None)
    made = span_changes.records(moved, {"/e/1.csv": "1"}, ran(found(1)))
    assert [record.state for record in made] == [State.UNCHANGED]


@pytest.mark.parametrize(
    "now",
    [found(1, 3, window=3), found(1, 3), found(1, 3, outside=(0,), window=2)],
    ids=["not_full", "no_window", "full"],
)
def test_one_that_is_gone_from_the_window_is_said_and_recorded(now):
    earlier = ran(found(1, 2, 3, outside=(0,)))
    states, notes = told(now, earlier)
    assert states[2] == "vanished"
    assert notes == [
        "span 2 is gone, and run R had read it: the model is trained without. "
        "Restore it unless this is meant"
    ]


def test_one_that_is_gone_and_older_than_the_window_is_not_missed():
    states, notes = told(found(2, 3, window=2), ran(found(1, 2, window=2)))
    assert (states, notes) == ({2: "unchanged", 3: "new"}, [])


def test_one_that_stays_gone_is_said_once():
    made = span_changes.records(found(1), {"/d/1.csv": "1"}, ran(found(1, 2)))
    assert told(found(1), Earlier("S", made)) == ({1: "unchanged"}, [])


def test_one_that_lost_its_marker_is_said_apart_from_new_ones():
    now = found(1, partial={2: "no _SUCCESS in /d/2", 3: "no _SUCCESS in /d/3"})
    _, notes = told(now, ran(found(1, 2)))
    assert notes == [
        "span 3 is not complete yet (no _SUCCESS in /d/3): left out",
        "span 2 was complete in run R and is not now (no _SUCCESS in /d/2): left out",
    ]


def test_partial_ones_share_a_line_and_old_ones_are_not_waited_for():
    lacks = {n: f"no _SUCCESS in /d/{n}" for n in (1, 5, 6)}
    _, notes = told(found(3, 4, partial=lacks, window=2))
    assert notes == [
        "spans 5 and 6 are not complete yet (no _SUCCESS in /d/6 for span 6): left out"
    ]


def test_record_survives_its_json():
    (record,) = span_changes.records(found(1), {"/d/1.csv": "1"}, None)
    assert SpanRecord.model_validate(record.model_dump(mode="json")) == record
    assert record.model_dump(mode="json")["state"] == "new"
