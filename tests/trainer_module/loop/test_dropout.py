"""Masks that follow from the place in the training, and from nothing else."""

import json
import math
import pathlib

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from trainer_module import export
from trainer_module.loop.dropout import Masks

pytestmark = pytest.mark.slow

ROOT = pathlib.Path(__file__).parents[3]
PLACE = (3, 1, 0)  # (update, batch, replica)


class Dropouts(tf_keras.Model):
    """Dropout layers side by side; the first one is called twice."""

    def __init__(self, *rates: float, dtype=tf.float32):
        super().__init__(dtype=dtype)
        self.parts = [tf_keras.layers.Dropout(rate, dtype=dtype) for rate in rates]

    def call(self, inputs, training=False):
        twice = [self.parts[0](inputs, training=training)]
        return twice + [part(inputs, training=training) for part in self.parts]


def mask(rate, shape, *, place=PLACE, seed=7, dtype=tf.float32) -> np.ndarray:
    model = Dropouts(rate, dtype=dtype)
    masks = Masks(model, seed=seed)
    with masks.at(*place):
        return model(tf.ones(shape, dtype), training=True)[0].numpy()


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9, 1 / 65536])
def test_share_of_dropped_values_is_the_rate_and_the_rest_is_scaled(rate):
    found = mask(rate, [1000, 1000])
    exact = round(rate * 65536) / 65536
    deviation = math.sqrt(exact * (1 - exact) / found.size)
    assert abs((found == 0).mean() - exact) < 4 * deviation
    assert set(np.unique(found)) == {0.0, np.float32(1 / (1 - exact))}


def test_values_are_dropped_independently_of_their_neighbours():
    dropped = mask(0.5, [1000, 1000]) == 0
    for axis in (0, 1):
        both = (dropped & np.roll(dropped, 1, axis)).mean()
        assert abs(both - 0.25) < 4 * math.sqrt(0.25 * 0.75 / dropped.size)


def test_mask_is_the_same_in_another_model_of_the_same_layers():
    np.testing.assert_array_equal(mask(0.5, [999]), mask(0.5, [999]))


@pytest.mark.parametrize(
    "other",
    [
        {"place": (4, 1, 0)},
        {"place": (3, 2, 0)},
        {"place": (3, 1, 1)},
        {"place": (2**34, 1, 0)},
        {"seed": 8},
        {"seed": 2**32 - 1},
    ],
    ids=["update", "batch", "replica", "far_update", "seed", "largest_seed"],
)
def test_mask_differs_in_another(other):
    same = (mask(0.5, [100, 100]) == mask(0.5, [100, 100], **other)).mean()
    assert abs(same - 0.5) < 4 * 0.5 / 100


def test_layers_and_calls_of_one_layer_have_masks_of_their_own():
    model = Dropouts(0.5, 0.5)
    masks = Masks(model, seed=0)
    assert masks.layers == 2
    with masks.at(*PLACE):
        found = [part.numpy() == 0 for part in model(tf.ones([10000]), training=True)]
    assert len(found) == 3
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert abs((found[one] == found[other]).mean() - 0.5) < 4 * 0.5 / 100


@pytest.mark.parametrize("size", [0, 1, 2, 7])
def test_any_number_of_values_has_a_mask(size):
    assert mask(0.5, [size]).shape == (size,)


def test_rate_zero_draws_nothing_and_needs_no_place():
    model = Dropouts(0.0)
    Masks(model, seed=0)
    assert model(tf.ones([5]), training=True)[0].numpy().tolist() == [1.0] * 5


def test_model_in_training_outside_of_a_place_is_refused():
    model = Dropouts(0.5)
    masks = Masks(model, seed=0)
    with masks.at(*PLACE):
        model(tf.ones([5]), training=True)
    with pytest.raises(RuntimeError, match="outside of `Masks.at`"):
        model(tf.ones([5]), training=True)
    assert model(tf.ones([5]), training=False)[0].numpy().tolist() == [1.0] * 5


def test_layer_of_another_random_kind_is_refused():
    model = tf_keras.Sequential([tf_keras.layers.GaussianNoise(0.1, name="noise")])
    with pytest.raises(TypeError, match="Received: noise, a GaussianNoise"):
        Masks(model, seed=0)


