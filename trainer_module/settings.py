"""The `model` and `train` sections of a configuration, and their way through TFX.

Owned here because the training code is what they steer; `pipeline.config` puts the
sections together. Pure: no TensorFlow, no TFX.
"""

from collections.abc import Mapping
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

Task = Literal["classification", "summarization"]
MAX_SEED = 2**32 - 1  # NumPy's.

LOSS = "loss"  # Of the eval split: reported for each task, beside its metrics.
METRICS: dict[str, tuple[str, ...]] = {
    "classification": ("accuracy", "macro_f1"),
    "summarization": ("rouge_l", "rouge1", "rouge2", "rouge_lsum"),
}


class Section(BaseModel):
    """A frozen group of settings that refuses keys it does not know."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        protected_namespaces=(),
        allow_inf_nan=False,  # JSON, through which settings travel, has neither.
    )


class CreateCheckpoint(Section):
    """The shape of a small T5 with random weights, for use without a hub."""

    vocabulary_size: int = Field(2000, ge=200, le=32000)
    layers: int = Field(2, ge=1, le=24)
    width: int = Field(128, ge=16, le=1024, multiple_of=8)
    heads: int = Field(4, ge=1, le=16)
    seed: int = Field(0, ge=0, le=MAX_SEED)

    @model_validator(mode="after")
    def _width_divides_into_heads(self) -> "CreateCheckpoint":
        if self.width % self.heads:
            raise ValueError(
                f"`model.create.width` ({self.width}) must be a multiple of "
                f"`model.create.heads` ({self.heads})"
            )
        return self


class ModelSettings(Section):
    """Which pretrained model is fine-tuned, and how much text it reads and writes."""

    checkpoint: str = Field(min_length=1)
    create: CreateCheckpoint = CreateCheckpoint()
    pooling: Literal["cls", "mean"] = "cls"
    prefix: str = ""
    max_source_tokens: int = Field(128, ge=4, le=4096)
    max_target_tokens: int = Field(64, ge=2, le=1024)


class KeepBest(Section):
    """Which epoch's weights are exported: the best by this metric of the eval split."""

    metric: str = "loss"
    direction: Literal["min", "max"] = "min"

    @model_validator(mode="after")
    def _direction_is_that_of_the_metric(self) -> "KeepBest":
        right = "min" if self.metric == LOSS else "max"
        if self.direction != right:
            words = {"min": "lower", "max": "higher"}
            raise ValueError(
                f"`train.keep_best.direction` is {self.direction!r}, and a better "
                f"{self.metric} is {words[right]}: the worst weights would be kept. "
                f"Write `direction: {right}`"
            )
        return self


class EarlyStopping(Section):
    """Ends the training when `keep_best.metric` no longer gets better.

    `patience_epochs` epochs in a row without a change for the better of more than
    `min_change`, in the metric's own unit, are the last ones.
    """

    patience_epochs: int = Field(2, ge=1, le=1000)
    min_change: float = Field(0.0, ge=0)


class Freeze(Section):
    """What keeps its pretrained weights. Layers count from the input."""

    embeddings: bool = False
    encoder_layers: int = Field(0, ge=0, le=1000)
    decoder_layers: int = Field(0, ge=0, le=1000)


class Lora(Section):
    """Low-rank adapters, which learn in place of the encoder's and decoder's weights.

    Hu et al. 2021, https://arxiv.org/abs/2106.09685. `targets` are names of linear
    layers; null takes the queries and values of attention, as the paper does.
    """

    rank: int = Field(8, ge=1, le=1024)
    alpha: float = Field(16.0, gt=0)
    targets: tuple[str, ...] | None = Field(None, min_length=1)


class TensorBoardSettings(Section):
    """What is written for TensorBoard beside the curves."""

    sample_outputs: int = Field(5, ge=0, le=100)
    histograms: bool = False
    embedded_rows: int = Field(500, ge=0, le=10000)
    profile_updates: int = Field(0, ge=0, le=100)


