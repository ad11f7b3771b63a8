"""Adapters: what learns, what comes out, and what is left when they are merged."""

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from tests.trainer_module.descent import Adam
from trainer_module import adapters, export
from trainer_module.adapters import lora
from trainer_module.progress import Refusal
from trainer_module.settings import Freeze, Lora, TrainSettings

# transformers makes both kernels of a gated T5 with one initializer.
GATED_T5 = pytest.mark.filterwarnings("ignore:The initializer RandomNormal is unseeded")
pytestmark = [pytest.mark.slow, GATED_T5]

KINDS = ["bert", "bert_mean", "t5", "t5_v1_1", "mt5"]
EVERY = {
    "bert": ("query", "key", "value", "dense"),
    "t5": ("q", "k", "v", "o", "wi", "wo"),
    "t5_v1_1": ("q", "k", "v", "o", "wi_0", "wi_1", "wo"),
}


def adam():
    return Adam(0.05)


def values(model) -> dict[str, np.ndarray]:
    return {variable.name: variable.numpy() for variable in model.variables}


@pytest.mark.parametrize("kind", KINDS)
def test_adapters_start_at_nothing_learn_alone_and_merge_into_a_plain_model(
    kind, task_of, update, logits_of
):
    task = task_of(kind)
    plain = [(v.name, v) for v in task.model.variables]
    before, old = logits_of(task), values(task.model)
    lora.apply(task.model, Lora(rank=2), seed=1)
    np.testing.assert_array_equal(logits_of(task), before)

    update(task, updates=3, optimizer=adam())
    new = values(task.model)
    head = ("classifier/", "pooler/")
    moved = {name for name in new if not np.array_equal(new[name], old.get(name))}
    assert moved == {v.name for v in task.model.trainable_variables}
    assert moved - set(old) == set(new) - set(old)  # Every adapter.
    assert all(any(part in name for part in head) for name in moved & set(old))

    adapted = logits_of(task)
    assert np.abs(adapted - before).max() > 0.01
    adapters.finish(task.model)
    np.testing.assert_allclose(logits_of(task), adapted, atol=1e-5)
    merged = [(v.name, v) for v in task.model.variables]
    assert [name for name, _ in merged] == [name for name, _ in plain]
    assert all(new is old for (_, new), (_, old) in zip(merged, plain, strict=True))


@pytest.mark.parametrize("kind", ["bert", "t5", "t5_v1_1"])
def test_merged_model_is_written_as_a_plain_one(
    kind, task_of, update, logits_of, two_layers, tmp_path
):
    task = task_of(kind)
    lora.apply(task.model, Lora(rank=3, targets=EVERY[kind]), seed=1)
    update(task, updates=2, optimizer=adam())
    adapted = logits_of(task)
    lora.merge(task.model)
    export.save_hugging_face(task, two_layers[kind], str(tmp_path / "hf"))
    read, info = type(task.model).from_pretrained(
        str(tmp_path / "hf"), use_safetensors=True, output_loading_info=True
    )
    assert info["missing_keys"] == info["unexpected_keys"] == []
    np.testing.assert_allclose(logits_of(task, read), adapted, atol=1e-5)


@pytest.mark.parametrize("kind", ["classification", "summarization"])
def test_merged_model_is_served_with_the_variables_of_a_plain_one(
    kind, tiny_task, update, tmp_path
):
    task = tiny_task(kind)
    plain = len(task.model.variables)
    lora.apply(task.model, Lora(rank=3), seed=1)
    update(task, updates=2, optimizer=adam())
    lora.merge(task.model)
    export.save(task, str(tmp_path))
    served = tf.saved_model.load(str(tmp_path))
    assert len(served.variables_served) == plain
    text = tf.constant(["my card is late"])
    answer = served.signatures["serving_default"](text)
    for name, want in task.answer(text).items():
        if want.dtype == tf.string:
            np.testing.assert_array_equal(answer[name], want)
        else:
            np.testing.assert_allclose(answer[name], want, atol=1e-5)


