"""The newest run in ML Metadata, also if it ran a part of the DAG."""

import pytest

from pipeline import lineage

pytestmark = pytest.mark.slow


@pytest.fixture
def store():
    import ml_metadata
    from ml_metadata.proto import metadata_store_pb2 as pb

    config = pb.ConnectionConfig()
    config.fake_database.SetInParent()
    return ml_metadata.MetadataStore(config)


@pytest.fixture
def context(store):
    """Puts a context with its parents, as TFX does, and gives its id."""
    from ml_metadata.proto import metadata_store_pb2 as pb

    def context(kind, name, *parents):
        type_id = store.put_context_type(pb.ContextType(name=kind))
        (made,) = store.put_contexts([pb.Context(type_id=type_id, name=name)])
        store.put_parent_contexts(
            [pb.ParentContext(child_id=made, parent_id=p) for p in parents]
        )
        return made

    return context


def test_store_without_a_run_has_none(store):
    assert lineage.newest_run(store, "job") == {"run_id": None, "nodes": {}}


def test_part_of_the_dag_is_a_run_of_its_own(store, context):
    job = context("pipeline", "job")
    full = context("pipeline_run", "full", job)
    assert lineage.newest_run(store, "job")["run_id"] == "full"
    context("pipeline_run", "part", job, full)
    assert lineage.newest_run(store, "job")["run_id"] == "part"


def test_run_of_another_pipeline_in_the_same_store_is_none_of_ours(store, context):
    context("pipeline_run", "ours", context("pipeline", "job"))
    context("pipeline_run", "other", context("pipeline", "other-job"))
    assert lineage.newest_run(store, "job")["run_id"] == "ours"


def test_nodes_that_ended_well_are_told_of_each_run_newest_first(store, context):
    from ml_metadata.proto import metadata_store_pb2 as pb

    job = context("pipeline", "job")
    older, newer = (context("pipeline_run", name, job) for name in ("older", "newer"))
    nodes = {name: context("node", f"job.{name}", job) for name in ("Gen", "Train")}
    type_id = store.put_execution_type(pb.ExecutionType(name="any"))
    for run, node, state in (
        (older, "Gen", pb.Execution.COMPLETE),
        (older, "Train", pb.Execution.CACHED),
        (newer, "Gen", pb.Execution.COMPLETE),
        (newer, "Train", pb.Execution.FAILED),
    ):
        execution = pb.Execution(type_id=type_id, last_known_state=state)
        (made,) = store.put_executions([execution])
        store.put_attributions_and_associations(
            [],
            [
                pb.Association(execution_id=made, context_id=run),
                pb.Association(execution_id=made, context_id=nodes[node]),
            ],
        )
    assert list(lineage.ended_nodes(store, "job")) == [
        ("newer", {"Gen"}),
        ("older", {"Gen", "Train"}),
    ]
