"""What is frozen stays bit for bit through an update; all the rest moves."""

import numpy as np
import pytest
import tensorflow as tf

from trainer_module import adapters
from trainer_module.adapters.freezing import freeze
from trainer_module.progress import Refusal
from trainer_module.settings import Freeze

# transformers makes both kernels of a gated T5 with one initializer.
GATED_T5 = pytest.mark.filterwarnings("ignore:The initializer RandomNormal is unseeded")
pytestmark = [pytest.mark.slow, GATED_T5]

# By kind of model: settings, and parts of the names of exactly what they freeze.
CASES = {
    "bert_nothing": ("bert", {}, ()),
    "bert_embeddings": ("bert", {"embeddings": True}, ("/bert/embeddings/",)),
    "bert_first_layer": ("bert", {"encoder_layers": 1}, ("encoder/layer_._0/",)),
    "bert_all_but_head": (
        "bert_mean",
        {"embeddings": True, "encoder_layers": 2},
        ("/bert/embeddings/", "/bert/encoder/"),
    ),
    "t5_embeddings_are_the_head": ("t5", {"embeddings": True}, ("shared/",)),
    "t5_v1_1_head_learns": ("t5_v1_1", {"embeddings": True}, ("shared/",)),
    "t5_first_encoder_layer": ("t5", {"encoder_layers": 1}, ("encoder/block_._0/",)),
    "t5_first_decoder_layer": (
        "t5_v1_1",
        {"decoder_layers": 1},
        ("decoder/block_._0/",),
    ),
    "t5_whole_encoder": ("t5", {"encoder_layers": 2}, ("/encoder/",)),
    "mt5_all_but_head": (
        "mt5",
        {"embeddings": True, "encoder_layers": 2, "decoder_layers": 2},
        ("shared/", "/encoder/", "/decoder/"),
    ),
}


@pytest.mark.parametrize("kind, settings, frozen", CASES.values(), ids=CASES)
def test_frozen_weights_stay_and_all_others_learn(
    kind, settings, frozen, task_of, update
):
    task = task_of(kind)
    freeze(task.model, Freeze(**settings))
    before = [(variable, variable.numpy()) for variable in task.model.variables]
    update(task, updates=1)
    names = {v.name for v in task.model.variables}
    learning = {v.name for v in task.model.trainable_variables}
    assert names - learning == {
        name for name in names if any(part in name for part in frozen)
    }
    still = {v.name for v, old in before if np.array_equal(v.numpy(), old)}
    # A bias on every key moves all scores of a row alike: it has no gradient.
    assert {name for name in still if "key/bias" not in name} == {
        name for name in names - learning if "key/bias" not in name
    }


@pytest.mark.parametrize(
    "kind, settings, message",
    [
        (
            "bert",
            {"encoder_layers": 3},
            r"train.freeze.encoder_layers: 3 layers .* encoder .* has 2. "
            r"Allowed: 0 to 2. .*train.freeze.encoder_layers=2",
        ),
        ("t5", {"decoder_layers": 9}, r"train.freeze.decoder_layers: 9 .* has 2"),
        ("bert", {"decoder_layers": 1}, r"decoder of the checkpoint has 0.*0 to 0"),
        (
            "t5",
            {"embeddings": True, "encoder_layers": 2, "decoder_layers": 2},
            "everything is frozen.*--set train.freeze.embeddings=false",
        ),
    ],
    ids=["encoder", "decoder", "no_decoder", "everything"],
)
def test_what_cannot_be_frozen_is_refused(kind, settings, message, task_of):
    with pytest.raises(Refusal, match=message):
        freeze(task_of(kind).model, Freeze(**settings))


def test_dropout_goes_on_in_frozen_layers(task_of):
    task = task_of("bert", train={"dropout": 0.5})
    freeze(task.model, Freeze(embeddings=True, encoder_layers=2))
    ids = tf.constant([[2, 5, 6, 3]])
    first, second = (
        task.model.bert(ids, training=True).last_hidden_state for _ in range(2)
    )
    assert not np.array_equal(first, second)


def test_finished_model_lists_its_variables_as_one_that_was_never_frozen(task_of):
    model = task_of("t5").model
    names = [v.name for v in model.variables]
    freeze(model, Freeze(encoder_layers=1))
    assert [v.name for v in model.variables] != names
    adapters.finish(model)
    assert [v.name for v in model.variables] == names
    assert len(model.trainable_variables) == len(names)
