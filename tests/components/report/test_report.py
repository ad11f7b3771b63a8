"""The component: reads the artifacts of a run and writes its page and its card."""

import json

import pytest

pytestmark = pytest.mark.slow

SCORE = {"value": 0.7, "low": 0.6, "high": 0.8}
EVALUATED = {
    "metrics": [
        {"slice": "Overall", "model": "candidate", "metric": "accuracy", **SCORE}
    ],
    "rows": {"Overall": 20},
    "checks": [
        {
            **{"metric": "accuracy", "slice": "Overall", "rule": "floor"},
            **{"bound": 0.8, "score": SCORE, "other": None, "passed": False},
            "in_words": "accuracy 0.7000 is below the floor 0.8000",
        }
    ],
    "refused": None,
}
FACTS = {
    "task": "classification",
    "checkpoint": "minilm",
    "hashes": {"data": "abc"},
}
FILES = {
    "evaluation": ("evaluation.json", EVALUATED),
    "pushed_model": ("pushed.json", {"pushed": False, "reasons": ["not blessed"]}),
    "infra_blessing": ("check.json", {"problems": [], "figures": {"requests": 5}}),
    "account": (
        "account.json",
        {
            "files": [{"path": "a.csv", "rows_read": 9, "kept": 9, "rejected": {}}],
            "splits": {"train": 9},
        },
    ),
    "verdict": (
        "findings.json",
        {"findings": [{"severity": "note", "message": "A <b>note</b>."}]},
    ),
    "model_run": (
        "history.json",
        [{"epoch": 1, "loss": 2.0, "validation_loss": 1.0, "seconds": 3.0}],
    ),
}


def run(tmp_path, files):
    """Runs the component with these files in its inputs; gives the page and card."""
    from tfx.types import standard_artifacts

    from components import artifacts
    from components.report import component

    types = {
        "evaluation": standard_artifacts.ModelEvaluation,
        "model_blessing": standard_artifacts.ModelBlessing,
        "infra_blessing": standard_artifacts.InfraBlessing,
        "pushed_model": standard_artifacts.PushedModel,
        "account": artifacts.DataAccount,
        "verdict": artifacts.DataVerdict,
        "model_run": standard_artifacts.ModelRun,
        "report": artifacts.RunReport,
    }
    inputs = {}
    for name, artifact_type in types.items():
        inputs[name] = artifact_type()
        inputs[name].uri = str(tmp_path / name)
        (tmp_path / name).mkdir()
        if name in files:
            file, content = files[name]
            (tmp_path / name / file).write_text(json.dumps(content))
    component.Report.test_call(
        **inputs, title="intents", facts=json.dumps(FACTS), code=""
    )
    folder = tmp_path / "report"
    return [(folder / n).read_text() for n in ("report.html", "model_card.md")]


def test_page_and_card_hold_what_the_artifacts_say(tmp_path):
    page, card = run(tmp_path, FILES)
    for words in (
        "Not promoted: the model was refused",
        "accuracy 0.7000 is below the floor 0.8000",
        "9 rows read, 9 kept, 0 rejected.",
        "A &lt;b&gt;note&lt;/b&gt;.",
        "Loss on the eval split",
        "minilm",
        "abc",
    ):
        assert words in page
    for words in (
        "Not promoted: the model was refused",
        "accuracy 0.7000 is below the floor 0.8000",
        "9 rows were read: 9 kept, 0 rejected.",
        "A &lt;b&gt;note&lt;/b&gt;.",
        "Loss on the eval split",
        "minilm",
        "abc",
    ):
        assert words in card


def test_files_that_were_never_written_are_told_not_missed(tmp_path):
    page, card = run(tmp_path, {})
    assert "The run stopped early, before the data was read." in page
    assert "The run stopped early, before the data was read." in card
    assert "There is no account of the data" in page
    assert "The data gate has no result" in page
