"""A whole classification job: promoted, unchanged, refused, re-run in part.

The tests build on one another, in the order of the file: each run reuses the one
before, as a team's runs do.
"""

import json
import os
import subprocess
import sys

import pytest

from components.report.comparison import conclusions
from tests.e2e import jobs

pytestmark = pytest.mark.slow
CODE_OK, CODE_NOT_BLESSED = 0, 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("a job's 文件夹")  # A space and Chinese in its path.


@pytest.fixture(scope="module")
def job(folder, tmp_path_factory, bert):
    table = jobs.rows(90)
    # A row of the eval split with a wrong label: no model gets all of them right.
    table[0]["intent"] = "login_problem"
    rows_file = jobs.write_csv(tmp_path_factory.mktemp("rows") / "rows.csv", table)
    return jobs.classification(folder, rows_file, bert)


@pytest.fixture(scope="module")
def first(folder, job):
    return jobs.run(folder, job)


def test_first_run_promotes_version_1(first):
    assert first.code == CODE_OK, first.output
    assert first.versions == ["1"]
    assert "Promoted: version 1" in first.output


def test_every_node_of_the_design_ran(first):
    assert set(first.states.values()) == {"executed"}
    assert list(sorted(first.states)) == sorted(
        [
            *("Checkpoint", "ExampleGen", "StatisticsGen", "SchemaGen"),
            *("ExampleValidator", "DataGate", "Transform", "Baseline", "Trainer"),
            *("Evaluator", "ModelCheck", "Pusher", "Report"),
        ]
    )


def test_terminal_shows_progress_and_no_log_noise(first):
    assert "90 rows read, 90 kept" in first.output
    for noise in ("WARNING", "INFO", "I0000", "W0000", "Traceback", "tensorflow/core"):
        assert noise not in first.output


def test_summary_accounts_for_rows_metrics_and_nodes(first):
    summary = first.summary
    (file,) = summary["data"]["files"]
    assert (file["rows_read"], file["kept"], file["rejected"]) == (90, 90, {})
    assert sum(summary["data"]["splits"].values()) == 90
    metrics = summary["evaluation"]["metrics"]
    shown = {(m["slice"], m["metric"]) for m in metrics}
    assert {
        ("Overall", "accuracy"),
        ("Overall", "macro_f1"),
        ("channel: app", "accuracy"),
        ("channel: phone", "macro_f1"),
    } <= shown
    assert summary["exit_code"] == CODE_OK
    assert all(node["seconds"] >= 0 for node in summary["nodes"])


def test_validation_of_the_best_epoch_found_the_evaluators_metrics(first):
    assert set(first.validated) == {"accuracy", "macro_f1"}
    assert first.validated == pytest.approx(
        {name: first.evaluated[name] for name in first.validated}, abs=1e-9
    )


def test_first_run_says_that_there_is_no_baseline(first):
    checks = first.summary["evaluation"]["checks"]
    drops = [c["in_words"] for c in checks if c["rule"] == "drop"]
    assert drops == ["accuracy was not judged: there is no baseline to compare with"]


def test_promoted_model_answers_with_the_labels_of_the_file(first, folder):
    texts = [f"the please help today {word} 12" for word in jobs.KEYWORDS.values()]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pipeline.cli", "ask"),
            *("--model", str(first.root / "serving" / "tiny-intent"), *texts),
        ],
        capture_output=True,
        text=True,
        cwd=jobs.ROOT,
        env=jobs.environment(),
    )
    assert (done.returncode, done.stderr) == (0, "")
    answered = [line.rpartition("  ")[0] for line in done.stdout.splitlines()]
    assert answered == list(jobs.KEYWORDS)


def test_report_is_beside_the_summary(first):
    page = first.root / "runs" / first.summary["run_id"] / "report.html"
    assert "tiny-intent" in page.read_text(encoding="utf-8")


def test_a_hub_reads_the_card_beside_it(first):
    import huggingface_hub

    path = first.root / "runs" / first.summary["run_id"] / "model_card.md"
    card = huggingface_hub.ModelCard.load(path)
    scores = {r.metric_name: r.metric_value for r in card.data.eval_results}
    assert scores["accuracy"] == round(first.evaluated["accuracy"], 4)
    assert "Promoted: version 1" in card.text
    assert "the eval split, chosen by a hash of the text" in card.text
    texts = [row["message"] for row in jobs.rows(90)]
    assert not any(text in card.text for text in texts)


