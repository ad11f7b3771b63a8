"""The process that runs the DAG: `python -m pipeline.worker RUN_DIR`.

Apart from the terminal's process, so that TensorFlow's output goes to the log, an
interrupt ends the run at once, and a crash of a library is a message, not the end.
"""

import json
import os
import signal
import sys
import threading
import traceback

from pipeline import plan as plans
from pipeline.plan import Plan
from trainer_module.loop import stopping
from trainer_module.progress import report


def main(run_dir: str) -> int:
    """Runs the plan in `run_dir` and writes its result there."""
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    # A training saves what it has; any other node is simply run again.
    signal.signal(signal.SIGTERM, stopping.end_process_unless_training)
    plan = Plan.read(run_dir)
    report("loading")
    from tfx.orchestration import metadata
    from tfx.orchestration.pipeline import RunOptions

    from pipeline import dag
    from pipeline.beam_runner import TellingBeamDagRunner, describe

    connection = metadata.sqlite_metadata_connection_config(plan.metadata_path)
    failure = None
    try:
        _provide_checkpoint(plan)
        pipeline = dag.create_pipeline(
            plan.config,
            place=plan.place,
            fingerprints=plan.fingerprints,
            metadata=connection,
            enable_cache=plan.enable_cache,
        )
        report("running", nodes=[node.id for node in pipeline.components])
        options = None
        if plan.from_node or plan.to_node:
            options = RunOptions(
                from_nodes=[plan.from_node] if plan.from_node else None,
                to_nodes=[plan.to_node] if plan.to_node else None,
                base_pipeline_run_id=_base_run(plan, pipeline, connection),
            )
        TellingBeamDagRunner().run(pipeline, run_options=options)
    except Exception as error:
        import logging

        logging.exception("The run failed.")
        failure = describe(error)
    _write_result(run_dir, plan, connection, failure)
    return 1 if failure else 0


def _base_run(plan: Plan, pipeline, connection) -> str | None:
    """The run whose results a part of the DAG takes; TFX's default is the newest one,
    which may have run a part too."""
    from tfx.orchestration import metadata

    from pipeline import lineage, part_of_dag, run_record

    upstream = {
        node.id: [other.id for other in node.upstream_nodes]
        for node in pipeline.components
    }
    nodes = part_of_dag.needed(upstream, plan.from_node, plan.to_node)
    with metadata.Metadata(connection) as handle:
        runs = lineage.ended_nodes(handle.store, plan.config.name)
        base, newer = part_of_dag.base_run(
            nodes, runs, first=str(plan.from_node or plan.to_node)
        )
    if base and newer:
        ids = run_record.ids(plan.config)
        message = (
            f"Goes on from run {ids.get(base, base)}: run {ids.get(newer, newer)} "
        )
        report("note", message=f"{message}has not ended all nodes that are needed.")
    return base


def _provide_checkpoint(plan: Plan) -> None:
    path = plan.place.checkpoint_dir
    if os.path.isdir(path):
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    reference = plan.config.model.checkpoint
    if reference == "create":
        from components.example_gen.texts import texts_of
        from trainer_module.create_checkpoint import create

        report("checkpoint", action="creating", path=path)
        create(
            texts_of(plan.place.data, plan.config.task),
            plan.config.model.create,
            path,
        )
    else:
        from pipeline.hub import fetch

        report("checkpoint", action="fetching", path=path)
        fetch(reference.removeprefix("hub:"), path, plan.config.task)


def _write_result(run_dir: str, plan: Plan, connection, failure) -> None:
    from tfx.orchestration import metadata

    from pipeline import lineage

    with metadata.Metadata(connection) as handle:
        run = lineage.newest_run(handle.store, plan.config.name)
    result = {"failure": failure, "run": run}
    with open(os.path.join(run_dir, plans.RESULT_FILE), "w", encoding="utf-8") as f:
        json.dump(result, f, indent=1)


def _leave_with_parent() -> None:
    """Ends this process when the terminal's is gone: its end of the pipe closes."""
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(70)


if __name__ == "__main__":
    # os._exit: Beam leaves threads behind that would keep the process for seconds.
    try:
        code = main(sys.argv[1])
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
