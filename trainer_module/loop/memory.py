"""Whether a batch fits in memory, and the words when it does not. Pure arithmetic.

`memory_probe` measures; here is what its numbers mean.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any, NoReturn

from trainer_module.loop.free_memory import Free
from trainer_module.progress import Refusal
from trainer_module.settings import TrainSettings

# What is needed is taken for a quarter more than the line through the measurements
# says. They are within a tenth of it; the rest is for holes in the heap, which a
# training with batches of many widths leaves.
MARGIN = 1.25

_GB = 10**9
_SHOWN_CHARACTERS = 200
# What the settings allow.
_MAX_ACCUMULATED = 4096
_MIN_TOKENS, _MAX_TOKENS = 8, 2**24


@dataclasses.dataclass(frozen=True)
class Batch:
    """The largest batch of a training.

    Attributes:
      rows: on each replica.
      widths: tokens of a row: of the input and, for T5, of the target.
      train: as it is set; the way out is a change of it.
      replicas: devices that share the update.
    """

    rows: int
    widths: tuple[int, ...]
    train: TrainSettings
    replicas: int = 1

    def __str__(self) -> str:
        tokens = " + ".join(str(width) for width in self.widths)
        place = f" on each of {self.replicas} devices" if self.replicas > 1 else ""
        return f"a batch of {_count(self.rows, 'row')} of {tokens} tokens{place}"

    @property
    def key(self) -> str:
        """The setting that decides how large it is."""
        budget = self.train.max_batch_tokens
        if budget is not None and self.rows * self.replicas < self.train.batch_size:
            return "train.max_batch_tokens"
        return "train.batch_size"


@dataclasses.dataclass(frozen=True)
class Line:
    """Bytes as a function of rows."""

    fixed: float
    per_row: float

    def at(self, rows: int) -> int:
        return round(self.fixed + self.per_row * rows)

    def rows_within(self, limit_bytes: float) -> int:
        """The most rows that need no more than `limit_bytes`; zero if none does."""
        return max(0, int((limit_bytes - self.fixed) // self.per_row))


def fit(points: Sequence[tuple[int, int]]) -> Line:
    """The line through (rows, bytes) by least squares.

    The peak of a few rows may be elsewhere in the step than that of many, which bends
    the line upwards: points below a quarter of the most rows are left out. One number
    of rows alone gives the line through zero, which is never too low beyond it.
    """
    most = max(rows for rows, _ in points)
    points = [point for point in points if point[0] * 4 >= most]
    mean_rows = sum(rows for rows, _ in points) / len(points)
    mean_bytes = sum(size for _, size in points) / len(points)
    spread = sum((rows - mean_rows) ** 2 for rows, _ in points)
    if spread == 0:
        return Line(fixed=0.0, per_row=max(1.0, mean_bytes / mean_rows))
    slope = sum((r - mean_rows) * (b - mean_bytes) for r, b in points) / spread
    slope = max(1.0, slope)  # A row takes something, whatever the noise says.
    return Line(fixed=max(0.0, mean_bytes - slope * mean_rows), per_row=slope)


@dataclasses.dataclass(frozen=True)
class Shape:
    """What the memory of a transformer follows from; zero layers where it has none."""

    hidden: int
    inner: int
    heads: int
    encoder_layers: int
    decoder_layers: int
    vocabulary: int
    weights: int

    @classmethod
    def of(cls, config: Any, weights: int) -> "Shape":
        """From the `config` of Hugging Face's BERT or T5, and the number of weights."""
        t5 = hasattr(config, "d_ff")
        inner = config.d_ff if t5 else config.intermediate_size
        return cls(
            hidden=config.hidden_size,
            # A gated T5 has two projections side by side.
            inner=inner * 2 if getattr(config, "is_gated_act", False) else inner,
            heads=config.num_attention_heads,
            encoder_layers=config.num_hidden_layers,
            decoder_layers=config.num_decoder_layers if t5 else 0,
            vocabulary=config.vocab_size if t5 else 0,
            weights=weights,
        )


