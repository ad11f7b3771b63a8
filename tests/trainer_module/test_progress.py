"""Events as JSON lines, and the errors that are verdicts."""

import json
import multiprocessing

from trainer_module import progress
from trainer_module.progress import DataRefused, Refusal


def events(path) -> list[dict]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_event_is_a_line_with_kind_time_and_fields(tmp_path, monkeypatch):
    path = tmp_path / "events.jsonl"
    monkeypatch.setenv(progress.EVENTS_VARIABLE, str(path))
    monkeypatch.setattr(progress.time, "time", lambda: 12.5)
    progress.report("step", loss=0.5, name="Größe\n2")
    progress.report("done", where=tmp_path)
    assert events(path) == [
        {"kind": "step", "time": 12.5, "loss": 0.5, "name": "Größe\n2"},
        {"kind": "done", "time": 12.5, "where": str(tmp_path)},
    ]


def test_without_a_listener_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.delenv(progress.EVENTS_VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    progress.report("step", loss=0.5)
    assert list(tmp_path.iterdir()) == []


def test_events_that_cannot_be_written_do_not_stop_the_work(tmp_path, monkeypatch):
    monkeypatch.setenv(
        progress.EVENTS_VARIABLE, str(tmp_path / "gone" / "events.jsonl")
    )
    progress.report("step", loss=0.5)
    assert list(tmp_path.iterdir()) == []


def _report_many(number: int) -> None:
    for i in range(200):
        progress.report("step", worker=number, i=i, text="x" * 300)


def test_lines_of_several_processes_do_not_mix(tmp_path, monkeypatch):
    path = tmp_path / "events.jsonl"
    monkeypatch.setenv(progress.EVENTS_VARIABLE, str(path))
    workers = [
        multiprocessing.get_context("fork").Process(target=_report_many, args=(n,))
        for n in range(3)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    found = events(path)
    assert len(found) == 600
    for n in range(3):
        assert [e["i"] for e in found if e["worker"] == n] == list(range(200))


def test_refusal_keeps_each_finding_and_shows_them_a_line_each():
    refusal = DataRefused("Row 3 has no label.", "Row 9 has no text.")
    assert isinstance(refusal, Refusal)
    assert refusal.findings == ("Row 3 has no label.", "Row 9 has no text.")
    assert str(refusal) == "Row 3 has no label.\nRow 9 has no text."