def test_metadata_leads_from_the_push_back_to_the_checkpoint(first):
    import ml_metadata
    from tfx.orchestration import metadata

    store = ml_metadata.MetadataStore(
        metadata.sqlite_metadata_connection_config(str(first.root / "metadata.sqlite"))
    )
    (push,) = store.get_artifacts_by_type("PushedModel")
    assert push.custom_properties["pushed_version"].string_value == "1"
    found, waiting = set(), [push.id]
    while waiting:
        events = store.get_events_by_artifact_ids([waiting.pop()])
        makers = [e.execution_id for e in events if e.type == e.OUTPUT]
        for event in store.get_events_by_execution_ids(makers) if makers else []:
            if event.type == event.INPUT and event.artifact_id not in found:
                found.add(event.artifact_id)
                waiting.append(event.artifact_id)
    types = {t.id: t.name for t in store.get_artifact_types()}
    reached = {types[a.type_id] for a in store.get_artifacts_by_id(found)}
    assert {"Model", "ModelBlessing", "InfraBlessing", "Examples", "Schema"} <= reached
    (checkpoint,) = store.get_artifacts_by_type("texttune.Checkpoint")
    assert checkpoint.custom_properties["content_hash"].string_value


def test_unchanged_run_has_nothing_to_do(first, folder, job):
    again = jobs.run(folder, job)
    assert again.code == CODE_OK
    assert "Nothing to do." in again.output
    assert again.summary["run_id"] == first.summary["run_id"]
    assert again.versions == ["1"]


def test_touched_file_has_nothing_to_do(first, folder, job):
    os.utime(job["data"]["train"])
    assert "Nothing to do." in jobs.run(folder, job).output


def test_higher_floor_refuses_the_model_and_leaves_production(first, folder, job):
    strict = {**job, "gate": {"floors": {"accuracy": 1.0}}}
    refused = jobs.run(folder, strict)
    assert refused.code == CODE_NOT_BLESSED
    assert refused.versions == ["1"]
    assert "Not promoted. Production is unchanged." in refused.output
    assert "is below the floor 1.0000" in refused.output
    reused = {node for node, state in refused.states.items() if state == "reused"}
    assert {"ExampleGen", "Transform", "Trainer", "ModelCheck"} <= reused
    assert refused.states["Evaluator"] == "executed"


def test_refused_run_is_refused_again(first, folder, job):
    strict = {**job, "gate": {"floors": {"accuracy": 1.0}}}
    assert jobs.run(folder, strict).code == CODE_NOT_BLESSED


def test_other_seed_is_compared_with_the_baseline_and_becomes_version_2(
    first, folder, job
):
    other = {**job, "train": {**job["train"], "seed": 7}}
    second = jobs.run(folder, other)
    assert second.code == CODE_OK, second.output
    assert second.versions == ["1", "2"]
    assert second.states["Transform"] == "reused"
    evaluation = second.summary["evaluation"]
    models = {m["model"] for m in evaluation["metrics"]}
    assert models == {"candidate", "baseline", "untuned"}
    drops = [c for c in evaluation["checks"] if c["rule"] == "drop"]
    assert drops and all(c["passed"] for c in drops)
    assert "Against the model blessed last: accuracy " in second.output


def test_two_runs_are_compared_row_by_row(first):
    """The Evaluator held the second model against the first, on the same rows."""
    run_ids = sorted(path.name for path in (first.root / "runs").iterdir())
    done = jobs.texttune(
        "runs", "compare", run_ids[0], "latest", "--root", str(first.root)
    )
    assert (done.returncode, done.stderr) == (0, "")
    (known,) = (
        d
        for d in first.summary["evaluation"]["differences"]
        if (d["slice"], d["model"], d["metric"]) == ("Overall", "baseline", "macro_f1")
    )
    found = conclusions.interval(known, sign=True)
    (line,) = (x for x in done.stdout.splitlines() if x.startswith("macro_f1"))
    assert found in line
    page = first.root / "runs" / f"compare-{run_ids[0]}-{run_ids[-1]}.html"
    assert "train.seed" in page.read_text(encoding="utf-8")
    # It is no run, also for those who look at the folder.
    shown = jobs.texttune("runs", "list", "--root", str(first.root))
    assert [x.split()[0] for x in shown.stdout.splitlines()[1:]] == run_ids[::-1]


def test_part_of_the_dag_runs_again(first, folder, job):
    part = jobs.run(folder, job, "--from", "Trainer", "--to", "Trainer")
    assert part.code == CODE_OK, part.output
    assert part.states == {"Trainer": "executed"}
    assert (part.summary["outcome"], part.summary["push"]) == ("done", None)
    assert "Promoted" not in part.output
    run_id = part.summary["run_id"]  # Of one without a Pusher, which the Report needs.
    again = jobs.run(folder, job, "--from", "Report")
    assert again.code == CODE_OK, again.output
    assert f": run {run_id} has not ended all nodes" in again.output
    assert again.states == {"Report": "executed"}


def test_summary_is_valid_json_without_nan(first):
    def refuse(name):
        raise AssertionError(name)

    run_dir = first.root / "runs" / first.summary["run_id"]
    text = (run_dir / "summary.json").read_text(encoding="utf-8")
    json.loads(text, parse_constant=refuse)