def test_noise_shape_gives_one_mask_for_a_whole_axis():
    model = tf_keras.Sequential([tf_keras.layers.SpatialDropout1D(0.5)])
    masks = Masks(model, seed=0)
    with masks.at(*PLACE):
        found = model(tf.ones([4, 6, 50]), training=True).numpy()
    np.testing.assert_array_equal(found, np.repeat(found[:, :1], 6, axis=1))
    assert set(np.unique(found)) == {0.0, 2.0}


@pytest.mark.parametrize("dtype", [tf.bfloat16, tf.float16], ids=["bfloat16", "half"])
def test_half_precision_has_the_mask_of_float32(dtype):
    found = mask(0.5, [999], dtype=dtype)
    assert found.dtype == dtype.as_numpy_dtype
    np.testing.assert_array_equal(found.astype(np.float32), mask(0.5, [999]))


def gradients_at(task, masks, batch, **options):
    """A compiled function: (update, batch, replica) -> (loss, gradients)."""

    def run(update, number, replica):
        with tf.GradientTape() as tape, masks.at(update, number, replica):
            loss, _ = task.loss_sums(batch, training=True)
        variables = task.model.trainable_variables
        zero = tf.UnconnectedGradients.ZERO
        found = tape.gradient(loss, variables, unconnected_gradients=zero)
        return loss, [tf.convert_to_tensor(gradient) for gradient in found]

    spec = [tf.TensorSpec([], tf.int32)] * 3
    return tf.function(run, input_signature=spec, autograph=False, **options)


def batch_of(task: str) -> dict[str, tf.Tensor]:
    ids = tf.constant([[2, 5, 6, 3], [2, 7, 3, 0]])
    labels = [[5, 6, 1], [7, 1, -100]] if task == "summarization" else [2, 0]
    return {"input_ids": ids, "labels": tf.constant(labels)}


@pytest.fixture(params=["classification", "mean_pooled", "summarization"])
def kind(request):
    return request.param


@pytest.fixture
def task(kind, tiny_task):
    train = {"dropout": 0.3}
    if kind == "mean_pooled":
        return tiny_task("classification", model={"pooling": "mean"}, train=train)
    return tiny_task(kind, train=train)


def step_at(numbers, step):
    return step(*(tf.constant(number) for number in numbers))


def test_step_is_traced_once_and_follows_from_its_place(task, kind):
    masks = Masks(task.model, seed=0)
    step, again = (gradients_at(task, masks, batch_of(kind)) for _ in range(2))
    places = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    losses = [float(step_at(place, step)[0]) for place in places]
    assert len(set(losses)) == len(places)
    assert step.experimental_get_tracing_count() == 1
    first, second = (step_at(places[1], f)[1] for f in (step, again))
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


def all_operations(function) -> list[str]:
    """The kinds of operation of a traced function and of those that it calls."""
    definition = function.get_concrete_function().graph.as_graph_def()
    nodes = [*definition.node]
    for called in definition.library.function:
        nodes.extend(called.node_def)
    return [node.op for node in nodes]


# Of T5, the dropout of each stack is called for what it reads and what it gives.
CALLS = {"classification": 5, "mean_pooled": 5, "summarization": 2 + 4 + 2 + 6}


def test_all_dropout_of_the_model_is_taken_over(task, kind):
    step = gradients_at(task, Masks(task.model, seed=0), batch_of(kind))
    random = [name for name in all_operations(step) if "Random" in name]
    assert random == ["StatelessRandomUniformFullIntV2"] * CALLS[kind]


def test_xla_draws_the_bits_that_are_drawn_without_it():
    model = Dropouts(0.3, 0.1)
    masks = Masks(model, seed=5)

    def run(update):
        with masks.at(update, 1, 2):
            return model(tf.ones([37, 11]), training=True)

    update = tf.constant(9)
    plain = tf.function(run, autograph=False)(update)
    compiled = tf.function(run, autograph=False, jit_compile=True)(update)
    for one, other in zip(plain, compiled, strict=True):
        assert 0 < np.count_nonzero(one) < one.shape.num_elements()
        np.testing.assert_array_equal(one, other)


