"""Report: one HTML page for the run and a card for its model, whatever the verdict."""

import json
import os

from tfx import v1 as tfx
from tfx.dsl.io import fileio

from components import artifacts
from components.pusher import run_facts
from components.report import core
from components.report.card import core as card

REPORT_FILE = "report.html"
MODEL_CARD_FILE = "model_card.md"

_standard = tfx.types.standard_artifacts
_Input = tfx.dsl.components.InputArtifact


@tfx.dsl.components.component
def Report(
    evaluation: _Input[_standard.ModelEvaluation],
    model_blessing: _Input[_standard.ModelBlessing],
    infra_blessing: _Input[_standard.InfraBlessing],
    pushed_model: _Input[_standard.PushedModel],
    account: _Input[artifacts.DataAccount],
    verdict: _Input[artifacts.DataVerdict],
    model_run: _Input[_standard.ModelRun],
    report: tfx.dsl.components.OutputArtifact[artifacts.RunReport],
    title: tfx.dsl.components.Parameter[str],
    facts: tfx.dsl.components.Parameter[str],
    serving_dir: tfx.dsl.components.Parameter[str] = "",
    code: tfx.dsl.components.Parameter[str] = "",
) -> None:
    """Writes report.html and model_card.md.

    Args:
      evaluation: metrics of the candidate and the baseline.
      model_blessing: the gate's verdict.
      infra_blessing: check.json of ModelCheck.
      pushed_model: pushed.json of the Pusher.
      account: account.json of ExampleGen.
      verdict: findings.json and text_statistics.json of DataGate.
      model_run: history.json of the Trainer.
      report: gets report.html and model_card.md.
      title: name of the job.
      facts: JSON with task, checkpoint, hashes, config, own_eval_files, and the
        `gate` section.
      serving_dir: of the model, for what was in production before this run.
      code: hash of our code, for the cache key.
    """
    given = json.loads(facts)
    evaluated = _read(evaluation, "evaluation.json")
    findings = _read(verdict, "findings.json") or {}
    pushed = _read(pushed_model, "pushed.json")
    known = {
        "title": title,
        "pushed": pushed,
        "model_blessed": model_blessing.get_int_custom_property("blessed") == 1,
        "model_check": _read(infra_blessing, "check.json"),
        "account": _read(account, "account.json"),
        "findings": findings.get("findings"),
        "text_statistics": _read(verdict, "text_statistics.json"),
        "evaluation": evaluated,
        "history": _read(model_run, "history.json"),
        "lineage": given,
        "production": run_facts.before(serving_dir, pushed),
    }
    pages = {
        REPORT_FILE: core.render(known),
        MODEL_CARD_FILE: card.render(known),
    }
    for name, page in pages.items():
        with fileio.open(os.path.join(report.uri, name), "w") as file:
            file.write(page)


def _read(artifact: tfx.dsl.Artifact, name: str):
    """The JSON in a file of an artifact; None if it was never written."""
    path = os.path.join(artifact.uri, name)
    if not fileio.exists(path):
        return None
    with fileio.open(path) as file:
        return json.loads(file.read())
