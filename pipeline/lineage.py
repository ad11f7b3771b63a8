"""What ML Metadata knows about a run, as plain values."""

from collections.abc import Iterator, Mapping
from typing import Any


def newest_run(store, pipeline_name: str) -> dict[str, Any]:
    """The executions and output artifacts of the newest run of a pipeline.

    Returns:
      {"run_id": str, "nodes": {node: {"state": "COMPLETE" | "CACHED" | "FAILED" |
      "RUNNING", "outputs": {key: {"uri": str, "id": int, "properties": {...}}}}}}.
    """
    from ml_metadata.proto import metadata_store_pb2 as pb

    states = {value: name for name, value in pb.Execution.State.items()}
    prefix = f"{pipeline_name}."
    runs = _newest_first(store, pipeline_name)
    if not runs:
        return {"run_id": None, "nodes": {}}
    run = runs[0]
    nodes: dict[str, Any] = {}
    executions = sorted(store.get_executions_by_context(run.id), key=lambda e: e.id)
    for execution in executions:
        node = _node_of(store, execution, prefix)
        if node is not None:
            nodes[node] = {
                "state": states[execution.last_known_state],
                "execution_id": execution.id,
                "outputs": _outputs(store, execution.id),
            }
    return {"run_id": run.name, "nodes": nodes}


def ended_nodes(store, pipeline_name: str) -> Iterator[tuple[str, set[str]]]:
    """Yields (id, nodes that ended well, reused ones too) of the runs, newest first."""
    from ml_metadata.proto import metadata_store_pb2 as pb

    well = (pb.Execution.COMPLETE, pb.Execution.CACHED)
    for run in _newest_first(store, pipeline_name):
        nodes = {
            _node_of(store, execution, f"{pipeline_name}.")
            for execution in store.get_executions_by_context(run.id)
            if execution.last_known_state in well
        }
        yield run.name, {node for node in nodes if node is not None}


def _newest_first(store, pipeline_name: str) -> list:
    """The contexts of the pipeline's runs."""
    runs = (
        context
        for context in store.get_contexts_by_type("pipeline_run")
        if _pipelines_of(store, context) == [pipeline_name]
    )
    return sorted(runs, key=lambda context: context.id, reverse=True)


def _pipelines_of(store, context) -> list[str]:
    # Of a run of a part of the DAG, the run that it starts from is a parent too.
    parents = store.get_parent_contexts_by_context(context.id)
    pipelines = [p.name for p in parents if p.type == "pipeline"]
    return pipelines or [_property(context, "pipeline_name")]


def _property(holder, name: str) -> str | None:
    for properties in (holder.properties, holder.custom_properties):
        if name in properties:
            return properties[name].string_value
    return None


def _node_of(store, execution, prefix: str) -> str | None:
    for context in store.get_contexts_by_execution(execution.id):
        if context.name.startswith(prefix):
            return context.name.removeprefix(prefix)
    return None


def _outputs(store, execution_id: int) -> Mapping[str, Any]:
    from ml_metadata.proto import metadata_store_pb2 as pb

    found = {}
    for event in store.get_events_by_execution_ids([execution_id]):
        if event.type != pb.Event.OUTPUT:
            continue
        key = event.path.steps[0].key
        (artifact,) = store.get_artifacts_by_id([event.artifact_id])
        found[key] = {
            "id": artifact.id,
            "uri": artifact.uri,
            "properties": {
                name: getattr(value, value.WhichOneof("value"))
                for name, value in artifact.custom_properties.items()
                if value.WhichOneof("value") in ("int_value", "string_value")
            },
        }
    return found
