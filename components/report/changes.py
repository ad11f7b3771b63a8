"""What changed between the model in production and a run. Pure.

Both are facts as `core` names them; those of production have "config" at the top, as
the version that is served carries them.
"""

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from components.evaluator import slices
from components.report.data_shown import account_totals
from components.report.evaluation_shown import CANDIDATE
from components.report.pages import NONE, change, count, number

NOT_SET = "not set"

Row = tuple[str, str, str]  # (what, in production, in this run)


@dataclasses.dataclass(frozen=True)
class Changes:
    """From the model in production to this run.

    Attributes:
      version: of the model in production; None if it is not recorded.
      run_id: of the run that made it; None if it is not recorded.
      data: rows and hash of the data.
      model: checkpoint, its hash, and those of the code.
      config: keys that differ; None if a configuration is not recorded.
      metrics: (metric, in production, in this run, difference) of all eval rows.
    """

    version: int | None
    run_id: str | None
    data: list[Row]
    model: list[Row]
    config: list[Row] | None
    metrics: list[tuple[str, str, str, str]]


def since(
    production: Mapping[str, Any] | None, facts: Mapping[str, Any]
) -> Changes | None:
    """None if nothing is known of a model in production."""
    if production is None:
        return None
    then, now = production.get("lineage") or {}, facts.get("lineage") or {}
    return Changes(
        version=(production.get("pushed") or {}).get("version"),
        run_id=production.get("run_id"),
        data=[*_of_data(production, facts), _hash("data", then, now)],
        model=[
            ("checkpoint", _text(then.get("checkpoint")), _text(now.get("checkpoint"))),
            *(_hash(of, then, now) for of in _hashed(then, now) if of != "data"),
        ],
        config=_of_config(production.get("config"), now.get("config")),
        metrics=list(_of_metrics(production, facts)),
    )


def _of_data(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Row]:
    before, after = (f.get("account") or {} for f in (then, now))
    old, new = (account_totals(a) if a else {} for a in (before, after))
    for name in ("read", "kept", "rejected", "left out"):
        yield f"rows {name}", count(old.get(name)), count(new.get(name))
    old, new = (a.get("splits", {}) for a in (before, after))
    for split in dict.fromkeys([*old, *new]):
        yield f"rows in {split}", count(old.get(split)), count(new.get(split))


def _hash(of: str, then: Mapping[str, Any], now: Mapping[str, Any]) -> Row:
    old, new = ((lineage.get("hashes") or {}).get(of) for lineage in (then, now))
    return f"{of} hash", _text(old), _text(new)


def _hashed(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What either has a hash of; always the checkpoint and the training's code."""
    known = (lineage.get("hashes") or {} for lineage in (then, now))
    return list(dict.fromkeys(["checkpoint", "training code", *chain(*known)]))


def _text(value: Any) -> str:
    return NONE if value is None else str(value)


def _of_config(
    then: Mapping[str, Any] | None, now: Mapping[str, Any] | None
) -> list[Row] | None:
    if then is None or now is None:
        return None
    old, new = dict(_flat(then)), dict(_flat(now))
    return [
        (key, old.get(key, NOT_SET), new.get(key, NOT_SET))
        for key in sorted({*old, *new})
        if old.get(key) != new.get(key)
    ]


def flat_config(lineage: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """(key, value) of the configuration of a run, such as ("train.epochs", "4")."""
    return sorted(_flat((lineage or {}).get("config") or {}))


def _flat(section: Mapping[str, Any], above: str = "") -> Iterable[tuple[str, str]]:
    """Yields ("train.epochs", "4") and so on; values as JSON."""
    for key, value in section.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{above}{key}.")
        else:
            shown = value if isinstance(value, str) else json.dumps(value)
            yield f"{above}{key}", shown


def _of_metrics(
    then: Mapping[str, Any], now: Mapping[str, Any]
) -> Iterator[tuple[str, str, str, str]]:
    old, new = _overall(then), _overall(now)
    for metric in dict.fromkeys([*old, *new]):
        a, b = old.get(metric), new.get(metric)
        yield metric, number(a), number(b), change(b, a)


def _overall(facts: Mapping[str, Any]) -> dict[str, float | None]:
    return {
        m["metric"]: m["value"]
        for m in (facts.get("evaluation") or {}).get("metrics", ())
        if (m["slice"], m["model"]) == (slices.OVERALL, CANDIDATE)
    }
