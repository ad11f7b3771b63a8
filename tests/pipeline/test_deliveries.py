"""Numbered deliveries from the plan of a run to its record, and to the next plan."""

import json
import os
import shutil

import pytest

from pipeline import creating, deliveries, place, run_record
from pipeline.config import ConfigError, load
from pipeline.preparing import Options, prepare
from tests.e2e import jobs
from trainer_module.progress import DataRefused

ROWS = [{"message": f"text {n}", "intent": "a"} for n in range(3)]


@pytest.fixture
def deliver(tmp_path):
    """Delivers a folder `span-N` in the test's folder."""

    def deliver(number, rows=ROWS, marker=True):
        folder = tmp_path / f"span-{number}"
        folder.mkdir(exist_ok=True)
        jobs.write_csv(folder / "a.csv", rows)
        if marker:
            (folder / "_SUCCESS").write_text("")
        return folder

    return deliver


@pytest.fixture
def plan(job, write):
    """Plans a run of what is there now."""
    job["data"]["train"] = "span-{SPAN}/*.csv"
    path = write(job)

    def plan(*overrides, **options):
        return prepare(load(path, overrides), Options(**options))

    return plan


@pytest.fixture
def run(plan, tmp_path):
    """Records a run as its worker left it; a promoted one by default."""
    count = iter(range(1, 100))

    def run(*overrides, read=True, pushed=True, **options):
        planned, run_id = plan(*overrides, **options), f"r{next(count)}"
        run_dir = os.path.join(str(planned.config.runner.root), "runs", run_id)
        os.makedirs(run_dir)
        with open(os.path.join(run_dir, "events.jsonl"), "w") as f:
            if read:
                f.write(json.dumps({"kind": "data", "account": {"files": []}}) + "\n")
        properties = {"pushed": 1, "pushed_version": "3"}
        push = {"uri": "/x", "id": 1, "properties": properties}
        nodes = {"Pusher": {"state": "COMPLETE", "outputs": {"pushed_model": push}}}
        if pushed:
            version = os.path.join(planned.place.serving_dir, "3")
            os.makedirs(version, exist_ok=True)
            open(os.path.join(version, "saved_model.pb"), "w").close()
        with open(os.path.join(run_dir, "result.json"), "w") as f:
            json.dump({"run": {"nodes": nodes if pushed else {}}}, f)
        record = run_record.make(
            planned,
            run_id=run_id,
            run_dir=run_dir,
            seconds=1.0,
            peak_memory_mb=1.0,
            worker_exit_code=0,
            interrupted=False,
        )
        run_record.write(record, run_dir)
        return record

    return run


def states(planned):
    return {record.span: record.state.value for record in planned.spans}


def test_plan_names_files_spans_and_what_is_left_out(deliver, plan, tmp_path):
    one, two = deliver(1), deliver(2)
    deliver(3, marker=False)
    planned = plan()
    assert planned.place.data.train == (str(one / "a.csv"), str(two / "a.csv"))
    assert planned.span_notes == (
        "spans 1 and 2 of 2",
        f"span 3 is not complete yet (no _SUCCESS in {tmp_path}/span-3): left out",
    )
    assert states(planned) == {1: "new", 2: "new", 3: "partial"}


def test_plan_of_fixed_files_has_no_spans(deliver, plan, tmp_path):
    deliver(1)
    planned = plan(f"data.train={tmp_path}/span-1/a.csv")
    assert (planned.spans, planned.span_notes) == ((), ())


def test_plan_reads_back_with_its_spans(deliver, plan, tmp_path):
    deliver(1)
    planned = plan("data.spans.window=2")
    planned.write(str(tmp_path))
    assert type(planned).read(str(tmp_path)) == planned


def test_record_holds_spans_and_notes(deliver, run):
    folder = deliver(1)
    record = run()
    (span,) = record["spans"]
    assert (span["span"], span["state"]) == (1, "new")
    assert span["files"] == [str(folder / "a.csv")]
    assert len(span["sha256"]) == 64
    assert record["span_notes"] == ["span 1 of 1"]


def test_unchanged_deliveries_leave_nothing_to_do(deliver, run, plan):
    folder = deliver(1)
    run()
    os.utime(folder / "a.csv", (1, 1))
    deliver(2, marker=False)
    again = plan()
    assert run_record.unchanged_since(again)["run_id"] == "r1"
    assert states(again) == {1: "unchanged", 2: "partial"}


@pytest.mark.parametrize("number", [1, 2], ids=["delivered_again", "new"])
def test_new_rows_have_to_be_run(deliver, run, plan, number):
    deliver(1)
    run()
    deliver(number, ROWS[:2])
    assert run_record.unchanged_since(plan()) is None


def test_window_drops_the_oldest_and_has_to_be_run(deliver, run, plan):
    deliver(1), deliver(2)
    run("data.spans.window=2")
    third = deliver(3)
    planned = plan("data.spans.window=2")
    assert run_record.unchanged_since(planned) is None
    assert planned.place.data.train[-1] == str(third / "a.csv")
    assert states(planned) == {1: "outside the window", 2: "unchanged", 3: "new"}
    assert planned.span_notes == ("spans 2 and 3 of 3 (window 2)",)


def test_window_that_changes_no_file_keeps_the_nodes_caches(deliver, plan):
    deliver(1)
    assert plan().place == plan("data.spans.window=5").place