def test_gradient_passes_where_a_value_was_kept():
    model = Dropouts(0.3)
    masks = Masks(model, seed=0)
    values = tf.random.stateless_normal([999], [0, 0])
    with tf.GradientTape() as tape, masks.at(*PLACE):
        tape.watch(values)
        kept = model(values, training=True)[0]
    gradient = tape.gradient(kept, values)
    np.testing.assert_allclose(kept, values * gradient, rtol=1e-6)
    assert set(np.unique(gradient)) == {0.0, np.float32(65536 / (65536 - 19661))}


def test_model_in_training_gives_the_export_and_the_answers_it_gave(task, tmp_path):
    text = tf.constant(["my card is late", "the fee"])
    before = {name: part.numpy() for name, part in task.answer(text).items()}
    variables = [variable.name for variable in task.model.variables]
    masks = Masks(task.model, seed=0)
    with masks.at(*PLACE):
        after = task.answer(text)
    for name, part in before.items():
        np.testing.assert_array_equal(after[name], part)
    export.save(task, str(tmp_path / "served"))
    served = tf.saved_model.load(str(tmp_path / "served"))
    answers = served.signatures["serving_default"](text)
    assert set(answers) == set(before)
    for name, part in before.items():
        if part.dtype == object:
            np.testing.assert_array_equal(answers[name], part)
        else:
            np.testing.assert_allclose(answers[name], part, atol=1e-5)
    task.save_pretrained(str(tmp_path / "saved"))
    assert [variable.name for variable in task.model.variables] == variables


TWO_REPLICAS = """
import json
import tensorflow as tf
import tf_keras
from trainer_module.loop.dropout import Masks

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0],
    [tf.config.LogicalDeviceConfiguration()] * 2,
)

def masks_of(strategy):
    with strategy.scope():
        model = tf_keras.Sequential([tf_keras.layers.Dropout(0.5)])
        model(tf.ones([1, 64]))
    masks = Masks(model, seed=0)

    def run(update, replica):
        with masks.at(update, 0, replica):
            return model(tf.ones([1, 64]), training=True)

    return run

two = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
run_mirrored = masks_of(two)

@tf.function
def step(update):
    def of_replica(update):
        context = tf.distribute.get_replica_context()
        inner = tf.function(run_mirrored, jit_compile=True)
        return inner(update, context.replica_id_in_sync_group)
    return two.run(of_replica, args=(update,))

run_alone = masks_of(tf.distribute.get_strategy())
print(json.dumps({
    "mirrored": [t.numpy().tolist() for t in step(tf.constant(5)).values],
    "alone": [run_alone(5, replica).numpy().tolist() for replica in (0, 1)],
}))
"""


def test_replicas_have_masks_of_their_own_which_one_device_can_draw(run_alone):
    found = run_alone(TWO_REPLICAS, import_path=str(ROOT))
    assert found["mirrored"] == found["alone"]
    assert found["mirrored"][0] != found["mirrored"][1]


RESUMED = """
import json, sys
import tensorflow as tf
import tf_keras
from trainer_module.loop.dropout import Masks

first, last, weights = json.loads(sys.argv[1])
model = tf_keras.Sequential(
    [tf_keras.layers.Dense(8), tf_keras.layers.Dropout(0.5), tf_keras.layers.Dense(1)]
)
inputs = tf.random.stateless_normal([16, 4], [0, 0])
model(inputs)
for variable, number in zip(model.variables, range(9)):
    variable.assign(tf.random.stateless_normal(variable.shape, [1, number]))
if weights:
    model.set_weights([tf.constant(weight) for weight in weights])
masks = Masks(model, seed=3)

@tf.function
def step(update):
    with tf.GradientTape() as tape, masks.at(update, 0, 0):
        loss = tf.reduce_sum(model(inputs, training=True) ** 2)
    gradients = tape.gradient(loss, model.trainable_variables)
    for variable, gradient in zip(model.trainable_variables, gradients):
        variable.assign_sub(0.001 * gradient)

for update in range(first, last):
    step(tf.constant(update))
print(json.dumps([weight.tolist() for weight in model.get_weights()]))
"""


def test_training_resumed_in_another_process_ends_in_the_same_weights(run_alone):
    def train(first, last, weights=None):
        place = json.dumps([first, last, weights])
        return run_alone(RESUMED, place, import_path=str(ROOT))

    assert train(3, 6, train(0, 3)) == train(0, 6)
