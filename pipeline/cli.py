"""The command line: `texttune`, and `python local_runner.py` for `texttune run`.

Importing this costs a tenth of a second; every command imports what it needs.
"""

import os
import sys
from collections.abc import Sequence

import click


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the `texttune` command."""
    _exit_with(texttune, arguments)


def run_main(arguments: Sequence[str]) -> None:
    """`texttune run` under the name of `local_runner.py`."""
    _exit_with(run, arguments)


def _exit_with(command: click.Command, arguments: Sequence[str] | None) -> None:
    """Runs a command, and ends with the exit code that the design gives an error."""
    from pipeline.config import ConfigError

    try:
        command.main(
            args=arguments if arguments is None else list(arguments),
            standalone_mode=False,
        )
    except (click.exceptions.Abort, KeyboardInterrupt):
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except ConfigError as error:
        click.echo(f"texttune: {error}", err=True)
        sys.exit(2)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="texttune")
def texttune() -> None:
    """Fine-tunes T5 or BERT on your own text, proves it, and promotes it."""


@texttune.command()
@click.option(
    "--config", "config_path", metavar="FILE", help="The job. [configs/intent.yaml]"
)
@click.option(
    "--data", metavar="FILE", help="Train on this file instead; eval is split off it."
)
@click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    help="Override any key, e.g. train.learning_rate=5e-5.",
)
@click.option(
    "--max-train-examples",
    type=click.IntRange(1),
    metavar="N",
    help="Train on a stable sample of N rows.",
)
@click.option(
    "--max-eval-examples",
    type=click.IntRange(1),
    metavar="N",
    help="Evaluate on a stable sample of N rows.",
)
@click.option(
    "--root", metavar="DIR", help="Where artifacts, metadata, runs and versions go."
)
@click.option(
    "--from",
    "from_node",
    metavar="NODE",
    help="Run this node and those after it again.",
)
@click.option("--to", "to_node", metavar="NODE", help="Stop after this node.")
@click.option(
    "--no-cache", is_flag=True, help="Run every node, also where nothing changed."
)
@click.option("--wait", is_flag=True, help="Wait for another run in the same root.")
def run(
    config_path: str | None,
    data: str | None,
    overrides: tuple[str, ...],
    max_train_examples: int | None,
    max_eval_examples: int | None,
    root: str | None,
    from_node: str | None,
    to_node: str | None,
    no_cache: bool,
    wait: bool,
) -> None:
    """Runs the pipeline on this machine.

    Exit codes: 0 promoted or nothing to do, 1 a node failed, 2 usage or configuration,
    3 the data was refused, 4 the model was refused (production is unchanged).
    """
    from pipeline.config import load

    named = {
        "data.train": data,
        "data.max_train_examples": max_train_examples,
        "data.max_eval_examples": max_eval_examples,
        "runner.root": root,
    }
    every_override = [
        *(["data.eval=null"] if data else []),
        *overrides,
        *(f"{key}={value}" for key, value in named.items() if value is not None),
    ]
    config = load(config_path or shipped_config("intent"), every_override)

    from pipeline.local_run import Options
    from pipeline.local_run import run as run_locally
    from pipeline.terminal import Terminal

    options = Options(
        from_node=from_node, to_node=to_node, use_cache=not no_cache, wait=wait
    )
    sys.exit(run_locally(config, options, Terminal()))


@texttune.command()
@click.argument("texts", nargs=-1, required=True, metavar="TEXT...")
@click.option(
    "--model",
    required=True,
    metavar="DIR",
    help="A version, or the folder of versions (the newest answers).",
)
def ask(texts: tuple[str, ...], model: str) -> None:
    """Asks a promoted model, as TF Serving would."""
    from pipeline.asking import answers, version_dir

    path = version_dir(model)
    for answer in answers(path, texts):
        click.echo(answer)


@texttune.group()
def checkpoint() -> None:
    """Pretrained checkpoints."""


@checkpoint.command()
@click.option(
    "--data", required=True, metavar="FILE", help="CSV, TSV, JSON Lines or Parquet."
)
@click.option(
    "--text",
    required=True,
    metavar="COLUMN",
    help="The column that the model will read.",
)
@click.option(
    "--target", required=True, metavar="COLUMN", help="The column that it will write."
)
@click.option("--output", required=True, metavar="DIR", help="The folder to make.")
@click.option("--vocabulary-size", default=2000, show_default=True)
@click.option("--layers", default=2, show_default=True)
@click.option("--width", default=128, show_default=True)
@click.option("--heads", default=4, show_default=True)
@click.option("--seed", default=0, show_default=True)
def create(data: str, text: str, target: str, output: str, **shape: int) -> None:
    """Makes a small T5: vocabulary from your data, random weights, no download."""
    from pipeline.creating import create_checkpoint

    create_checkpoint(data=data, text=text, target=target, output=output, shape=shape)
    click.echo(f"{output}: a T5 with random weights. Use it as model.checkpoint.")


def shipped_config(name: str) -> str:
    """The path of a config that ships: `configs/` in a checkout, or in the package."""
    here = os.path.dirname(os.path.abspath(__file__))
    for folder in (os.path.join(os.path.dirname(here), "configs"), f"{here}/configs"):
        path = os.path.join(folder, f"{name}.yaml")
        if os.path.exists(path):
            return os.path.relpath(path)
    raise FileNotFoundError(f"The package ships no config {name!r}.")


if __name__ == "__main__":
    main()
