"""Compiles a job for Kubeflow Pipelines v2 and Vertex AI. Needs no cluster.

  python kubeflow/compile.py --config configs/intent.yaml --output build/

The same `create_pipeline` as on one machine; only the addresses differ. Nothing is
uploaded and no credentials are read.
"""

import json
import os
from collections.abc import Iterable

import click

from pipeline import checkpoints, nodes, place
from pipeline.cli import exit_with
from pipeline.config import Config, ConfigError, load

# The cluster's serving folder is out of reach here, and changes from run to run.
UNKNOWN = "not known when the spec was compiled"
NODES_THAT_READ_WHAT_IS_SERVED = ("DataGate",)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--config", "config_path", required=True, metavar="FILE", help="The job.")
@click.option("--output", required=True, metavar="DIR", help="Where the spec is put.")
@click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    help="Override any key, e.g. runner.kubeflow.image=registry/texttune:1.",
)
def main(config_path: str, output: str, overrides: tuple[str, ...]) -> None:
    """Writes OUTPUT/NAME.json, a PipelineJob with its pipeline spec."""
    config = load(config_path, overrides)
    path = compile_spec(config, output)
    dag = nodes.of_dag(reviewed_schema=config.data.reviewed_schema is not None)
    click.echo(f"{path}: {len(dag)} nodes, image {config.runner.kubeflow.image}")
    places = config.runner.kubeflow
    for key in ("pipeline_root", "serving_dir"):
        if "your-bucket" in getattr(places, key):
            click.echo(
                f"Before you submit it: runner.kubeflow.{key} is still the "
                f"placeholder {getattr(places, key)}."
            )


def compile_spec(config: Config, output: str) -> str:
    """Writes the spec of a job and returns its path.

    Raises:
      ConfigError: if the job names a file that a cluster cannot read, or there can be
        no folder `output`.
    """
    there = place.cluster(config)
    # Contents are known here; the cluster's addresses are only written down.
    here = place.local(config, checkpoints.locate(config))
    contents = place.fingerprint(config, here).model_copy(update={"served": UNKNOWN})
    try:
        os.makedirs(output, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"--output {output}: there can be no such folder: {error.strerror}."
        ) from error
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    from tfx import v1 as tfx

    from pipeline.dag import create_pipeline

    experimental = tfx.orchestration.experimental
    experimental.KubeflowV2DagRunner(
        config=experimental.KubeflowV2DagRunnerConfig(
            display_name=config.name,
            default_image=config.runner.kubeflow.image,
            use_pipeline_spec_2_1=True,
        ),
        output_dir=output,
        output_filename=f"{config.name}.json",
    ).run(create_pipeline(config, place=there, fingerprints=contents))
    path = os.path.join(output, f"{config.name}.json")
    _never_reuse(NODES_THAT_READ_WHAT_IS_SERVED, path)
    return path


def _never_reuse(node_ids: Iterable[str], path: str) -> None:
    """Switches the cache of single nodes off, which the compiler does for all only."""
    with open(path, encoding="utf-8") as f:
        job = json.load(f)
    for node in node_ids:
        job["pipelineSpec"]["root"]["dag"]["tasks"][node]["cachingOptions"] = {
            "enableCache": False
        }
    with open(path, "w", encoding="utf-8") as f:
        json.dump(job, f, indent=2, sort_keys=True)


if __name__ == "__main__":
    exit_with(main)
