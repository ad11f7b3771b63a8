"""The card of a model: the facts of its run as Markdown, for a Hugging Face hub. Pure.

`render` takes the facts that `core.render` takes. What is not known is left out, or
said to be unknown; no text of the data gets into it, see `shareable`.
"""

import dataclasses
import functools
import math
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from components.evaluator.scores.facts import OF_TASK
from components.report import core, data_shown, evaluation_shown
from components.report.card import limits
from components.report.card.markdown import Shown, code_block, plain
from components.report.card.markdown import render as render_template
from components.report.card.metadata import front_matter, languages, title_of
from components.report.card.shareable import HUB, shareable
from components.report.evaluation_shown import CANDIDATE, Table
from components.report.pages import NONE, number, signed
from components.report.verdicts import verdict
from trainer_module.settings import METRICS

TEMPLATE = "model_card.md.j2"
LABELS_NAMED, LABELS_SHOWN, CONFUSIONS_SHOWN, CHECKS_SHOWN = 100, 10, 10, 20
SLICES_SHOWN, EPOCHS_SHOWN = 40, 20

Facts = Mapping[str, Any]

_PART_OF_ROUGE = re.compile(r"rouge.*_(precision|recall)")
# (key of the section `train`, in words)
_SETTINGS = (
    ("epochs", "Epochs, at most"),
    ("batch_size", "Rows in a batch"),
    ("max_batch_tokens", "Tokens in a batch, at most"),
    ("accumulate_batches", "Batches for an update"),
    ("learning_rate", "Learning rate"),
    ("decay", "Decay of the learning rate"),
    ("warmup_share", "Share of the updates to warm up"),
    ("weight_decay", "Weight decay"),
    ("clip_norm", "Largest norm of a gradient"),
    ("dropout", "Dropout"),
    ("label_smoothing", "Label smoothing"),
    ("precision", "Precision"),
    ("seed", "Seed"),
    ("warm_start", "Warm start from the model in production"),
)


def render(facts: Facts) -> str:
    """The card, with its front matter."""
    facts = shareable(facts)
    evaluation, lineage = facts.get("evaluation"), facts.get("lineage") or {}
    metrics, labels = _metrics(facts), evaluation_shown.label_rows(evaluation)
    body = render_template(
        TEMPLATE,
        title=title_of(facts),
        task=lineage.get("task"),
        made=any(facts.get(key) for key in ("history", "evaluation", "model_check")),
        base=_base(lineage.get("checkpoint")),
        verdict=verdict(facts),
        labels_named=_learned(evaluation),
        commands=_commands(facts.get("pushed")),
        tokens_read=_section(facts, "model").get("max_source_tokens"),
        tokens_written=_section(facts, "model").get("max_target_tokens"),
        languages=languages(facts),
        account=facts.get("account"),
        files=(facts.get("account") or {}).get("files", []),
        totals=data_shown.account_totals(facts.get("account")),
        split=_split(facts),
        texts=data_shown.text_rows(facts.get("text_statistics")),
        findings=facts.get("findings"),
        history=facts.get("history"),
        exported=_exported(facts.get("history")),
        settings=_settings(facts),
        evaluation=evaluation or {},
        evaluated=evaluation is not None,
        tables=metrics.tables,
        behaviour=metrics.behaviour,
        by_slice=metrics.by_slice,
        checks=evaluation_shown.check_rows(evaluation) or [],
        labels=labels,
        confusions=dict(evaluation_shown.confusions(evaluation)).get(CANDIDATE, []),
        titles=evaluation_shown.TITLES,
        limits=limits.limits(facts),
        model_check=facts.get("model_check"),
        figures=core.figure_rows(facts.get("model_check"), "figures"),
        lineage=core.lineage_rows(lineage),
        configuration=_configuration(lineage.get("config")),
        pushed=facts.get("pushed"),
        cell=_cell,
        most={
            "named": LABELS_NAMED,
            "labels": LABELS_SHOWN,
            "confusions": CONFUSIONS_SHOWN,
            "checks": CHECKS_SHOWN,
            "slices": SLICES_SHOWN,
            "epochs": EPOCHS_SHOWN,
        },
    )
    return f"{front_matter(facts)}\n{body}"


def _section(facts: Facts, name: str) -> Facts:
    return ((facts.get("lineage") or {}).get("config") or {}).get(name) or {}


def _base(checkpoint: str | None) -> str | None:
    """What was fine-tuned, in words."""
    if not checkpoint:
        return None
    if checkpoint == "create":
        return "a small T5 with random weights, made for this data"
    if checkpoint.startswith(HUB):
        name, _, commit = checkpoint.removeprefix(HUB).partition("@")
        return f"{name} (commit {commit})" if commit else name
    if checkpoint.startswith("package:"):
        name = checkpoint.removeprefix("package:")
        return f"the checkpoint that the Python package {name} ships"
    return f"the checkpoint {checkpoint}, a folder of the team's own"


