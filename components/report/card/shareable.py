"""The facts of a run without what should not leave the team. Pure.

A page of a run is read by who has the data anyway; a model's card goes where the model
goes. So it gets neither texts of the data, which messages quote, nor folders of the
machine. Labels, values of slices, and names of columns and files stay: without them
the figures say nothing.
"""

import functools
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

HUB = "hub:"

# The mark that begins a quotation; the one within a word is an apostrophe.
_QUOTE = re.compile(r"(?<!\w)['\"]")
_CUT_OFF = re.compile(r"(?:, (?:like|such as))?[\s:,;(]+$")


def shareable(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The same keys, where they are there; what was in production is left out."""
    columns = _columns(facts)
    change: dict[str, Callable[[Any], Any]] = {
        "findings": lambda found: [_finding(one, columns) for one in found],
        "evaluation": functools.partial(_evaluation, columns=columns),
        "model_check": functools.partial(_model_check, columns=columns),
        "account": _account,
        "pushed": _pushed,
        "lineage": _lineage,
    }
    return {
        key: change[key](value) if value and key in change else value
        for key, value in facts.items()
        if key != "production"
    }


def without_quotations(
    sentence: str, columns: Collection[str] = (), examples: Iterable[str] = ()
) -> str:
    """The sentence up to where it begins to quote the data.

    Args:
      columns: names that may be quoted.
      examples: parts of the sentence that are quotations, whatever they look like.
    """
    unnamed = sentence
    for name in map(repr, columns):
        unnamed = unnamed.replace(name, "x" * len(name))
    quoted = _QUOTE.search(unnamed)
    places = [sentence.find(example) for example in examples if example]
    places += [quoted.start()] if quoted else []
    found = [place for place in places if place >= 0]
    if not found:
        return sentence
    begun = sentence[: min(found)]
    kept = _CUT_OFF.sub("", begun)
    if not kept:
        return "Its words quote the data, and are left out here."
    # A list of examples is no loss to the sentence; else it breaks off.
    return f"{kept}." if begun.endswith((": ", ", like ")) else f"{kept} …"


def _finding(found: Mapping[str, Any], columns: Collection[str]) -> dict[str, Any]:
    message = str(found["message"])
    if found.get("rule") == "schema":  # What follows names values, without quotes.
        message = ":".join(message.split(":")[:2])
    message = without_quotations(message, columns, found.get("examples") or ())
    return {**found, "message": message, "examples": []}


def _evaluation(found: Mapping[str, Any], columns: Collection[str]) -> dict[str, Any]:
    kept = {key: value for key, value in found.items() if key != "examples"}
    refused, others = found.get("refused"), found.get("incomparable") or {}
    kept["refused"] = without_quotations(refused, columns) if refused else None
    kept["incomparable"] = {
        model: without_quotations(why, columns) for model, why in others.items()
    }
    return kept


def _model_check(found: Mapping[str, Any], columns: Collection[str]) -> dict[str, Any]:
    problems = found.get("problems") or ()
    kept = [without_quotations(str(one), columns) for one in problems]
    return {**found, "problems": kept}


def _account(account: Mapping[str, Any]) -> dict[str, Any]:
    files = [
        {**file, "path": _name(file["path"]), "first_rejected": []}
        for file in account["files"]
    ]
    return {**account, "files": files}


def _pushed(pushed: Mapping[str, Any]) -> dict[str, Any]:
    """`destination` becomes the name of the served model, without its folder."""
    destination = pushed.get("destination")
    if not destination:
        return dict(pushed)
    return {**pushed, "destination": _name(os.path.dirname(destination.rstrip("/")))}


def _lineage(lineage: Mapping[str, Any]) -> dict[str, Any]:
    kept = dict(lineage)
    if kept.get("checkpoint"):
        kept["checkpoint"] = checkpoint_name(str(kept["checkpoint"]))
    model = (kept.get("config") or {}).get("model") or {}
    if model.get("checkpoint"):
        named = {**model, "checkpoint": checkpoint_name(str(model["checkpoint"]))}
        kept["config"] = {**kept["config"], "model": named}
    return kept


def checkpoint_name(checkpoint: str) -> str:
    """As the configuration has it, but a folder without the folders above it."""
    if checkpoint == "create" or checkpoint.startswith(("package:", HUB)):
        return checkpoint
    return _name(checkpoint)


def _name(path: str) -> str:
    return os.path.basename(str(path).rstrip("/")) or str(path)


def _columns(facts: Mapping[str, Any]) -> Sequence[str]:
    config = ((facts.get("lineage") or {}).get("config") or {}).get("data") or {}
    named = [config.get(key) for key in ("text", "target", "id", "split_by")]
    files = (facts.get("account") or {}).get("files") or ()
    columns = [column for file in files for column in file.get("columns") or ()]
    found = [*named, *(config.get("slices") or ()), *columns]
    return [str(column) for column in dict.fromkeys(found) if column]
