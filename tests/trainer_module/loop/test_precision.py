"""The policy of a training, and how a loss scale moves."""

import pytest
import tensorflow as tf
import tf_keras

from trainer_module.loop import precision
from trainer_module.settings import TrainSettings

pytestmark = pytest.mark.slow


def test_policy_ends_where_it_began_also_after_an_error():
    with pytest.raises(RuntimeError), precision.policy("mixed_bfloat16"):
        assert tf_keras.mixed_precision.global_policy().name == "mixed_bfloat16"
        raise RuntimeError
    assert tf_keras.mixed_precision.global_policy().name == "float32"


@pytest.mark.parametrize(
    "name, scaled",
    [("float32", False), ("mixed_bfloat16", False), ("mixed_float16", True)],
)
def test_only_float16_has_a_loss_scale(name, scaled):
    found = precision.loss_scale_for(TrainSettings(precision=name))
    assert (found is not None) is scaled


def follow(scale, *finite: bool) -> list[float]:
    factors = []
    for update in finite:
        scale.update(tf.constant(update))
        factors.append(float(scale.factor))
    return factors


def test_scale_doubles_after_so_many_finite_updates_in_a_row():
    scale = precision.LossScale(initial=8.0, updates_between_growth=2)
    assert follow(scale, True, True, True, False, True, True) == [
        *(8.0, 16.0, 16.0),
        *(8.0, 8.0, 16.0),
    ]


def test_scale_never_falls_below_one():
    scale = precision.LossScale(initial=2.0, updates_between_growth=2)
    assert follow(scale, False, False, False) == [1.0, 1.0, 1.0]
