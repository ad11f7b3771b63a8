"""BeamDagRunner that tells which node runs. The only use of its inner classes."""

import time

from ml_metadata.proto import metadata_store_pb2
from tfx.orchestration import metadata
from tfx.orchestration.beam import beam_dag_runner

from trainer_module.loop.stopping import Stopped
from trainer_module.progress import DataRefused, Refusal, report


class _TellingNode(beam_dag_runner.PipelineNodeAsDoFn):
    """Runs one node, and reports its start and how it ended."""

    def _run_node(self) -> None:
        report("node_started", node=self._node_id)
        started = time.monotonic()
        try:
            super()._run_node()
        except Exception as error:
            report(
                "node_failed",
                node=self._node_id,
                seconds=time.monotonic() - started,
                **describe(error),
            )
            raise
        report(
            "node_finished",
            node=self._node_id,
            seconds=time.monotonic() - started,
            cached=self._was_reused(),
        )

    def _was_reused(self) -> bool:
        with metadata.Metadata(self._mlmd_connection_config) as handle:
            context = handle.store.get_context_by_type_and_name(
                "node", f"{self._pipeline_info.id}.{self._node_id}"
            )
            executions = handle.store.get_executions_by_context(context.id)
        newest = max(executions, key=lambda execution: execution.id)
        return newest.last_known_state == metadata_store_pb2.Execution.CACHED


class TellingBeamDagRunner(beam_dag_runner.BeamDagRunner):
    """Runs a pipeline on this machine, as `BeamDagRunner` does."""

    _PIPELINE_NODE_DO_FN_CLS = _TellingNode


def describe(error: BaseException) -> dict:
    """What a person needs of an exception: whose fault, and what."""
    refusal = _refusal_in(error)
    findings = list(refusal.findings) if refusal else [_short(error)]
    stopped = isinstance(refusal, Stopped)
    return {
        "refused": refusal is not None and not stopped,
        "stopped": stopped,
        "findings": findings,
        "data_refused": isinstance(refusal, DataRefused),
    }


def _short(error: BaseException) -> str:
    """The first lines of what went wrong; the whole of it is in the log."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    more = " ..." if len(lines) > 3 else ""
    return f"{type(error).__name__}: {' '.join(lines[:3])[:500]}{more}"


def _refusal_in(error: BaseException | None) -> Refusal | None:
    while error is not None:
        if isinstance(error, Refusal):
            return error
        error = error.__cause__ or error.__context__
    return None
