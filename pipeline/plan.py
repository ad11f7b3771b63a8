"""What one run is to do: all that its worker process needs, as one file. Pure."""

import hashlib
import os

from components.example_gen.span_changes import SpanRecord
from pipeline.config import Config
from pipeline.place import Fingerprints, Place
from trainer_module.settings import Section

PLAN_FILE = "plan.json"
EVENTS_FILE = "events.jsonl"
RESULT_FILE = "result.json"
SUMMARY_FILE = "summary.json"
LOG_FILE = "log.txt"
REPORT_FILE = "report.html"
MODEL_CARD_FILE = "model_card.md"
REJECTED_FILE = "rejected.jsonl"
FINDINGS_FILE = "findings.json"
TEXT_STATISTICS_FILE = "text_statistics.json"


class TrialOf(Section):
    """The trial of a search for settings that a run is."""

    study: str
    trial: int


class Plan(Section):
    """One run: the job, its addresses and contents, and which part of the DAG.

    `spans`, `span_notes` and `tuning` are told and recorded, and change nothing that is
    computed.
    """

    config: Config
    place: Place
    fingerprints: Fingerprints
    from_node: str | None = None
    to_node: str | None = None
    enable_cache: bool = True
    spans: tuple[SpanRecord, ...] = ()
    span_notes: tuple[str, ...] = ()
    tuning: TrialOf | None = None

    @property
    def key(self) -> str:
        """Equal for two runs that would compute the same."""
        # Whole-run settings only: a partial run is never "nothing to do".
        parts = [
            # What a search would try changes nothing that a run computes.
            self.config.model_dump_json(exclude={"tune"}),
            self.place.model_dump_json(),
            # What is served is what such a run has led to, not what it starts from.
            self.fingerprints.model_dump_json(exclude={"served"}),
        ]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    @property
    def metadata_path(self) -> str:
        return metadata_path(self.config)

    def write(self, run_dir: str) -> None:
        with open(os.path.join(run_dir, PLAN_FILE), "w", encoding="utf-8") as f:
            f.write(self.model_dump_json(indent=1))

    @classmethod
    def read(cls, run_dir: str) -> "Plan":
        with open(os.path.join(run_dir, PLAN_FILE), encoding="utf-8") as f:
            return cls.model_validate_json(f.read())


def metadata_path(config: Config) -> str:
    return os.path.join(str(config.runner.root), "metadata.sqlite")


def runs_dir(config: Config) -> str:
    return os.path.join(str(config.runner.root), "runs")
