"""Labels that came or went since the serving model was trained. Pure."""

import difflib
from collections.abc import Collection, Iterable, Sequence

from components.data_gate.drift.profile import Profile
from components.data_gate.findings import (
    LABELS_SHOWN,
    Finding,
    count,
    ids,
    listed,
    override,
)
from components.example_gen.examples import Example
from components.example_gen.normalisation import excerpt, folded
from components.example_gen.settings import DataSettings

_NEW, _VANISHED = "data.gate.allow_new_labels", "data.gate.allow_vanished_labels"


def new_labels(
    train: Sequence[Example],
    served: Profile,
    *,
    model: str,
    reviewed: Collection[str],
    settings: DataSettings,
) -> list[Finding]:
    """Labels of the train split that the serving model does not know.

    Args:
      train: the split.
      served: the profile of what the serving model was trained on.
      model: what that model is called in a message.
      reviewed: labels that a person has listed in a reviewed schema.
      settings: the `data` section.
    """
    rows: dict[str, list[Example]] = {}
    for row in train:
        if row.target not in served.labels:
            rows.setdefault(row.target, []).append(row)
    meant = set(settings.gate.allow_new_labels)
    refused = sorted(set(rows) - meant - set(reviewed))
    findings = []
    if refused:
        shown = tuple(_new(name, rows[name], served.labels) for name in refused)
        allowed = override(_NEW, sorted(meant | set(refused)))
        message = (
            f"Labels of the train split that {model} was not trained on: "
            f"{len(refused)}: {listed(shown[:LABELS_SHOWN], len(shown))}. Each would "
            "become a class of its own. Correct them, or, if they are meant, allow "
            f"them: `{allowed}`."
        )
        findings.append(Finding("new_label", "stop", message, shown, _NEW))
    for names, allows in (
        (sorted(set(rows) & meant), f"`{_NEW}` allows them"),
        (sorted(set(rows) & set(reviewed) - meant), "the reviewed schema lists them"),
    ):
        if names:
            shown = tuple(_new(name, rows[name], ()) for name in names)
            message = (
                f"Labels of the train split that {model} was not trained on: "
                f"{len(names)}: {listed(shown[:LABELS_SHOWN], len(shown))}; {allows}."
            )
            findings.append(Finding("new_label", "note", message, shown, _NEW))
    return findings


def vanished_labels(
    labels: Collection[str], served: Profile, *, model: str, settings: DataSettings
) -> list[Finding]:
    """Labels that the serving model knows and the train split never has."""
    gone = {name: n for name, n in served.labels.items() if name not in labels}
    meant = set(settings.gate.allow_vanished_labels)
    findings = []
    for names, severity in (
        (sorted(set(gone) - meant), "stop"),
        (sorted(set(gone) & meant), "note"),
    ):
        if not names:
            continue
        shown = tuple(
            f"{excerpt(name)!r} ({count(gone[name], 'row')} then)" for name in names
        )
        message = (
            f"Labels that {model} was trained on and the train split has no row of: "
            f"{len(names)}: {listed(shown[:LABELS_SHOWN], len(shown))}"
        )
        if severity == "note":
            message += f"; `{_VANISHED}` allows it."
            findings.append(
                Finding("vanished_label", "note", message, shown, _VANISHED)
            )
            continue
        allowed = override(_VANISHED, sorted(meant | set(names)))
        message += (
            ". A model trained on this could never answer with them. Add rows, or, if "
            f"they are to go, allow it: `{allowed}`."
        )
        findings.append(Finding("vanished_label", "stop", message, shown, _VANISHED))
    return findings


def _new(name: str, rows: Sequence[Example], known: Iterable[str]) -> str:
    near = _nearest(name, known)
    guess = f"; did you mean {excerpt(near)!r}?" if near else ""
    return f"{excerpt(name)!r} ({count(len(rows), 'row')}: {ids(rows)}{guess})"


def _nearest(name: str, names: Iterable[str]) -> str | None:
    by_folded = {folded(n): n for n in names}
    wanted = folded(name)
    near = difflib.get_close_matches(wanted, by_folded, n=1, cutoff=0.6)
    return by_folded[near[0]] if near else None
