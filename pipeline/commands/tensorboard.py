"""`texttune tensorboard`: trainings in the browser, also while they run."""

import click

_HELP = {"help_option_names": ["-h", "--help"]}


@click.command(context_settings=_HELP)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="N",
    help="The port of this machine; 0 takes any. [6006, or the next free one]",
)
@click.option("--root", metavar="DIR", help="Where the runs are. [that of the job]")
@click.option(
    "--config", "config_path", metavar="FILE", help="The job. [configs/intent.yaml]"
)
def tensorboard(
    runs: tuple[str, ...], port: int | None, root: str | None, config_path: str | None
) -> None:
    """Shows the training of a run in TensorBoard, or compares several.

    RUN is the id of a run, its folder, or `latest`: the newest run with a training.
    Only this machine can open the page. Ctrl-C ends it.

    Exit codes: 0 ended, 1 TensorBoard cannot start, 2 usage, unknown run or used port.
    """
    if root and config_path:
        raise click.UsageError("--root and --config both name a root; give one.")

    from pipeline import tensorboard_server, trainings

    found = trainings.find(runs, runs_dir(root, config_path))
    names = ", ".join(f"{t.run_id} ({t.state})" for t in found)
    with tensorboard_server.ended_by_signals():
        click.echo(f"Starting TensorBoard for {names} ...")
        with tensorboard_server.running(found, port) as address:
            click.echo(f"{address}\nCtrl-C ends it.")
            tensorboard_server.wait()


def runs_dir(root: str | None, config_path: str | None) -> str:
    """Where the ids of runs are looked for."""
    import os

    if root:
        return os.path.join(os.path.abspath(root), "runs")

    from pipeline import plan
    from pipeline.config import load
    from pipeline.shipped import shipped_config

    return plan.runs_dir(load(config_path or shipped_config("intent")))
