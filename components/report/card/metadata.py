"""What a hub finds a model by: the YAML at the head of its card. Pure.

The keys are those of Hugging Face's model cards. What is not known has no key, and
`license` never has one: who may use the model is not for a pipeline to say.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from components.evaluator import slices
from components.report.card.markdown import plain
from components.report.card.shareable import HUB
from components.report.evaluation_shown import CANDIDATE

Facts = Mapping[str, Any]

PIPELINE_TAGS = {
    "classification": "text-classification",
    "summarization": "summarization",
}
# Of a SavedModel that Keras 2 made; the hub counts `saved_model.pb` as its downloads.
_LIBRARY = "tf-keras"
_TAGS = ("texttune", "tfx", "tensorflow", "saved-model", "tensorflow-serving")
# Our names of the metrics that the hub has, and its own.
_HUB_METRICS = {
    "accuracy": "accuracy",
    "macro_f1": "f1",
    "macro_precision": "precision",
    "macro_recall": "recall",
    "auc": "roc_auc",
    **dict.fromkeys(("rouge_l", "rouge1", "rouge2", "rouge_lsum"), "rouge"),
    "bleu": "sacrebleu",
    "chrf": "chrf",
    "exact_match": "exact_match",
}
# Below this share of the texts a language may be a slip of its detection.
_LEAST_SHARE = 0.05
_CODE = re.compile(r"[a-z]{2,3}")  # ISO 639, as the hub takes it.


def front_matter(facts: Facts) -> str:
    """The YAML with the lines of dashes around it.

    Args:
      facts: those of `core.render` that are `shareable`.
    """
    lineage = facts.get("lineage") or {}
    task = PIPELINE_TAGS.get(str(lineage.get("task")))
    scores = _scores(facts)
    found = {
        "language": languages(facts),
        "library_name": _LIBRARY,
        "pipeline_tag": task,
        "base_model": _base_model(str(lineage.get("checkpoint") or "")),
        "tags": list(_TAGS),
        "metrics": list(dict.fromkeys(kind for kind, _, _ in scores)),
        "model-index": _model_index(facts, task, scores) if task and scores else None,
    }
    known = {key: value for key, value in found.items() if value}
    written = yaml.safe_dump(known, sort_keys=False, allow_unicode=True, width=math.inf)
    return f"---\n{written}---\n"


def languages(facts: Facts) -> list[str]:
    """ISO 639 codes of what the model has learned from, the most frequent first.

    A code that only few texts have counts if the rows were sliced by it.
    """
    train = (facts.get("text_statistics") or {}).get("train") or {}
    shares = ((train.get("text") or {}).get("languages") or {}).get("shares") or {}
    named = _sliced_by_language(facts.get("evaluation") or {})
    if not shares:
        return named
    return [
        code
        for code, share in shares.items()
        if _CODE.fullmatch(code) and (share >= _LEAST_SHARE or code in named)
    ]


def _sliced_by_language(evaluation: Facts) -> list[str]:
    keys = (evaluation.get("slices") or {}).values()
    found = [str(key["language"]) for key in keys if set(key) == {"language"}]
    return [code for code in dict.fromkeys(found) if _CODE.fullmatch(code)]


def _base_model(checkpoint: str) -> str | None:
    """OWNER/NAME of a checkpoint of the hub."""
    if not checkpoint.startswith(HUB):
        return None
    return plain(checkpoint.removeprefix(HUB).partition("@")[0])


def _scores(facts: Facts) -> list[tuple[str, str, float]]:
    """(the hub's metric, our name, value) of the candidate, of all rows."""
    found = {
        m["metric"]: m["value"]
        for m in (facts.get("evaluation") or {}).get("metrics", ())
        if (m["model"], m["slice"]) == (CANDIDATE, slices.OVERALL)
    }
    return [
        (kind, name, found[name])
        for name, kind in _HUB_METRICS.items()
        if found.get(name) is not None and math.isfinite(found[name])
    ]


def _model_index(
    facts: Facts, task: str, scores: Sequence[tuple[str, str, float]]
) -> list[dict[str, Any]]:
    title = title_of(facts)
    # No type is a data set of the hub: the rows are the team's own.
    dataset = {"type": "custom", "name": f"{title}, eval split", "split": "eval"}
    metrics = [
        {"type": kind, "name": name, "value": round(value, 4)}
        for kind, name, value in scores
    ]
    result = {"task": {"type": task}, "dataset": dataset, "metrics": metrics}
    return [{"name": title, "results": [result]}]


def title_of(facts: Facts) -> str:
    return plain(facts.get("title") or "") or "Model"