class TrainSettings(Section):
    """How long and how fast to learn. Rates are per update of the weights.

    A batch has at most `batch_size` rows and, if that is set, `max_batch_tokens`
    padded tokens, over all devices; an update of the weights takes
    `accumulate_batches` batches. After each epoch the eval split's loss is taken, and
    a summarization's texts for at most `max_decoded_rows` rows of it.

    `label_smoothing` is the share of each target that goes to all classes alike. A
    classifier's head starts at random, or as a linear probe (`head_start`).
    """

    epochs: int = Field(3, ge=1, le=1000)
    batch_size: int = Field(32, ge=1, le=65536)
    max_batch_tokens: int | None = Field(None, ge=8, le=2**24)
    accumulate_batches: int = Field(1, ge=1, le=4096)
    learning_rate: float = Field(1e-4, gt=0, le=1)
    warmup_share: float = Field(0.1, ge=0, lt=1)
    decay: Literal["linear", "cosine"] = "linear"
    weight_decay: float = Field(0.01, ge=0, le=1)
    clip_norm: float = Field(1.0, gt=0)
    dropout: float = Field(0.1, ge=0, lt=1)
    label_smoothing: float = Field(0.0, ge=0, lt=1)
    head_start: Literal["random", "probe"] = "random"
    precision: Literal["float32", "mixed_bfloat16", "mixed_float16"] = "float32"
    seed: int = Field(42, ge=0, le=MAX_SEED)
    keep_best: KeepBest = KeepBest()
    early_stopping: EarlyStopping | None = None
    max_decoded_rows: int = Field(200, ge=0)
    checkpoint_minutes: float = Field(10.0, gt=0)
    warm_start: Literal["never", "blessed"] = "never"
    ask_untuned: bool = True  # Once, about the eval split, for `gate.min_gain`.
    freeze: Freeze = Freeze()
    lora: Lora | None = None
    tensorboard: TensorBoardSettings = TensorBoardSettings()


def check_training(task: Task, train: TrainSettings, *, pooling: str = "cls") -> None:
    """Refuses settings that the task cannot have.

    Raises:
      ValueError: naming the key, what it holds, and what it may hold.
    """
    metrics = (LOSS, *METRICS[task])
    if train.keep_best.metric not in metrics:
        raise ValueError(
            f"`train.keep_best.metric` names {train.keep_best.metric!r}, which "
            f"{task} does not have. Allowed: {list(metrics)}"
        )
    if task == "summarization" and not train.max_decoded_rows:
        if train.keep_best.metric != LOSS:
            raise ValueError(
                f"`train.keep_best.metric` is {train.keep_best.metric!r}, and "
                "`train.max_decoded_rows: 0` lets the validation write no text to "
                "compute it from. Allow some hundred rows, or keep the best by loss"
            )
    if task == "summarization" and train.precision == "mixed_float16":
        raise ValueError(
            "`train.precision: mixed_float16` does not train T5: its activations grow "
            "beyond 65504, the largest number of float16, and the loss becomes NaN. "
            "Take mixed_bfloat16, in which T5 was pretrained, or float32"
        )
    if task == "classification" and train.freeze.decoder_layers:
        raise ValueError(
            "`train.freeze.decoder_layers` is for summarization (T5); BERT has an "
            "encoder only. Remove it"
        )
    if task == "summarization" and train.head_start == "probe":
        raise ValueError(
            "`train.head_start: probe` is for classification; a T5 has no head. Remove "
            "it"
        )
    if train.head_start == "probe" and pooling != "mean":
        raise ValueError(
            "`train.head_start: probe` needs `model.pooling: mean`: the head on the "
            "first token has a hidden layer, so it is not linear. Set one or the other"
        )


Strategy = Literal["auto", "one_device", "mirrored", "multi_worker_mirrored", "tpu"]


_Crossing = TypeVar("_Crossing", bound="TransformSettings")


class TransformSettings(Section):
    """What tokenisation depends on, as it crosses TFX's JSON.

    Transform gets no more than this, so that a new learning rate reuses its work.
    """

    task: Task
    checkpoint_dir: str
    checkpoint_hash: str
    code: str
    model: ModelSettings

    def to_custom_config(self) -> dict[str, Any]:
        return {"texttune": self.model_dump(mode="json")}

    @classmethod
    def from_custom_config(
        cls: type[_Crossing], custom_config: Mapping[str, Any] | None
    ) -> _Crossing:
        """Reads back what `to_custom_config` wrote.

        Raises:
          ValueError: if `custom_config` was not built by `to_custom_config`.
        """
        raw = (custom_config or {}).get("texttune")
        if not raw:
            raise ValueError(
                "`custom_config['texttune']` is missing. Build the node with "
                "`custom_config=settings.to_custom_config()`. "
                f"Received keys: {sorted(custom_config or {})}."
            )
        return cls.model_validate(raw)


class TrainerSettings(TransformSettings):
    """All that the Trainer needs: how the text is read, and how it is learned from."""

    train: TrainSettings
    strategy: Strategy = "auto"
    tpu: str | None = None  # Address of a remote TPU; null for one of this machine.
    training_dir: str | None = None  # Checkpoints go below; null keeps none.

    @model_validator(mode="after")
    def _task_has_the_settings(self) -> "TrainerSettings":
        check_training(self.task, self.train, pooling=self.model.pooling)
        return self
