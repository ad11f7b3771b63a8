"""Deliveries of a scheduled job, night after night.

The tests build on one another, in the order of the file.
"""

import pytest

from tests.e2e import jobs

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("nightly")


@pytest.fixture(scope="module")
def job(folder, bert):
    return jobs.classification(folder, "in/span-{SPAN}/*.csv", bert)


def deliver(folder, number, rows, *, marker=True):
    there = folder / "in" / f"span-{number}"
    there.mkdir(parents=True, exist_ok=True)
    jobs.write_csv(there / "rows.csv", rows)
    if marker:
        (there / "_SUCCESS").write_text("")


def rows_of(outcome):
    """Rows that were kept, by the folder of their delivery."""
    files = outcome.summary["data"]["files"]
    return {file["path"].split("/")[-2]: file["kept"] for file in files}


def test_complete_deliveries_are_trained_on_and_promoted(folder, job):
    table = jobs.rows(90)
    for number, part in ((1, table[:30]), (2, table[30:60]), (4, table[60:])):
        deliver(folder, number, part)
    outcome = jobs.run(folder, job)
    assert outcome.code == 0, outcome.output
    assert outcome.versions == ["1"]
    assert rows_of(outcome) == {"span-1": 30, "span-2": 30, "span-4": 30}
    told = outcome.output.index("  data: spans 1, 2 and 4 of 3\n")
    assert "  data: span 3 is missing: there is nothing" in outcome.output
    assert told < outcome.output.index("ExampleGen")


def test_nothing_new_is_nothing_to_do(folder, job):
    outcome = jobs.run(folder, job)
    assert outcome.code == 0, outcome.output
    assert "Nothing to do." in outcome.output


def test_half_a_delivery_is_said_and_nothing_to_do(folder, job):
    deliver(folder, 3, jobs.rows(20), marker=False)
    outcome = jobs.run(folder, job)
    assert outcome.code == 0, outcome.output
    assert "Nothing to do." in outcome.output
    left_out = f"(no _SUCCESS in {folder}/in/span-3): left out"
    assert f"  data: span 3 is not complete yet {left_out}\n" in outcome.output
    assert len(list((outcome.root / "runs").iterdir())) == 1


def test_late_and_repeated_deliveries_are_read_and_the_window_holds(folder, job):
    (earlier,) = (path.name for path in (folder / "root" / "runs").iterdir())
    deliver(folder, 3, jobs.rows(20))
    deliver(folder, 2, jobs.rows(25))
    window = ("--set", "data.spans.window=3")
    outcome = jobs.run(folder, job, *window, "--to", "ExampleGen")
    assert outcome.code == 0, outcome.output
    assert outcome.states == {"ExampleGen": "executed"}
    assert rows_of(outcome) == {"span-2": 25, "span-3": 20, "span-4": 30}
    assert outcome.summary["span_notes"] == [
        "spans 2 to 4 of 4 (window 3)",
        f"span 3 came late: run {earlier} had read up to span 4 without it; read now",
        f"span 2 was delivered again since run {earlier}: its rows are read anew",
    ]
    for note in outcome.summary["span_notes"]:
        assert f"  data: {note}\n" in outcome.output
    assert [(s["span"], s["state"]) for s in outcome.summary["spans"]] == [
        (1, "outside the window"),
        (2, "delivered again"),
        (3, "late"),
        (4, "unchanged"),
    ]
