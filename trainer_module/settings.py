"""The `model` and `train` sections of a configuration, and their way through TFX.

Owned here because the training code is what they steer; `pipeline.config` puts the
sections together. Pure: no TensorFlow, no TFX.
"""

from collections.abc import Mapping
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

Task = Literal["classification", "summarization"]
MAX_SEED = 2**32 - 1  # NumPy's.


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


class TrainSettings(Section):
    """How long and how fast to learn. Rates are per update of the weights."""

    epochs: int = Field(3, ge=1, le=1000)
    batch_size: int = Field(32, ge=1, le=65536)
    learning_rate: float = Field(1e-4, gt=0, le=1)
    warmup_share: float = Field(0.1, ge=0, lt=1)
    decay: Literal["linear", "cosine"] = "linear"
    weight_decay: float = Field(0.01, ge=0, le=1)
    clip_norm: float = Field(1.0, gt=0)
    dropout: float = Field(0.1, ge=0, lt=1)
    precision: Literal["float32", "mixed_bfloat16"] = "float32"
    seed: int = Field(42, ge=0, le=MAX_SEED)


Strategy = Literal["auto", "one_device", "mirrored", "tpu"]


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
