"""A whole summarization job, from a T5 that the run makes itself."""

import re
import subprocess
import sys

import pytest
import yaml

from tests.e2e import jobs

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def outcome(tmp_path_factory, rows_file):
    folder = tmp_path_factory.mktemp("summaries")
    return jobs.run(
        folder,
        {
            "name": "tiny-summary",
            "task": "summarization",
            "data": {
                "train": rows_file,
                "text": "message",
                "target": "summary",
                "slices": ["text_length"],
                "length_bands_words": [3, 6],
                "gate": {"max_interval_half_width": 0.3},
            },
            "model": {
                "checkpoint": "create",
                "create": {
                    "vocabulary_size": 200,
                    "layers": 1,
                    "width": 32,
                    "heads": 2,
                },
                "prefix": "summarize: ",
                "max_source_tokens": 48,
                "max_target_tokens": 12,
            },
            "train": {
                "epochs": 25,
                "batch_size": 8,
                "learning_rate": 1e-2,
                "dropout": 0.0,
            },
            "gate": {"floors": {"rouge_l": 0.3}},
            "serving": {"check_requests": 4},
            "runner": {"root": str(folder / "root")},
        },
    )


def test_run_promotes_a_version(outcome):
    assert outcome.code == 0, outcome.output
    assert outcome.versions == ["1"]


def test_terminal_says_what_random_weights_are_worth(outcome):
    assert "random weights" in outcome.output
    assert "is no measure" in outcome.output or "are no measure" in outcome.output


def test_every_rouge_is_reported_overall_and_by_slice(outcome):
    shown = {
        (m["slice"], m["metric"]) for m in outcome.summary["evaluation"]["metrics"]
    }
    for name in ("rouge1", "rouge2", "rouge_l", "rouge_lsum"):
        assert ("Overall", name) in shown
        assert ("text_length: 4 to 6 words", name) in shown


def test_validation_of_the_best_epoch_found_the_evaluators_rouge(outcome):
    assert set(outcome.validated) == {"rouge1", "rouge2", "rouge_l", "rouge_lsum"}
    assert outcome.validated == pytest.approx(
        {name: outcome.evaluated[name] for name in outcome.validated}, abs=1e-9
    )


def test_promoted_model_writes_text_of_the_learned_form(outcome):
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pipeline.cli", "ask"),
            *("--model", str(outcome.root / "serving" / "tiny-summary")),
            "please help the card today 3",
        ],
        capture_output=True,
        text=True,
        cwd=jobs.ROOT,
        env=jobs.environment(),
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("about ")


def test_self_test_shows_that_a_floor_is_too_low_for_texts_that_are_alike(outcome):
    done = jobs.selftest("latest", "--root", str(outcome.root))
    assert (done.returncode, done.stderr) == (4, "")
    verdicts = dict(re.findall(r"^(\S.*?)  +(blessed|refused)", done.stdout, re.M))
    assert verdicts == {
        "identical copy": "blessed",
        "constant answer": "blessed",
        "empty answers": "refused",
        "copied source": "refused",
        "another row's answer": "blessed",
        "one answer missing": "refused",
        "shuffled output layer": "refused",
    }


def test_floor_that_the_self_test_proposes_is_proven(outcome):
    path = outcome.root.parent / "strict.yaml"
    job = yaml.safe_load((outcome.root.parent / "job.yaml").read_text("utf-8"))
    path.write_text(yaml.safe_dump({**job, "gate": {"floors": {"rouge_l": 0.8}}}))
    done = jobs.selftest("latest", "--config", str(path))
    assert (done.returncode, done.stderr) == (0, "")
    assert "Proven: " in done.stdout