def bound_bytes(shape: Shape, rows: int, widths: Sequence[int]) -> int:
    """More than a step of training takes beyond the model and its optimizer.

    The activations of Korthikanti et al. 2022, https://arxiv.org/abs/2205.05198,
    section 4.1, which are 34 bytes a hidden value and 5 a score of attention in half
    precision, counted generously for TensorFlow in float32: about 2.5 times what was
    measured of MiniLM and T5.
    """
    source = widths[0]
    target = widths[1] if len(widths) > 1 else 0
    encoder = source * (20 * shape.hidden + 10 * shape.inner + 8 * shape.heads * source)
    decoder = target * (
        40 * shape.hidden + 10 * shape.inner + 8 * shape.heads * (source + target)
    )
    # Keys and values of the source, in each layer of the decoder.
    crossing = 10 * shape.hidden * source if target else 0
    values = (
        shape.encoder_layers * encoder
        + shape.decoder_layers * (decoder + crossing)
        + 8 * shape.vocabulary * target
    )
    # Gradients, as the step gives them and as they are clipped; the libraries' own.
    return 4 * (rows * values + 4 * shape.weights) + 256 * 2**20


def check(batch: Batch, line: Line, free: Free) -> None:
    """Refuses a batch that `line` says does not fit.

    Args:
      line: bytes needed by the rows of one replica.

    Raises:
      Refusal: with the largest batch that fits, and the settings for it.
    """
    needed = line.at(batch.rows) * MARGIN
    if needed <= free.bytes_free:
        return
    refuse(
        batch,
        f"{batch} needs about {_gb(needed)}, with a margin of a quarter, and "
        f"{_gb(free.bytes_free)} of {free.source} are free.",
        fits=min(line.rows_within(free.bytes_free / MARGIN), batch.rows - 1),
        about="about ",
    )


def explain_exhausted(error: BaseException, batch: Batch) -> Refusal:
    """What to tell when a device ran out of memory in the midst of the training.

    Nothing is known but that `batch` was too large, so the way out is half of it.
    """
    half = -(-batch.rows // 2) if batch.rows > 1 else 0
    return Refusal(f"{batch.key}: {too_large(batch, error)} {_way_out(batch, half)}")


def too_large(batch: Batch, error: BaseException) -> str:
    """What happened, with the line of TensorFlow's message that says it."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    telling = [line for line in lines if "memory" in line.lower() or "OOM" in line]
    cause = (telling or lines)[0].strip()[:_SHOWN_CHARACTERS].rstrip(".:")
    return f"{batch} did not fit in the device's memory ({cause})."


def refuse(batch: Batch, why: str, *, fits: int, about: str = "") -> NoReturn:
    """Raises the refusal of a batch of which `fits` rows a replica would fit."""
    place = " on each device" if batch.replicas > 1 else ""
    largest = f"The largest that fits has {about}{_count(fits, 'row')}{place}. "
    way_out = _way_out(batch, fits)
    raise Refusal(f"{batch.key}: {why} {largest if fits else ''}{way_out}")


def _way_out(batch: Batch, fits: int) -> str:
    if fits == 0:
        longest = max(batch.widths)
        name = "source" if longest == batch.widths[0] else "target"
        return (
            "Not even one row fits. Cut longer texts: "
            f"--set model.max_{name}_tokens={max(4, longest // 2)}; or take a smaller "
            "checkpoint (--set model.checkpoint=...) or a machine with more memory."
        )
    parts = -(-batch.rows // min(fits, batch.rows))
    rows = -(-batch.rows // parts) * batch.replicas
    tokens = min(max(_MIN_TOKENS, rows * sum(batch.widths)), _MAX_TOKENS)
    budget = f"--set train.max_batch_tokens={tokens}"
    accumulated = batch.train.accumulate_batches * parts
    if batch.key == "train.batch_size":
        smaller, other = f"--set train.batch_size={rows}", f" Or a budget: {budget}."
    else:
        smaller, other = budget, ""
    if accumulated > _MAX_ACCUMULATED:
        return f"Take smaller batches: {smaller}.{other}"
    return (
        f"Take smaller batches: {smaller}; with --set "
        f"train.accumulate_batches={accumulated} an update stays as large as it was."
        f"{other}"
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _gb(size: float) -> str:
    return f"{size / _GB:.1f} GB"
