"""`texttune schema`: schemas of the raw data, for a person to review."""

import os
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pipeline.config import Config

_HELP = {"help_option_names": ["-h", "--help"]}


@click.group(context_settings=_HELP)
def schema() -> None:
    """Schemas of the data: made from it, and held against it."""


_config = click.option(
    "--config", "config_path", required=True, metavar="FILE", help="The job."
)
_overrides = click.option(
    "--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override any key."
)


@schema.command()
@_config
@click.option(
    "--data", metavar="FILE", help="Read this file, folder or glob; not the job's."
)
@_overrides
@click.option(
    "--output", metavar="FILE", help="The file to write. [schemas/NAME.pbtxt]"
)
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
def infer(
    config_path: str,
    data: str | None,
    overrides: tuple[str, ...],
    output: str | None,
    force: bool,
) -> None:
    """Writes a schema of the data for you to review.

    Labels and slices of few values become closed lists, texts never do; texts get a
    limit of twice the longest that is there.

    Exit codes: 0 written, 2 usage or configuration, 3 the data was refused.
    """
    config = _load(config_path, data, overrides)

    from pipeline import schema_tools as tools

    path = tools.default_output(config) if output is None else output
    made, account = tools.infer(
        config, job=os.path.relpath(config_path), output=path, force=force
    )
    click.echo(f"{path}: written.")
    for line in tools.summary(made, account):
        click.echo(f"  {line}")
    click.echo(f"Review it, then set `data.reviewed_schema: {tools.name_of(path)}`.")


@schema.command()
@_config
@click.option(
    "--data", metavar="FILE", help="Compare this file, folder or glob; not the job's."
)
@click.option(
    "--schema",
    "name",
    metavar="NAME",
    help="A name in schemas/, or a path. [data.reviewed_schema]",
)
@_overrides
def diff(
    config_path: str, data: str | None, name: str | None, overrides: tuple[str, ...]
) -> None:
    """Shows what a new file would change against a reviewed schema.

    Exit codes: 0 no run would be stopped (values that are gone are only told), 2 usage
    or configuration, 3 a run on this file would be stopped, or its data is refused.
    """
    config = _load(config_path, data, overrides)

    from pipeline import schema_tools as tools

    path, columns = tools.schema_to_compare(config, name)
    found, files = tools.diff(config, columns)
    told = f"{', '.join(map(os.path.relpath, files))} against {os.path.relpath(path)}"
    if not found:
        click.echo(f"{told}: nothing would change.")
        return
    stops = any(difference.stops for difference in found)
    verdict = "a run would be stopped" if stops else "no run would be stopped"
    click.echo(f"{told}: {verdict}.")
    for difference in found:
        click.echo(f"\n{difference.heading}:")
        for line in difference.lines:
            click.echo(f"  {line}")
    if stops:
        click.echo(
            "\nCorrect the file, or change the schema once somebody has decided that "
            "it is meant."
        )
        sys.exit(3)


def _load(config_path: str, data: str | None, overrides: tuple[str, ...]) -> "Config":
    from pipeline.config import load

    instead = ["data.eval=null"] if data else []
    named = {"data.train": data} if data else {}
    return load(config_path, [*instead, *overrides], named)
