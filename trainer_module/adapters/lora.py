"""Low-rank adaptation: Hu et al. 2021, https://arxiv.org/abs/2106.09685."""

from collections.abc import Iterator

import tensorflow as tf
import tf_keras

from trainer_module.adapters import anatomy
from trainer_module.progress import Refusal
from trainer_module.settings import Lora

# Queries and values of attention, as in the paper's section 4.2 and its experiments.
DEFAULT_TARGETS = {"bert": ("query", "value"), "t5": ("q", "v"), "mt5": ("q", "v")}

Dense = tf_keras.layers.Dense
Layer = tf_keras.layers.Layer


class Adapted(Layer):
    """A Dense layer and what an adapter adds to it: base(x) + (x A) B * alpha / rank.

    The adapter's variables belong to the model's `Adapters`, not to this layer: they
    learn, while all layers around this one are frozen.

    Args:
      base: built, and without an activation.
      down: variable [inputs, rank], the paper's A.
      up: variable [rank, units], its B.
      scale: alpha / rank.
    """

    def __init__(self, base: Dense, down: tf.Variable, up: tf.Variable, scale: float):
        super().__init__(name=base.name, dtype=base.dtype_policy)
        self.base = base
        # Keras does not see into functions.
        self._added = lambda x: tf.tensordot(tf.tensordot(x, down, 1), up, 1) * scale
        self._product = lambda: tf.matmul(down, up) * scale

    def call(self, inputs):
        return self.base(inputs) + self._added(inputs)

    def merge(self) -> None:
        """Adds A B * alpha / rank to the kernel of `base`, in float32."""
        self.base.kernel.assign_add(self._product())


class Adapters(Layer):
    """Owns the variables of all adapters of a model."""

    def pair(
        self, name: str, shape: tuple[int, int], rank: int, seed: tuple[int, int]
    ) -> tuple[tf.Variable, tf.Variable]:
        """A for [inputs, units], at random, and B, zeros.

        A is uniform within 1 / sqrt(inputs), as `kaiming_uniform_(a=sqrt(5))` makes it
        in the paper's code, https://github.com/microsoft/LoRA loralib/layers.py, and in
        Hugging Face's peft. The paper's text has a normal distribution.
        """
        inputs, units = shape
        bound = inputs**-0.5

        def uniform(shape, dtype, **_kwargs):
            # Of one algorithm, or a GPU would draw other numbers than a CPU.
            return tf.random.stateless_uniform(
                shape, tf.constant(seed, tf.int64), -bound, bound, dtype, alg="philox"
            )

        down = self.add_weight(f"{name}/down", [inputs, rank], initializer=uniform)
        up = self.add_weight(f"{name}/up", [rank, units], initializer="zeros")
        return down, up


def apply(model: tf_keras.Model, settings: Lora, *, seed: int) -> None:
    """Freezes what was pretrained and puts adapters beside the targeted Dense layers.

    The first output is that of the model without adapters, bit for bit: B is zero.
    Layers that are frozen already (`train.freeze`) get no adapter. A classifier's head
    keeps learning whole.

    Args:
      model: built. Call this in the scope its variables were made in.
      seed: of A; equal seeds give equal adapters.

    Raises:
      Refusal: if a target is unknown or frozen, or the rank is too large for one.
    """
    if hasattr(model, "adapters"):
        raise ValueError("The model has adapters already. Merge them first.")
    parts = anatomy.of(model)
    targets = settings.targets or DEFAULT_TARGETS[model.config.model_type]
    found = _targeted(parts, targets)
    _refuse_rank(settings.rank, [layer for _, _, layer in found])
    adapters = Adapters(name="adapters", dtype=found[0][2].dtype_policy)
    for index, (parent, attribute, layer) in enumerate(found):
        pair = adapters.pair(
            layer.kernel.name.removesuffix("/kernel:0"),
            tuple(layer.kernel.shape),
            settings.rank,
            (seed, index),
        )
        adapted = Adapted(layer, *pair, scale=settings.alpha / settings.rank)
        _replace(parent, attribute, adapted)
    wholes = [stack.whole for stack in parts.stacks]
    for part in (parts.embeddings, *wholes, *parts.output):
        part.trainable = False
    model.adapters = adapters


def merge(model: tf_keras.Model) -> None:
    """Adds the adapters to the kernels and puts the Dense layers back, as they were.

    The model then has the variables and names that it had before `apply`; what is
    frozen stays so. A model without adapters is left alone.
    """
    if not hasattr(model, "adapters"):
        return
    for stack in anatomy.of(model).stacks:
        for parent, attribute, layer in _held(stack.whole, Adapted):
            layer.merge()
            _replace(parent, attribute, layer.base)
    del model.adapters
    # Keras forgets the layer; what tf.train.Checkpoint would save is a list of its own.
    model._delete_tracking("adapters")


def _targeted(
    parts: anatomy.Anatomy, targets: tuple[str, ...]
) -> list[tuple[Layer, str, Dense]]:
    blocks = [block for stack in parts.stacks for block in stack.layers]
    dense = [found for block in blocks for found in _held(block, Dense)]
    names = sorted({layer.name for _, _, layer in dense})
    unknown = sorted(set(targets) - set(names))
    if unknown:
        raise Refusal(
            f"train.lora.targets: the model has no linear layers {unknown}. Allowed: "
            f"{names}. Set `--set train.lora.targets=null` for the queries and values "
            "of attention."
        )
    wanted = [found for found in dense if found[2].name in targets]
    learning = [found for found in wanted if found[2].trainable]
    if not learning:
        raise Refusal(
            f"train.freeze: it freezes all {len(wanted)} layers of train.lora.targets "
            f"{list(targets)}, so no adapter would learn. Lora freezes what was "
            "pretrained by itself: set `--set train.freeze.encoder_layers=0` and "
            "`--set train.freeze.decoder_layers=0`."
        )
    return learning


def _refuse_rank(rank: int, layers: list[Dense]) -> None:
    """Beyond the smaller side of a matrix a higher rank is no higher rank."""
    layer = min(layers, key=lambda layer: min(layer.kernel.shape))
    largest = min(layer.kernel.shape)
    if rank > largest:
        inputs, units = layer.kernel.shape
        raise Refusal(
            f"train.lora.rank: {rank} is more than the layer {layer.name!r} of "
            f"{inputs} x {units} can have. Allowed: 1 to {largest}. "
            f"Set `--set train.lora.rank={largest}` or less."
        )


def _held(root: Layer, kind: type[Layer]) -> Iterator[tuple[Layer, str, Layer]]:
    """Each layer of a kind below `root`, with who holds it as which attribute."""
    holders = [layer for layer in (root, *root.submodules) if isinstance(layer, Layer)]
    for holder in holders:
        for attribute, layer in list(vars(holder).items()):
            if isinstance(layer, kind) and not isinstance(holder, Adapted):
                yield holder, attribute, layer


def _replace(parent: Layer, attribute: str, layer: Layer) -> None:
    """Sets an attribute to another layer, and keeps the order of all of them.

    Keras lists a layer's variables in the order in which its attributes were set;
    `get_weights` and `set_weights` of two models must agree on it.
    """
    layers = {k: v for k, v in vars(parent).items() if isinstance(v, Layer)}
    for name, there in layers.items():
        delattr(parent, name)
        setattr(parent, name, layer if name == attribute else there)
