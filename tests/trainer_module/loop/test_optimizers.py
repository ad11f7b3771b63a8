"""The schedule written out, and which weights decay."""

import numpy as np
import pytest
import tensorflow as tf
import transformers

from trainer_module.loop import optimizers
from trainer_module.settings import TrainSettings

pytestmark = pytest.mark.slow

ONE = tf.constant(1.0)


def rates(updates, **settings):
    schedule = optimizers.WarmupThenDecay(**settings)
    return [round(float(schedule(step)), 6) for step in range(updates)]


def test_linear_rises_then_falls():
    assert rates(10, peak=1.0, warmup=4, total_updates=10, decay="linear") == [
        *(0.25, 0.5, 0.75, 1.0),
        *(1.0, 0.833333, 0.666667, 0.5, 0.333333, 0.166667),
    ]


def test_cosine_falls_slowly_at_both_ends():
    assert rates(5, peak=2.0, warmup=0, total_updates=4, decay="cosine") == [
        *(2.0, 1.707107, 1.0, 0.292893),
        0.0,
    ]


def test_without_warmup_the_first_update_has_the_peak():
    assert rates(3, peak=0.3, warmup=0, total_updates=3, decay="linear") == [
        *(0.3, 0.2, 0.1)
    ]


@pytest.mark.parametrize("decay", ["linear", "cosine"])
def test_single_update_and_updates_past_the_end_are_finite(decay):
    assert rates(1, peak=1.0, warmup=0, total_updates=1, decay=decay) == [1.0]
    assert rates(1, peak=1.0, warmup=1, total_updates=1, decay=decay) == [1.0]
    late = rates(6, peak=1.0, warmup=1, total_updates=3, decay=decay)
    assert late[3:] == [0.0, 0.0, 0.0]


def test_warmup_is_a_share_of_all_updates():
    settings = TrainSettings(learning_rate=0.5, warmup_share=0.2)
    schedule = optimizers.build(settings, total_updates=10)._learning_rate
    assert schedule.get_config() == {
        "peak": 0.5,
        "warmup": 2,
        "total_updates": 10,
        "decay": "linear",
    }


def decaying(model) -> set[str]:
    """The last parts of the names of the weights that decay."""
    optimizer = optimizers.build(TrainSettings(weight_decay=0.1), total_updates=10)
    optimizer.build(model.trainable_variables)
    return {
        variable.name.rsplit("/", 2)[-2] + "/" + variable.name.rsplit("/", 1)[-1]
        for variable in model.trainable_variables
        if optimizer.decay_of(variable)
    }


def test_bert_decays_kernels_and_embeddings_alone():
    model = transformers.TFBertForSequenceClassification(
        transformers.BertConfig(
            vocab_size=10,
            hidden_size=8,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=8,
        )
    )
    model.build_in_name_scope()
    kernels = {"query", "key", "value", "dense", "classifier"}
    assert decaying(model) == {f"{name}/kernel:0" for name in kernels} | {
        "word_embeddings/weight:0",
        "token_type_embeddings/embeddings:0",
        "position_embeddings/embeddings:0",
    }


@pytest.mark.filterwarnings("ignore:The initializer RandomNormal is unseeded")
@pytest.mark.parametrize("kind", ["relu", "gated-gelu"], ids=["t5", "flan_t5"])
def test_t5_decays_kernels_and_embeddings_but_no_norm_and_no_position_bias(kind):
    model = transformers.TFT5ForConditionalGeneration(
        transformers.T5Config(
            vocab_size=16,
            d_model=8,
            d_kv=4,
            d_ff=8,
            num_layers=1,
            num_heads=2,
            feed_forward_proj=kind,
            tie_word_embeddings=kind == "relu",
        )
    )
    model.build_in_name_scope()
    inner = {"wi"} if kind == "relu" else {"wi_0", "wi_1"}
    kernels = {"q", "k", "v", "o", "wo"} | inner
    if kind == "gated-gelu":
        kernels.add("lm_head")
    found = decaying(model)
    assert {name for name in found if "kernel" in name} == {
        f"{name}/kernel:0" for name in kernels
    }
    embeddings = {name for name in found if "kernel" not in name}
    assert len(embeddings) == 1, embeddings
    norms = [v.name for v in model.trainable_variables if "norm" in v.name]
    assert len(norms) == 7


def test_decay_moves_kernels_and_leaves_biases_where_they_are():
    kernel = tf.Variable([[2.0]], name="dense/kernel")
    bias = tf.Variable([2.0], name="dense/bias")
    gamma = tf.Variable([2.0], name="LayerNorm/gamma")
    settings = TrainSettings(learning_rate=0.5, weight_decay=0.1, warmup_share=0.0)
    optimizer = optimizers.build(settings, total_updates=10)
    variables = [kernel, bias, gamma]
    optimizer.build(variables)
    optimizer.apply([tf.zeros_like(v) for v in variables], variables, ONE)
    np.testing.assert_allclose(kernel.numpy(), [[2.0 - 0.5 * 0.1 * 2.0]], rtol=1e-6)
    assert bias.numpy() == [2.0] and gamma.numpy() == [2.0]


@pytest.mark.parametrize("xla", [False, True], ids=["graph", "xla"])
def test_update_is_that_of_the_papers_where_epsilon_is_not_small(xla):
    """Against Kingma & Ba's algorithm 1 with decoupled decay, in float64."""
    settings = TrainSettings(learning_rate=0.5, weight_decay=0.1, warmup_share=0.0)
    optimizer = optimizers.build(settings, total_updates=10)
    variable = tf.Variable([1.0, -2.0, 3.0], name="dense/kernel")
    optimizer.build([variable])

    @tf.function(jit_compile=xla)
    def apply(gradient):
        optimizer.apply([gradient / 4.0], [variable], tf.constant(4.0))

    weight = variable.numpy().astype(np.float64)
    m = v = np.zeros(3)
    for done in range(1, 6):
        gradient = np.array([1e-7, -1e-6, 1e-2]) * done
        apply(tf.constant(gradient, tf.float32))
        rate = 0.5 * (10 - done + 1) / 10
        m = 0.9 * m + 0.1 * gradient
        v = 0.999 * v + 0.001 * gradient**2
        step = (m / (1 - 0.9**done)) / (np.sqrt(v / (1 - 0.999**done)) + 1e-6)
        weight = weight - rate * 0.1 * weight - rate * step
        np.testing.assert_allclose(variable.numpy(), weight, rtol=2e-6)
    assert int(optimizer.iterations) == 5


@pytest.mark.parametrize("gradient", [np.nan, np.inf, 1.0])
def test_factor_of_zero_moves_neither_weight_nor_moments(gradient):
    weight = tf.Variable([1.0, 2.0], name="dense/kernel")
    settings = TrainSettings(learning_rate=0.5, weight_decay=0.1, warmup_share=0.0)
    optimizer = optimizers.build(settings, total_updates=10)
    optimizer.build([weight])
    optimizer.apply([tf.constant([1.0, 1.0])], [weight], ONE)
    before = [v.numpy() for v in (weight, *optimizer.variables) if v.shape.rank]
    optimizer.apply([tf.constant([gradient, 1.0])], [weight], tf.constant(0.0))
    after = [v.numpy() for v in (weight, *optimizer.variables) if v.shape.rank]
    for old, new in zip(before, after, strict=True):
        np.testing.assert_array_equal(old, new)