def test_checkpoint_of_a_merged_model_holds_what_a_plain_ones_holds(task_of, tmp_path):
    def saved(model, name):
        path = tf.train.Checkpoint(model=model).save(str(tmp_path / name))
        return sorted(key for key, _ in tf.train.list_variables(path))

    task = task_of("t5")
    plain = saved(task.model, "plain")
    lora.apply(task.model, Lora(rank=2), seed=1)
    assert len(saved(task.model, "adapted")) == len(plain) + 2 * 2 * 6
    lora.merge(task.model)
    assert saved(task.model, "merged") == plain


@pytest.mark.parametrize(
    "kind, targets, shapes",
    [
        ("bert", None, [(16, 16)] * 4),
        ("bert", EVERY["bert"], [(16, 16)] * 8 + [(16, 32), (32, 16)] * 2),
        ("t5", None, [(16, 16)] * 12),
        ("t5_v1_1", ("wi_0", "wo"), [(16, 64), (64, 16)] * 4),
    ],
    ids=["bert", "bert_all", "t5", "t5_feed_forward"],
)
def test_learning_parameters_are_rank_times_both_sides_and_the_head(
    kind, targets, shapes, task_of
):
    task = task_of(kind)
    plain = adapters.describe(task.model)
    assert plain["trainable_parameters"] == plain["parameters"]
    lora.apply(task.model, Lora(rank=4, targets=targets), seed=1)
    added = sum(4 * (inputs + units) for inputs, units in shapes)
    head = 16 * 16 + 16 + 16 * 3 + 3 if kind == "bert" else 0  # Pooler, classifier.
    assert adapters.describe(task.model) == {
        "trainable_parameters": added + head,
        "parameters": plain["parameters"] + added,
    }


def test_a_is_as_the_reference_draws_it_by_seed_and_b_is_zero(task_of):
    def drawn(seed):
        model = task_of("t5").model
        lora.apply(model, Lora(rank=16), seed=seed)
        return [v.numpy() for v in model.trainable_variables]

    first, again, other = drawn(7), drawn(7), drawn(2**32 - 1)
    for one, two in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, two)
    downs = np.stack(first[::2])
    assert not np.array_equal(downs, np.stack(other[::2]))
    assert len({down.tobytes() for down in downs}) == len(downs)
    # Uniform within 1 / sqrt(16 inputs): so is its standard deviation, by sqrt(3).
    assert 0.249 < np.abs(downs).max() <= 0.25
    assert downs.std() == pytest.approx(0.25 / np.sqrt(3), rel=0.05)
    assert all(not up.any() for up in first[1::2])


@pytest.mark.parametrize(
    "kind, settings, message",
    [
        (
            "bert",
            {"rank": 17},
            r"train.lora.rank: 17 .*16 x 16.*1 to 16.*--set train.lora.rank=16",
        ),
        (
            "t5",
            {"targets": ("q", "query", "head")},
            r"train.lora.targets: .*\['head', 'query'\]. Allowed: "
            r"\['k', 'o', 'q', 'v', 'wi', 'wo'\].*--set train.lora.targets=null",
        ),
        (
            "t5_v1_1",
            {"targets": ("wi",)},
            r"Allowed: \['k', 'o', 'q', 'v', 'wi_0', 'wi_1', 'wo'\]",
        ),
        (
            "bert",
            {"targets": ("classifier",)},
            r"Allowed: \['dense', 'key', 'query', 'value'\]",
        ),
    ],
    ids=["rank", "other_models_names", "other_feed_forward", "head"],
)
def test_adapter_that_the_model_cannot_have_is_refused(
    kind, settings, message, task_of
):
    task = task_of(kind)
    names = [v.name for v in task.model.trainable_variables]
    with pytest.raises(Refusal, match=message):
        lora.apply(task.model, Lora(**settings), seed=1)
    assert [v.name for v in task.model.trainable_variables] == names