def _commands(pushed: Facts | None) -> Shown | None:
    """What asks the served model; FOLDER and HOST are the reader's to fill in."""
    if not pushed or not pushed.get("pushed") or not pushed.get("destination"):
        return None
    name = plain(pushed["destination"])
    url = f"http://HOST:8501/v1/models/{name}:predict"
    lines = [
        f"texttune ask --model {shlex.quote(f'FOLDER/{name}')} 'your text'",
        f"""curl -d '{{"instances": ["your text"]}}' {shlex.quote(url)}""",
    ]
    return code_block("\n".join(lines), "sh")


def _split(facts: Facts) -> str | None:
    """How the eval split came about; None if it is not recorded."""
    own_files = (facts.get("lineage") or {}).get("own_eval_files")
    share = _section(facts, "data").get("eval_share")
    if own_files:
        return "The eval split has files of its own."
    if own_files is None or share is None:
        return None
    column = _section(facts, "data").get("split_by")
    whose = f"the value of the column {column}" if column else "the text"
    return (
        f"About {share:.0%} of the rows are the eval split, chosen by a hash of "
        f"{whose}, so that rows with the same are in one split."
    )


def _learned(evaluation: Facts | None) -> list[str]:
    """The labels that it can give, of those that eval rows have."""
    never = ((evaluation or {}).get("unknown_labels") or {}).get(CANDIDATE) or {}
    labels = (row.label for row in evaluation_shown.label_rows(evaluation))
    return sorted(label for label in labels if label not in never)


def _exported(history: Sequence[Facts] | None) -> int | None:
    """The epoch whose weights were exported; None if it is not recorded."""
    best = [epoch["epoch"] for epoch in history or () if epoch.get("best")]
    return best[-1] if best else None


def _settings(facts: Facts) -> list[tuple[str, str]]:
    """(setting in words, value), without those that are off."""
    train, model = _section(facts, "train"), _section(facts, "model")
    found = [(words, train.get(key)) for key, words in _SETTINGS]
    best = train.get("keep_best") or {}
    if best:
        found.append(("Epoch to export", f"best {best['metric']}"))
    if train.get("lora"):
        found.append(("LoRA", f"rank {train['lora']['rank']}"))
    frozen = [
        f"{name.replace('_', ' ')}: {value}" if value is not True else name
        for name, value in (train.get("freeze") or {}).items()
        if value
    ]
    found.append(("Kept as they came", ", ".join(frozen)))
    tokens = {"max_source_tokens": "Tokens of a text, at most"}
    if (facts.get("lineage") or {}).get("task") == "summarization":
        tokens["max_target_tokens"] = "Tokens of an answer, at most"
        found.append(("Prefix of a text", model.get("prefix")))
    else:
        found.append(("Start of the classifying head", train.get("head_start")))
        found.append(("Pooling", model.get("pooling")))
    found += [(words, model.get(key)) for key, words in tokens.items()]
    off = (None, "", 0, "never")
    return [(words, str(value)) for words, value in found if value not in off]


@dataclasses.dataclass(frozen=True)
class _Metrics:
    """Tables of all rows, of the answers' behaviour, and of the slices."""

    tables: Sequence[Table]
    behaviour: Sequence[Table]
    by_slice: Sequence[Table]


def _metrics(facts: Facts) -> _Metrics:
    tables = evaluation_shown.metric_tables(facts.get("evaluation")) or []
    if not tables:
        return _Metrics([], [], [])
    task = str((facts.get("lineage") or {}).get("task"))
    known = OF_TASK.get(task, {})
    gated = {check["metric"] for check in facts["evaluation"].get("checks") or ()}
    rows = [
        row
        for row in tables[0].rows
        if row.name in gated or not _PART_OF_ROUGE.fullmatch(row.name)
    ]
    # What tells how good it is, and what tells how it behaves.
    better = [r for r in rows if r.name not in known or known[r.name].best == "high"]
    other = [row for row in rows if row not in better]
    with_rows = functools.partial(dataclasses.replace, tables[0])
    chosen = {*(METRICS.get(task) or [rows[0].name])[:1], *gated}
    return _Metrics(
        [with_rows(rows=better)] if better else [],
        [with_rows(rows=other)] if other else [],
        [table for table in tables[1:] if table.title in chosen],
    )


def _cell(score: Facts | None, sign: bool = False) -> str:
    """A value with its interval."""
    show = signed if sign else number
    if not score or score["value"] is None:
        return NONE
    low, high = score.get("low"), score.get("high")
    interval = f" ({show(low)} to {show(high)})" if None not in (low, high) else ""
    return f"{show(score['value'])}{interval}"


class _Dumper(yaml.SafeDumper):
    """Writes a text with line ends in one line."""


def _quoted(dumper: yaml.SafeDumper, value: str) -> yaml.Node:
    style = '"' if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style)


_Dumper.add_representer(str, _quoted)


def _configuration(config: Facts | None) -> Shown | None:
    if not config:
        return None
    written = yaml.dump(
        config, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=math.inf
    )
    return code_block(written, "yaml")