def test_late_again_and_gone_are_told_against_the_newest_run(deliver, run, plan):
    for number in (1, 2, 4):
        deliver(number)
    run(), run()
    deliver(3)
    deliver(1, ROWS[:1])
    shutil.rmtree(deliver(2))
    planned = plan()
    assert states(planned) == {
        1: "delivered again",
        2: "vanished",
        3: "late",
        4: "unchanged",
    }
    assert [note.split(":")[0] for note in planned.span_notes] == [
        "spans 1, 3 and 4 of 3",
        "span 3 came late",
        "span 1 was delivered again since run r2",
        "span 2 is gone, and run r2 had read it",
    ]


@pytest.mark.parametrize(
    "overrides, less",
    [
        ([], {"read": False, "pushed": False}),
        (["data.train=elsewhere/span-{SPAN}.csv"], {}),
        (["data.train=elsewhere/span-9.csv"], {}),
    ],
    ids=["that_read_nothing", "of_other_paths", "without_spans"],
)
def test_run_that_says_nothing_of_these_spans_is_passed_over(
    deliver, run, plan, tmp_path, monkeypatch, overrides, less
):
    deliver(1)
    run()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    for name in ("span-9.csv", "span-9.csv._SUCCESS"):
        jobs.write_csv(tmp_path / "elsewhere" / name, ROWS)
    deliver(2)
    run(*overrides, **less)
    assert deliveries.earlier(plan().config).run_id == "r1"


@pytest.mark.parametrize(
    "change",
    [
        lambda r: r.pop("spans"),
        lambda r: r.update(spans="all"),
        lambda r: r.update(spans=[{"span": 1}]),
        lambda r: r.update(spans=[{"span": 1, "state": "from a later release"}]),
        lambda r: r.update(spans=[]),
        lambda r: r.update(config=None),
    ],
    ids=["older", "text", "no_state", "unknown_state", "none", "no_config"],
)
def test_damaged_or_older_record_is_passed_over(deliver, run, plan, change):
    deliver(1)
    run()
    record = run()
    change(record)
    run_record.write(record, os.path.dirname(record["log"]))
    assert deliveries.earlier(plan().config).run_id == "r1"


def test_run_that_reads_no_data_says_nothing_of_it(deliver, run, plan):
    deliver(1)
    open(os.path.join(str(plan().config.runner.root), "metadata.sqlite"), "w").close()
    assert plan(from_node="Trainer").span_notes == ()
    assert plan(from_node="ExampleGen").span_notes == ("span 1 of 1",)


def test_no_complete_delivery_is_refused_before_anything_runs(deliver, plan):
    deliver(1, marker=False)
    with pytest.raises(DataRefused, match="no span is complete: span 1"):
        plan()
    # The way out that is offered.
    assert states(plan("data.spans.marker=null")) == {1: "new"}


@pytest.mark.parametrize("name", ["SPANS", "span", "DATE", "SPAN:2", "", "a,b"])
@pytest.mark.parametrize("key", ["train", "eval"])
def test_other_braces_are_refused_with_what_was_meant(deliver, plan, key, name):
    deliver(1)
    said = rf"data.{key}: {{{name}}} in .* stands for nothing.* Did you mean {{SPAN}}"
    with pytest.raises(ConfigError, match=said):
        plan(f"data.{key}='x-{{{name}}}.csv'")


@pytest.mark.parametrize("path", ["{odd}.csv", "[{]odd[}]*.csv"])
def test_file_whose_name_has_braces_may_be_read(plan, tmp_path, path):
    jobs.write_csv(tmp_path / "{odd}.csv", ROWS)
    planned = plan(f"data.train='{tmp_path}/{path}'")
    assert planned.place.data.train == (str(tmp_path / "{odd}.csv"),)


@pytest.mark.parametrize("key", ["train", "eval"])
def test_cluster_refuses_what_would_be_frozen(job, write, tmp_path, key):
    other = "eval" if key == "train" else "train"
    rows = jobs.write_csv(tmp_path / "rows.csv", ROWS)
    job["data"] |= {key: "span-{SPAN}/*.csv", other: rows, "spans": {"window": 2}}
    path = write(job)
    said = rf"data.{key}: .*{{SPAN}}, and a compiled pipeline names its files"
    with pytest.raises(ConfigError, match=said):
        place.cluster(load(path))
    # The way out that is offered; this file is outside of the image.
    fixed = [f"data.{key}={rows}", "data.spans={}"]
    with pytest.raises(ConfigError, match="a cluster cannot read"):
        place.cluster(load(path, fixed))


def test_file_hashes_are_the_fingerprints_own(deliver, plan):
    deliver(1)
    planned = plan()
    hashes = place.file_hashes(planned.place)
    assert list(hashes) == list(planned.place.data.train)
    again = place.fingerprint(planned.config, planned.place)
    assert again == place.fingerprint(planned.config, planned.place, hashes)
    assert again == planned.fingerprints


def test_vocabulary_is_not_made_from_deliveries(tmp_path):
    with pytest.raises(ConfigError, match="one file is read here, and {SPAN} stands"):
        creating.create_checkpoint(
            encoding="utf-8",
            data="span-{SPAN}/a.csv",
            text="message",
            target="intent",
            output=str(tmp_path / "t5"),
            shape={},
        )