def test_frozen_layers_get_no_adapter(task_of):
    model = task_of("t5").model
    settings = TrainSettings(
        lora=Lora(rank=2), freeze=Freeze(encoder_layers=2, decoder_layers=1)
    )
    adapters.prepare(model, settings)
    names = [v.name for v in model.trainable_variables]
    assert len(names) == 2 * 4  # Two attentions, two targets of each.
    assert all("decoder/block_._1/" in name for name in names)


def test_adapters_without_a_layer_that_learns_are_refused(task_of):
    settings = TrainSettings(lora=Lora(rank=2), freeze=Freeze(encoder_layers=2))
    with pytest.raises(Refusal, match="freezes all 4 layers.*encoder_layers=0"):
        adapters.prepare(task_of("bert").model, settings)


def test_second_adapter_is_an_error_and_a_plain_model_is_left_alone(task_of):
    model = task_of("bert").model
    before = values(model)
    adapters.finish(model)
    assert values(model).keys() == before.keys()
    lora.apply(model, Lora(rank=2), seed=1)
    with pytest.raises(ValueError, match="has adapters already"):
        lora.apply(model, Lora(rank=2), seed=1)


@pytest.fixture
def policy(request):
    tf_keras.mixed_precision.set_global_policy(request.param)
    yield request.param
    tf_keras.mixed_precision.set_global_policy("float32")


@pytest.fixture
def adapted_task(task_of):
    def make(kind: str):
        tf_keras.utils.set_random_seed(0)  # Draws the classifier.
        task = task_of(kind)
        lora.apply(task.model, Lora(rank=4), seed=1)
        return task

    return make


@pytest.fixture
def losses_of_float32(adapted_task, update):
    """Gives the losses of ten updates in plain float32; leaves the policy to that."""

    def of(kind: str) -> list[float]:
        tf_keras.mixed_precision.set_global_policy("float32")
        return update(adapted_task(kind), updates=10, optimizer=Adam(0.02))

    return of


@pytest.mark.parametrize(
    "kind, policy, xla",
    [
        ("bert", "mixed_float16", False),
        ("bert_mean", "mixed_bfloat16", True),
        ("t5", "mixed_bfloat16", False),
        ("t5", "float32", True),
        ("bert", "float32", True),
    ],
    indirect=["policy"],
)
def test_adapters_learn_as_in_plain_float32_under_each_precision_and_xla(
    kind, policy, xla, adapted_task, update, logits_of, losses_of_float32
):
    task = adapted_task(kind)
    layer = next(m for m in task.model.submodules if isinstance(m, lora.Adapted))

    assert layer(tf.ones([1, 16])).dtype.name == policy.removeprefix("mixed_")
    losses = update(task, updates=10, xla=xla, optimizer=Adam(0.02))
    assert {v.dtype for v in task.model.variables} == {tf.float32}
    adapted = logits_of(task)
    lora.merge(task.model)
    tolerance = 1e-5 if policy == "float32" else 0.1
    np.testing.assert_allclose(logits_of(task), adapted, atol=tolerance, rtol=tolerance)

    plain = losses_of_float32(kind)
    assert plain[-1] < 2 / 3 * plain[0]
    close = 1e-4 if policy == "float32" else 0.01
    np.testing.assert_allclose(losses, plain, rtol=close)


@pytest.fixture(scope="module")
def replicas(
    run_alone, root, tiny_bert_dir, tiny_t5_dir, label_names_path, tmp_path_factory
):
    code = (root / "tests/trainer_module/adapters/replicas.py").read_text("utf-8")
    export_dir = str(tmp_path_factory.mktemp("mirrored") / "export")
    return run_alone(
        code,
        *(tiny_bert_dir, tiny_t5_dir, label_names_path, export_dir),
        import_path=str(root),
    )


@pytest.mark.parametrize("kind", ["bert", "t5"])
def test_adapters_on_two_replicas_are_those_of_one(kind, replicas):
    found = replicas[kind]
    assert found["variables"][0] == found["variables"][1]
    assert found["adapters"] > 0.01
    assert found["apart"] < 1e-5
    assert found["merged"] < 1e-5


def test_model_merged_on_two_replicas_is_exported_as_it_is(replicas):
    assert replicas["export"] is True
