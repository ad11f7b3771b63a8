"""How a run ended, in words. Pure; `core` names the keys of `facts`."""

import dataclasses
import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from components.evaluator.slices import OVERALL

_MOST_HELD = 5

# In the order of the DAG: (what a node leaves behind, what its absence means).
_STAGES = (
    ("account", "before the data was read"),
    ("findings", "before the data was checked"),
    ("history", "before the training ended"),
    ("model_check", "before the exported model was checked"),
    ("evaluation", "before the model was evaluated"),
)
_LOG = "Why is in log.txt, in the folder of the run."


@dataclasses.dataclass(frozen=True)
class Verdict:
    """For a reader who reads nothing else.

    Attributes:
      kind: "good", "bad" or "open"; only its colour, the sentence says it all.
      sentence: what happened, and what is in production now.
      reasons: why, one sentence each.
    """

    kind: str
    sentence: str
    reasons: tuple[str, ...] = ()


def verdict(facts: Mapping[str, Any]) -> Verdict:
    pushed = facts.get("pushed")
    ended = facts.get("ended") or {}
    if ended.get("outcome") in _ENDS:
        return _told_end(ended, pushed)
    if pushed is None:
        return _stopped_early(facts)
    if not pushed["pushed"]:
        return Verdict(
            "bad",
            "Not promoted: the model was refused, and production is unchanged.",
            tuple(_refusals(facts)) or tuple(pushed.get("reasons", ())),
        )
    version = pushed["version"]
    if pushed.get("created", True):
        sentence = f"Promoted: version {version} is the model to serve."
        return Verdict("good", sentence, tuple(_held(facts)))
    return Verdict(
        "good",
        f"Nothing to promote: version {version} in production is this very model.",
    )


# (colour, what happened) by the outcome that the record of a run has.
_ENDS = {
    "data refused": ("bad", "The data was refused{where}: nothing was trained."),
    "failed": ("bad", "The run failed{where}."),
    "interrupted": ("open", "The run was interrupted{where}."),
    "done": ("open", "The chosen part of the DAG has run."),
}


def _told_end(ended: Mapping[str, Any], pushed: Mapping[str, Any] | None) -> Verdict:
    """Of a run without a Report node, whose end its record knows."""
    kind, happened = _ENDS[ended["outcome"]]
    sentence = happened.format(where=f" in {ended['node']}" if ended["node"] else "")
    production = "Production is unchanged."
    if pushed and pushed["pushed"] and pushed.get("created", True):
        production = f"Before that, version {pushed['version']} was promoted."
    return Verdict(kind, f"{sentence} {production}", tuple(ended["reasons"]))


def _stopped_early(facts: Mapping[str, Any]) -> Verdict:
    stops = tuple(
        finding["message"]
        for finding in facts.get("findings") or ()
        if finding.get("severity") == "stop"
    )
    if stops:
        sentence = "The data was refused: nothing was trained, production is unchanged."
        return Verdict("bad", sentence, stops)
    # What a node left is looked at backwards: the run came at least as far as that.
    where = "before the model was promoted"
    for key, missing in reversed(_STAGES):
        if facts.get(key) is not None:
            break
        where = missing
    sentence = f"The run stopped early, {where}. Production is unchanged."
    return Verdict("open", sentence, tuple(_known_reasons(facts)) or (_LOG,))


def _held(facts: Mapping[str, Any]) -> list[str]:
    """What speaks for the model: the first checks of all rows that it passed."""
    checks = (facts.get("evaluation") or {}).get("checks", ())
    held = (c for c in checks if c["passed"] and c.get("slice", OVERALL) == OVERALL)
    return [check["in_words"] for check in itertools.islice(held, _MOST_HELD)]


def _refusals(facts: Mapping[str, Any]) -> Iterable[str]:
    """Every reason not to push that is known, in words."""
    known = list(_known_reasons(facts, of_model_check=False))
    if not known and facts.get("model_blessed") is False:
        known = ["The gate did not bless the model, and gave no reason."]
    yield from known
    yield from (facts.get("model_check") or {}).get("problems", ())


def _known_reasons(
    facts: Mapping[str, Any], *, of_model_check: bool = True
) -> Iterable[str]:
    evaluation = facts.get("evaluation") or {}
    if evaluation.get("refused"):
        yield evaluation["refused"]
    yield from (
        c["in_words"] for c in evaluation.get("checks", ()) if c["passed"] is False
    )
    if of_model_check:
        yield from (facts.get("model_check") or {}).get("problems", ())
