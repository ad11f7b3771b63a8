"""The commands of the documentation: each one parses, and names files that exist."""

import itertools
import pathlib
import re
import shlex

import click
import pytest
import yaml

from components.evaluator.scores import facts
from components.evaluator.settings import GateSettings, check_gate
from pipeline.cli import run, texttune
from tests import documented_faults

ROOT = pathlib.Path(__file__).parents[1]
# Files that stand for the reader's own.
PLACEHOLDERS = {"tickets.csv", "build/"}


def commands() -> list[str]:
    found = []
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/*.md")]:
        for block in re.findall(r"```sh\n(.*?)```", page.read_text("utf-8"), re.S):
            found += [line for line in block.splitlines() if line.strip()]
    return found


def parse(command: click.Command, arguments: list[str]) -> None:
    """Raises a UsageError for an option or argument that does not exist."""
    context = command.make_context("command", arguments)
    if isinstance(command, click.Group):
        _, inner, rest = command.resolve_command(
            context, [*context.protected_args, *context.args]
        )
        parse(inner, rest)


@pytest.mark.parametrize("line", commands())
def test_documented_command_parses(line):
    words = shlex.split(line, comments=True)
    if words[0] == "make":
        targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.M)
        assert words[1] in targets
    elif words[0] == "texttune":
        parse(texttune, words[1:])
    elif words[:2] == ["python", "local_runner.py"]:
        parse(run, words[2:])
    elif words[0] == ".":
        assert words[1] == ".venv/bin/activate"
    else:
        assert words[0] == "python" and (ROOT / words[1]).exists()


@pytest.mark.parametrize("line", commands())
def test_file_of_a_documented_command_exists(line):
    for word in shlex.split(line, comments=True):
        if word.startswith(("configs/", "data/", "kubeflow/")):
            assert (ROOT / word).exists() or word in PLACEHOLDERS


@pytest.mark.parametrize(
    "fault",
    [fault for faults in documented_faults.FAULTS.values() for fault in faults],
    ids=lambda fault: fault.name,
)
def test_fault_of_a_data_file_gets_the_message_that_is_documented(fault, tmp_path):
    """`python -m tests.documented_faults` prints the list anew."""
    page = (ROOT / "docs" / "data.md").read_text("utf-8")
    assert documented_faults.paragraph(fault, tmp_path) in page


def test_every_metric_is_documented_and_the_gate_shown_is_a_valid_one():
    page = (ROOT / "docs" / "evaluation.md").read_text("utf-8")
    every = {*facts.OF_LABEL, *itertools.chain(*facts.OF_TASK.values())}
    # ROUGE's parts are told once for all.
    whole = {n for n in every if not re.fullmatch("rouge.*_(precision|recall)", n)}
    assert {name for name in whole if f"`{name}`" not in page} == set()
    shown = yaml.safe_load(re.search("```yaml\n(.*?)```", page, re.S).group(1))
    gate = GateSettings.model_validate(shown["gate"])
    check_gate(gate, "classification", ["language"])
