"""`texttune gate`: whether the gate of a job closes."""

import os
import sys
from collections.abc import Iterator
from typing import Any

import click

_HELP = {"help_option_names": ["-h", "--help"]}
_NOT_PROVEN = 4


@click.group(context_settings=_HELP)
def gate() -> None:
    """The gate that decides whether a model is promoted."""


@gate.command()
@click.argument("run", metavar="RUN")
@click.option(
    "--config",
    "config_path",
    metavar="FILE",
    help="Test the gate of this job. [that of the run]",
)
@click.option("--root", metavar="DIR", help="Where the runs are. [that of the job]")
def selftest(run: str, config_path: str | None, root: str | None) -> None:
    """Proves that the gate closes, on damaged copies of a run's model.

    RUN is the id of a finished run, its folder, or `latest`: the newest run with an
    evaluation. Every damaged copy must be refused, and an identical one blessed.
    Nothing is trained or promoted; the outcome goes to gate-selftest.json in the run's
    folder.

    Exit codes: 0 proven, 2 usage, unknown run or a run that cannot be tested, 4 the
    gate lets a damaged model pass or refuses the model itself, 130 interrupted.
    """
    from pipeline import evaluated_runs, gate_selftest
    from pipeline.commands.tensorboard import runs_dir

    found = evaluated_runs.find(run, runs_dir(root, config_path))
    of = config_path or "the run"
    settings = evaluated_runs.gate_of(found, config_path)
    click.echo(f"Asking damaged copies of the model of run {found.run_id} ...")
    outcome = gate_selftest.prove(found, settings, of=of)
    for line in lines(outcome):
        click.echo(line)
    path = os.path.join(found.folder, gate_selftest.OUTCOME_FILE)
    click.echo(f"Record:  {os.path.relpath(path)}")
    sys.exit(0 if outcome["proven"] else _NOT_PROVEN)


def lines(outcome: dict[str, Any]) -> Iterator[str]:
    """Yields what the terminal shows of an outcome of `gate_selftest.prove`."""
    yield f"The gate of {outcome['gate']}, held against {outcome['rows']:,} eval rows:"
    yield ""
    trials = outcome["trials"]
    width = max(len(trial["name"]) for trial in trials) + 2
    for trial in trials:
        verdict = "blessed" if trial["blessed"] else "refused"
        verdict += "" if trial["as_expected"] else ", wrongly"
        told = [trial["name"].ljust(width), verdict.ljust(len("refused, wrongly") + 2)]
        yield "".join([*told, *trial["reasons"][:1]]).rstrip()
    for name, why in outcome["left_out"].items():
        yield f"{name.ljust(width)}left out: {why}"
    yield ""
    yield from outcome["notes"]
    yield _verdict(outcome)
    for way_on in outcome["ways_on"]:
        yield f"  - {way_on}"


def _verdict(outcome: dict[str, Any]) -> str:
    if outcome["proven"]:
        return "Proven: the gate refuses each damaged model, and blesses the model."
    passed = [t["name"] for t in outcome["trials"] if t["damaged"] and t["blessed"]]
    if passed:
        return f"Not proven: the gate lets damaged models pass: {', '.join(passed)}."
    return "Not proven: the model itself does not pass."
