"""`texttune runs`: the runs of a root, and two of them side by side."""

import sys
from collections.abc import Iterable

import click

_HELP = {"help_option_names": ["-h", "--help"]}


@click.group(context_settings=_HELP)
def runs() -> None:
    """The runs that there are, and which of two is better."""


_ROOT = click.option(
    "--root", metavar="DIR", help="Where the runs are. [that of the job]"
)
_CONFIG = click.option(
    "--config", "config_path", metavar="FILE", help="The job. [configs/intent.yaml]"
)


@runs.command("list")
@_ROOT
@_CONFIG
@click.option(
    "--most", type=click.IntRange(1), metavar="N", help="Only the N newest. [all]"
)
def list_runs(root: str | None, config_path: str | None, most: int | None) -> None:
    """Shows the runs of a root, newest first.

    Exit codes: 0 shown, 2 usage, or no run is there.
    """
    _one_root(root, config_path)
    from pipeline import runs_shown, trainings
    from pipeline.commands.tensorboard import runs_dir
    from pipeline.config import ConfigError

    folder = runs_dir(root, config_path)
    if not trainings.newest_first(folder):
        raise ConfigError(f"there are no runs in {folder}. {trainings.OTHER_ROOT}")
    _say(runs_shown.run_table(folder, most))


@runs.command()
@click.argument("run_a", metavar="A")
@click.argument("run_b", metavar="B")
@_ROOT
@_CONFIG
@click.option(
    "--output", metavar="FILE", help="The page. [compare-A-B.html beside the runs]"
)
def compare(
    run_a: str,
    run_b: str,
    root: str | None,
    config_path: str | None,
    output: str | None,
) -> None:
    """Compares two evaluated runs, and writes one page.

    A and B are each the id of a run, its folder, `latest`: the newest run with an
    evaluation, or `previous`: the one before it. A difference is what B has more than
    A; where both answered the same rows it has an interval.

    Exit codes: 0 compared, whichever is better, 2 usage, unknown run, or runs that
    cannot be compared.
    """
    _one_root(root, config_path)
    from components.report.comparison import core, page
    from pipeline import compared_runs, runs_shown
    from pipeline.commands.tensorboard import runs_dir
    from pipeline.terminal import short_path

    there = runs_dir(root, config_path)
    folders = [compared_runs.find(run, there) for run in (run_a, run_b)]
    path = output or compared_runs.page_path(*folders)
    found = core.compare(*compared_runs.pair(*folders))
    _write(page.render(found), path)
    _say([*runs_shown.comparison_lines(found), f"Page:  {short_path(path)}"])


def _one_root(root: str | None, config_path: str | None) -> None:
    if root and config_path:
        raise click.UsageError("--root and --config both name a root; give one.")


def _say(lines: Iterable[str]) -> None:
    """Prints lines that may hold texts of the data, each in one line, anywhere."""
    from pipeline.terminal import visible

    encoding = sys.stdout.encoding or "utf-8"
    for line in lines:
        in_one = line.replace("\n", "\\n")
        shown = visible(in_one).encode(encoding, "backslashreplace")
        click.echo(shown.decode(encoding))


def _write(text: str, path: str) -> None:
    """Whole or not at all."""
    from pipeline import whole_file
    from pipeline.config import ConfigError

    try:
        whole_file.write(path, text)
    except OSError as error:
        raise ConfigError(
            f"{path}: cannot be written: {error.strerror}. `--output FILE` names "
            "another place."
        ) from error
