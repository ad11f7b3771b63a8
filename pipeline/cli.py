"""The command line: `texttune`, and `python local_runner.py` for `texttune run`.

Importing this costs a tenth of a second; every command imports what it needs.
"""

import os
import signal
import sys
from collections.abc import Sequence

import click

from pipeline.commands.gate import gate
from pipeline.commands.runs import runs
from pipeline.commands.schema import schema
from pipeline.commands.tensorboard import tensorboard
from pipeline.commands.tune import tune
from pipeline.shipped import shipped_config


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the `texttune` command."""
    exit_with(texttune, arguments)


def run_main(arguments: Sequence[str]) -> None:
    """`texttune run` under the name of `local_runner.py`."""
    exit_with(run, arguments)


def exit_with(command: click.Command, arguments: Sequence[str] | None = None) -> None:
    """Runs a command, and ends with the exit code that the design gives an error.

    Args:
      arguments: those of the process by default.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Ctrl-C while modules are imported ends in silence, not in a traceback.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from pipeline.config import ConfigError
    from trainer_module.progress import DataRefused

    try:
        command.main(
            args=arguments if arguments is None else list(arguments),
            standalone_mode=False,
        )
    except (click.exceptions.Abort, KeyboardInterrupt):
        code, said = 130, ""
    except click.ClickException as error:
        error.show()
        code, said = error.exit_code, ""
    except ConfigError as error:
        code, said = 2, str(error)
    except DataRefused as error:
        code, said = 3, str(error)
    except BrokenPipeError:  # `| head` has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code, said = 1, ""
    except ModuleNotFoundError as error:
        code, said = 1, _not_installed(error)
    except Exception as error:
        code, said = 1, _bug(error)
    else:
        return
    if said:
        click.echo(f"{_program()}: {said}", err=True)
    sys.exit(code)


def _not_installed(error: ModuleNotFoundError) -> str:
    """The wrong Python, or a set-up that did not end, in words."""
    return (
        f"the package {error.name!r} is not installed for {sys.executable}. Run "
        "`make setup`, then `. .venv/bin/activate`."
    )


def _program() -> str:
    return os.path.basename(sys.argv[0]) or "texttune"


def _bug(error: Exception) -> str:
    """What nobody foresaw: in a line, with the traceback kept for a report."""
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile(
        "w", prefix="texttune-error-", suffix=".txt", delete=False, encoding="utf-8"
    ) as f:
        f.write("".join(traceback.format_exception(error)))
    return (
        f"this should not happen: {type(error).__name__}: {error}. It is a bug of "
        f"texttune; please report it with the traceback, which is in {f.name}."
    )


_HELP = {"help_option_names": ["-h", "--help"]}


@click.group(context_settings=_HELP)
@click.version_option(package_name="texttune")
def texttune() -> None:
    """Fine-tunes T5 or BERT on your own text, proves it, and promotes it."""


texttune.add_command(gate)
texttune.add_command(runs)
texttune.add_command(schema)
texttune.add_command(tensorboard)
texttune.add_command(tune)


@texttune.command(context_settings=_HELP)
@click.option(
    "--config", "config_path", metavar="FILE", help="The job. [configs/intent.yaml]"
)
@click.option(
    "--data",
    metavar="FILE",
    help="Train on this file, folder, glob or {SPAN} path; eval is split off it.",
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
    ours = ["data.eval=null"] if data else []
    if data and "{SPAN}" not in data:
        ours.append("data.spans={}")  # Those of the deliveries that are not read now.
    config = load(
        config_path or shipped_config("intent"),
        [*ours, *overrides],
        {key: value for key, value in named.items() if value is not None},
    )

    from pipeline.local_run import run as run_locally
    from pipeline.preparing import Options
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
    """Asks a promoted model, as TF Serving would.

    Loading it takes some seconds; several texts are answered in one go, a line each.
    Put -- before a text that begins with a dash.
    """
    from pipeline.asking import answers, version_dir

    path = version_dir(model)
    for answer in answers(path, texts):
        click.echo(answer)


@texttune.group()
def checkpoint() -> None:
    """Pretrained checkpoints."""


@checkpoint.command()
@click.option(
    "--data", required=True, metavar="FILE", help="CSV, JSON, Parquet or TFRecord."
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
@click.option(
    "--encoding",
    default="utf-8",
    show_default=True,
    help="Of a file that is not UTF-8; auto if it is clear.",
)
@click.option("--output", required=True, metavar="DIR", help="The folder to make.")
@click.option("--vocabulary-size", default=2000, show_default=True)
@click.option("--layers", default=2, show_default=True)
@click.option("--width", default=128, show_default=True)
@click.option("--heads", default=4, show_default=True)
@click.option("--seed", default=0, show_default=True)
def create(
    data: str, text: str, target: str, encoding: str, output: str, **shape: int
) -> None:
    """Makes a small T5: vocabulary from your data, random weights, no download."""
    from pipeline.creating import create_checkpoint

    unread = create_checkpoint(
        data=data,
        text=text,
        target=target,
        encoding=encoding,
        output=output,
        shape=shape,
    )
    if unread:
        click.echo(
            f"Rows that could not be read and have no part in it: {len(unread)}; the "
            f"first is line {unread[0].number}: {unread[0].problem}."
        )
    click.echo(f"{output}: a T5 with random weights. Use it as model.checkpoint.")


if __name__ == "__main__":
    main()
