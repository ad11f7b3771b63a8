"""The page of a run: plain values in, one self-contained HTML page out. Pure.

`render` takes what is known of a run. Every key may be missing or None: a run that
stopped early has no metrics, and the page says so instead of showing nothing.

  title          name of the job
  ended          {"outcome", "node", "reasons"} of a run without a Report node, as its
                 record has them
  nodes          {"node", "seconds", "state"} of its nodes, in their order
  pushed         pushed.json of the Pusher
  model_blessed  whether the gate blessed the model
  model_check    check.json of ModelCheck
  account        account.json of ExampleGen
  findings       the list in findings.json of DataGate
  text_statistics  text_statistics.json of DataGate
  evaluation     evaluation.json of the Evaluator
  history        history.json of the Trainer, one record for each epoch
  lineage        {"task", "checkpoint", "hashes": {what: hash}, "config": {...},
                 "own_eval_files": whether eval has files of its own}
  production     the same of the model that was in production before, with "run_id" and
                 "config"; None if there was none, or nothing is recorded of it
"""

import os
import shlex
from collections.abc import Mapping
from typing import Any

from components.report import changes, curves, data_shown, evaluation_shown, pages
from components.report.pages import count, number
from components.report.verdicts import verdict

TEMPLATE = "report.html.j2"

_UNITS = {"seconds": "s", "mb": "MB"}


def render(facts: Mapping[str, Any]) -> str:
    """The page. Text of the data is escaped, wherever it turns up."""
    evaluation = facts.get("evaluation")
    return pages.render(
        TEMPLATE,
        title=facts.get("title") or "Run",
        verdict=verdict(facts),
        ended=facts.get("ended"),
        nodes=facts.get("nodes"),
        changes=changes.since(facts.get("production"), facts),
        account=facts.get("account"),
        totals=data_shown.account_totals(facts.get("account")),
        findings=facts.get("findings"),
        texts=data_shown.text_rows(facts.get("text_statistics")),
        history=facts.get("history"),
        curves=curves.draw(facts.get("history")),
        evaluation=evaluation or {},
        metrics=evaluation_shown.metric_tables(evaluation),
        checks=evaluation_shown.check_rows(evaluation),
        labels=evaluation_shown.label_rows(evaluation),
        confusions=evaluation_shown.confusions(evaluation),
        unknown_labels=evaluation_shown.unknown_labels(evaluation),
        examples=evaluation_shown.example_groups(evaluation),
        titles=evaluation_shown.TITLES,
        model_check=facts.get("model_check"),
        figures=figure_rows(facts.get("model_check"), "figures"),
        limits=figure_rows(facts.get("model_check"), "limits"),
        lineage=lineage_rows(facts.get("lineage")),
        config=changes.flat_config(facts.get("lineage")),
        ask=ask_command(facts.get("pushed")),
        roll_back=roll_back_command(facts.get("pushed"), facts.get("production")),
    )


def figure_rows(
    model_check: Mapping[str, Any] | None, key: str
) -> list[tuple[str, str]]:
    """(name in words, value with unit) of the "figures" or the "limits"."""
    named = (model_check or {}).get(key, {}).items()
    return [_in_words(name, value) for name, value in named]


def _in_words(name: str, value: float) -> tuple[str, str]:
    words = name.split("_")
    unit = _UNITS.get(words[-1])
    if unit:
        words.pop()
    shown = number(value, digits=0 if unit == "MB" else 3)
    if isinstance(value, int):
        shown = count(value)
    return " ".join(words), f"{shown} {unit}" if unit else shown


def lineage_rows(lineage: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """(what, which), of all that the model was made from."""
    lineage = lineage or {}
    rows = [(name, lineage.get(name)) for name in ("task", "checkpoint")]
    rows += [(f"{of} hash", value) for of, value in lineage.get("hashes", {}).items()]
    return [(name, str(value)) for name, value in rows if value]


def ask_command(pushed: Mapping[str, Any] | None) -> str | None:
    """What asks the promoted model; None if none was, or nobody knows where it is."""
    if not pushed or not pushed.get("pushed") or not pushed.get("destination"):
        return None
    folder = os.path.dirname(pushed["destination"].rstrip("/"))
    return f"texttune ask --model {shlex.quote(folder)} 'your text'"


def roll_back_command(
    pushed: Mapping[str, Any] | None, production: Mapping[str, Any] | None
) -> str | None:
    """What takes the promoted version back; None if there is no earlier one to serve.

    Args:
      pushed: pushed.json of the Pusher.
      production: facts of the version that was in production before.
    """
    if not production or not ask_command(pushed) or not pushed:
        return None
    version = pushed["destination"].rstrip("/")
    # The server passes over a folder whose name is no number.
    folder, number = os.path.split(version)
    retired = os.path.join(folder, f"retired-{number}")
    return f"mv {shlex.quote(version)} {shlex.quote(retired)}"
