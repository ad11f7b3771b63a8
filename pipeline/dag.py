"""The DAG: topology only. Reads nothing, writes nothing, branches on no runner."""

from tfx import v1 as tfx

from components import artifacts
from components.data_gate.component import DataGate
from components.evaluator.component import Evaluator
from components.example_gen.component import ExampleGen
from components.model_check.component import ModelCheck
from components.pusher.component import Pusher
from components.report.component import Report
from pipeline import model_facts, statistics_options
from pipeline.config import Config
from pipeline.place import Fingerprints, Place
from trainer_module.settings import TrainerSettings, TransformSettings

_standard = tfx.types.standard_artifacts


def create_pipeline(
    config: Config,
    *,
    place: Place,
    fingerprints: Fingerprints,
    metadata=None,
    enable_cache: bool = True,
) -> tfx.dsl.Pipeline:
    """Wires the nodes of `nodes.NODES`.

    Args:
      config: the job.
      place: addresses that the nodes can reach.
      fingerprints: contents behind them, so that the cache notices a change.
      metadata: connection to ML Metadata; a cluster brings its own.
      enable_cache: whether finished work is reused.
    """
    code = fingerprints.code
    data_json = place.data.model_dump_json()
    checkpoint = tfx.dsl.Importer(
        source_uri=place.checkpoint_dir,
        artifact_type=artifacts.Checkpoint,
        custom_properties={"content_hash": fingerprints.checkpoint},
    ).with_id("Checkpoint")
    example_gen = ExampleGen(
        data=data_json,
        task=config.task,
        data_hash=fingerprints.data,
        code=code["ExampleGen"],
    ).with_id("ExampleGen")
    examples = example_gen.outputs["examples"]
    statistics = tfx.components.StatisticsGen(
        examples=examples, stats_options=statistics_options.build(config.task)
    )
    schema_gen = _schema(place, statistics)
    schema = schema_gen.outputs["schema"]
    validator = tfx.components.ExampleValidator(
        statistics=statistics.outputs["statistics"], schema=schema
    )
    data_gate = DataGate(
        examples=examples,
        schema=schema,
        anomalies=validator.outputs["anomalies"],
        account=example_gen.outputs["account"],
        data=data_json,
        task=config.task,
        serving_dir=place.serving_dir,
        served_hash=fingerprints.served,
        code=code["DataGate"],
        checkpoint_dir=place.checkpoint_dir,
        checkpoint_hash=fingerprints.checkpoint,
        model=config.model.model_dump_json(),
    ).with_id("DataGate")

    learned = {
        "task": config.task,
        "checkpoint_dir": place.checkpoint_dir,
        "checkpoint_hash": fingerprints.checkpoint,
        "model": config.model,
    }
    transform = tfx.components.Transform(
        examples=examples,
        schema=schema,
        preprocessing_fn="trainer_module.preprocessing.preprocessing_fn",
        disable_statistics=True,  # StatisticsGen has them; ids say nothing more.
        disable_analyzer_cache=True,
        custom_config=TransformSettings(
            **learned, code=code["Transform"]
        ).to_custom_config(),
    )
    transform.add_upstream_nodes([data_gate, checkpoint])
    baseline = tfx.dsl.Resolver(
        strategy_class=tfx.dsl.experimental.LatestBlessedModelStrategy,
        model=tfx.dsl.Channel(type=_standard.Model),
        model_blessing=tfx.dsl.Channel(type=_standard.ModelBlessing),
    ).with_id("Baseline")
    trainer = tfx.components.Trainer(
        run_fn="trainer_module.run_fn.run_fn",
        examples=transform.outputs["transformed_examples"],
        transform_graph=transform.outputs["transform_graph"],
        train_args=tfx.proto.TrainArgs(),  # Epochs and steps are in custom_config.
        eval_args=tfx.proto.EvalArgs(),
        custom_config=TrainerSettings(
            **learned,
            train=config.train,
            strategy=config.runner.strategy,
            tpu=config.runner.tpu,
            training_dir=place.training_dir,
            code=code["Trainer"],
        ).to_custom_config(),
        **_base_model(config, baseline),
    )
    model = trainer.outputs["model"]
    evaluator = Evaluator(
        examples=examples,
        model=model,
        model_run=trainer.outputs["model_run"],
        baseline_model=baseline.outputs["model"],
        gate=config.gate.model_dump_json(),
        task=config.task,
        code=code["Evaluator"],
    ).with_id("Evaluator")
    model_check = ModelCheck(
        model=model,
        examples=examples,
        max_requests=config.serving.check_requests,
        max_load_seconds=config.serving.max_load_seconds,
        max_latency_seconds=config.serving.max_latency_seconds,
        max_memory_mb=config.serving.max_memory_mb,
        max_model_mb=config.serving.max_model_mb,
        timeout_seconds=config.serving.check_timeout_seconds,
        code=code["ModelCheck"],
    ).with_id("ModelCheck")
    pusher = Pusher(
        model=model,
        model_blessing=evaluator.outputs["blessing"],
        infra_blessing=model_check.outputs["blessing"],
        verdict=data_gate.outputs["verdict"],
        evaluation=evaluator.outputs["evaluation"],
        account=example_gen.outputs["account"],
        push_destination=tfx.proto.PushDestination(
            filesystem=tfx.proto.PushDestination.Filesystem(
                base_directory=place.serving_dir
            )
        ),
        title=config.name,
        facts=model_facts.as_json(config, fingerprints),
        custom_config={"code": code["Pusher"]},
    ).with_id("Pusher")
    report = Report(
        evaluation=evaluator.outputs["evaluation"],
        model_blessing=evaluator.outputs["blessing"],
        infra_blessing=model_check.outputs["blessing"],
        pushed_model=pusher.outputs["pushed_model"],
        account=example_gen.outputs["account"],
        verdict=data_gate.outputs["verdict"],
        model_run=trainer.outputs["model_run"],
        title=config.name,
        facts=model_facts.as_json(config, fingerprints),
        serving_dir=place.serving_dir,
        code=code["Report"],
    ).with_id("Report")
    return tfx.dsl.Pipeline(
        pipeline_name=config.name,
        pipeline_root=place.artifact_root,
        components=[
            checkpoint,
            example_gen,
            statistics,
            schema_gen,
            validator,
            data_gate,
            transform,
            baseline,
            trainer,
            evaluator,
            model_check,
            pusher,
            report,
        ],
        enable_cache=enable_cache,
        metadata_connection_config=metadata,
        beam_pipeline_args=list(config.runner.beam_args),
    )


def _schema(place: Place, statistics):
    if place.schema_file:
        return tfx.components.ImportSchemaGen(schema_file=place.schema_file)
    return tfx.components.SchemaGen(
        statistics=statistics.outputs["statistics"],
        exclude_splits=["eval"],  # So that eval is held against what train has.
    )


def _base_model(config: Config, baseline) -> dict:
    """The input is there only if it is used: each blessed model makes it a new one."""
    if config.train.warm_start == "never":
        return {}
    return {"base_model": baseline.outputs["model"]}
