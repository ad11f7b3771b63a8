"""The deliveries that a run reads, held against what earlier runs recorded."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from components.example_gen import span_changes
from components.example_gen.settings import SPAN_PLACEHOLDER
from components.example_gen.span_changes import READ, Earlier, SpanRecord
from components.example_gen.spans import Found
from pipeline import run_record
from pipeline.config import Config
from pipeline.plan import Plan


def told(plan: Plan, found: Found, file_hashes: Mapping[str, str]) -> Plan:
    """The plan with what is to be recorded and said of its deliveries.

    A delivery that is gone is said, and does not stop the run: old ones are removed on
    purpose too (retention, a bad one that is withdrawn), and the DataGate and the
    bounds of `gate` judge what is left.

    Args:
      plan: of the run.
      found: by `spans.resolve` for the plan's data.
      file_hashes: SHA-256 of each file that is read.
    """
    before = earlier(plan.config)
    spans = span_changes.records(found, file_hashes, before)
    notes = span_changes.notes(found, spans, before)
    return plan.model_copy(update={"spans": spans, "span_notes": notes})


def earlier(config: Config) -> Earlier | None:
    """What the newest run recorded that read deliveries of the same paths.

    A run that ended before its ExampleGen had read them is passed over, as is a record
    of an older release or a damaged one. After a change of the paths there is nothing
    to compare with once.
    """
    now = _span_paths(config.data.train, config.data.eval)
    for record in run_record.newest_first(config):
        try:
            run = _Run.model_validate(record)
        except ValidationError:
            continue
        same = _span_paths(run.config.data.train, run.config.data.eval) == now
        if same and any(span.state in READ for span in run.spans):
            return Earlier(run.run_id, run.spans)
    return None


def _span_paths(
    train: Sequence[str], held_out: Sequence[str] | None
) -> tuple[list[str], list[str]]:
    return (
        [path for path in train if SPAN_PLACEHOLDER in path],
        [path for path in held_out or () if SPAN_PLACEHOLDER in path],
    )


class _Paths(BaseModel):
    train: tuple[str, ...]
    eval: tuple[str, ...] | None


class _Job(BaseModel):
    data: _Paths


class _Run(BaseModel):
    """What is needed of summary.json."""

    run_id: str
    config: _Job
    data: dict[str, Any]  # The account: of a run that has read its data.
    spans: tuple[SpanRecord, ...]
