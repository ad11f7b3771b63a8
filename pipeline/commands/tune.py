"""`texttune tune`: a search for the settings that train best."""

import re
import sys

import click

_HELP = {"help_option_names": ["-h", "--help"]}
_STUDY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@click.command(context_settings=_HELP)
@click.option(
    "--config", "config_path", metavar="FILE", help="The job. [configs/intent.yaml]"
)
@click.option(
    "--trials",
    type=click.IntRange(1, 10000),
    metavar="N",
    help="How many the study has in the end. [tune.trials]",
)
@click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    help="Override any key, e.g. tune.space.train.epochs.high=8.",
)
@click.option(
    "--root", metavar="DIR", help="Where artifacts, metadata, runs and studies go."
)
@click.option(
    "--timeout-minutes",
    type=click.FloatRange(min=0, min_open=True),
    metavar="M",
    help="Begin no further trial after this time.",
)
@click.option(
    "--study", metavar="NAME", help="The study's name. [made from what it is of]"
)
def tune(
    config_path: str | None,
    trials: int | None,
    overrides: tuple[str, ...],
    root: str | None,
    timeout_minutes: float | None,
    study: str | None,
) -> None:
    """Searches for the settings that train best, by the section `tune` of the job.

    A trial is a run as far as the Trainer; the data is prepared once. The trials are
    compared by train.keep_best.metric of the eval split, which flatters the chosen
    settings a little. Nothing is promoted. The same command again goes on where a
    search was ended.

    Exit codes: 0 settings were found, 1 no trial succeeded, 2 usage or configuration,
    3 the data was refused, 130 interrupted.
    """
    if study is not None and not _STUDY.fullmatch(study):
        raise click.BadParameter(
            "a name has letters, digits, '.', '_' and '-', 100 at most, and begins "
            f"with a letter or digit. Received: {study!r}.",
            param_hint="--study",
        )
    from pipeline.config import Config, load
    from pipeline.shipped import shipped_config
    from pipeline.tuning.running import Asked
    from pipeline.tuning.running import tune as search
    from pipeline.tuning.space import Values, override

    path = config_path or shipped_config("intent")
    options: dict[str, str | int] = {} if root is None else {"runner.root": root}

    def with_values(values: Values) -> Config:
        more = [override(key, value) for key, value in values.items()]
        return load(path, [*overrides, *more], options)

    same = ["--config", path]
    for text in overrides:
        same += ["--set", text]
    same += [] if root is None else ["--root", root]
    again = [*same]
    again += [] if trials is None else ["--trials", str(trials)]
    again += [] if study is None else ["--study", study]
    asked = Asked(
        with_values=with_values,
        run_command=["run", *same],
        tune_command=["tune", *again],
        trials=trials,
        minutes=timeout_minutes,
        study=study,
    )
    sys.exit(search(asked))
