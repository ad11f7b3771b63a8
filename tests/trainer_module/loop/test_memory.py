"""From measurements to a verdict, and the words of a refusal."""

import re
import types

import pytest

from trainer_module.loop import memory
from trainer_module.loop.free_memory import Free
from trainer_module.loop.memory import Batch, Line, Shape
from trainer_module.progress import Refusal
from trainer_module.settings import TrainSettings

GB, MB = 10**9, 10**6
FREE = Free(18 * GB, "this machine")


def batch_of(rows=512, widths=(96,), replicas=1, **train):
    train = {"batch_size": rows * replicas, **train}
    return Batch(rows, widths, TrainSettings(**train), replicas)


def test_line_goes_through_exact_points():
    line = memory.fit([(4, 140), (8, 180), (16, 260)])
    assert (line.fixed, line.per_row) == (pytest.approx(100), pytest.approx(10))
    assert line.at(512) == 5220


def test_few_rows_whose_peak_is_elsewhere_do_not_flatten_the_line():
    assert (
        memory.fit([(1, 900), (2, 900), (4, 140), (8, 180), (16, 260)]).at(512) == 5220
    )


def test_one_number_of_rows_gives_the_line_through_zero():
    assert memory.fit([(4, 200)]) == Line(0.0, 50.0)


@pytest.mark.parametrize("points", [[(4, 200), (8, 100)], [(4, 0)], [(1, 0), (2, 0)]])
def test_noise_gives_no_falling_line(points):
    line = memory.fit(points)
    assert line.per_row == 1.0 and line.fixed >= 0


def test_line_below_zero_rows_is_taken_from_zero():
    assert memory.fit([(4, 10), (8, 50)]) == Line(0.0, 10.0)


def test_rows_within_a_limit_are_the_most_that_need_no_more():
    line = Line(100.0, 10.0)
    assert line.rows_within(150.0) == 5 and line.at(5) == 150
    assert line.rows_within(149.0) == 4
    assert line.rows_within(99.0) == 0


@pytest.mark.parametrize("spare, fits", [(0, True), (-1, False)])
def test_batch_fits_with_a_margin_of_a_quarter(spare, fits):
    line, free = Line(0.0, 8 * MB), Free(10 * MB * 100 + spare, "this machine")
    if fits:
        memory.check(batch_of(100), line, free)
        return
    with pytest.raises(Refusal, match="The largest that fits has about 99 rows"):
        memory.check(batch_of(100), line, free)


def test_refusal_tells_need_and_settings_that_fit():
    with pytest.raises(Refusal) as refused:
        memory.check(batch_of(accumulate_batches=3), Line(0.4 * GB, 50 * MB), FREE)
    assert str(refused.value) == (
        "train.batch_size: a batch of 512 rows of 96 tokens needs about 32.5 GB, with "
        "a margin of a quarter, and 18.0 GB of this machine are free. The largest that "
        "fits has about 280 rows. Take smaller batches: --set train.batch_size=256; "
        "with --set train.accumulate_batches=6 an update stays as large as it was. Or "
        "a budget: --set train.max_batch_tokens=24576."
    )


def settings_in(message: str) -> dict[str, int]:
    return {k: int(v) for k, v in re.findall(r"--set train\.(\w+)=(\d+)", message)}


@pytest.mark.parametrize("replicas", [1, 2, 3])
@pytest.mark.parametrize("fits", [1, 7, 99, 100, 280, 511])
def test_settings_of_a_refusal_are_allowed_and_fit(fits, replicas):
    batch = batch_of(512, (96, 32), replicas)
    with pytest.raises(Refusal) as refused:
        memory.refuse(batch, "too large.", fits=fits)
    found = settings_in(str(refused.value))
    TrainSettings(**found)
    assert found["batch_size"] <= fits * replicas
    assert found["batch_size"] % replicas == 0
    assert found["max_batch_tokens"] <= fits * replicas * 128
    assert found["batch_size"] * found["accumulate_batches"] >= 512 * replicas


def test_more_batches_than_can_be_accumulated_are_not_advised():
    with pytest.raises(Refusal) as refused:
        memory.refuse(batch_of(accumulate_batches=4096), "too large.", fits=256)
    assert "accumulate_batches" not in settings_in(str(refused.value))


def test_budget_of_tokens_that_is_too_large_is_what_gets_smaller():
    batch = batch_of(64, (128, 32), 2, batch_size=512, max_batch_tokens=20480)
    with pytest.raises(Refusal) as refused:
        memory.refuse(batch, "too large.", fits=40)
    message = str(refused.value)
    assert message.startswith("train.max_batch_tokens: too large.")
    assert "The largest that fits has 40 rows on each device." in message
    found = {"max_batch_tokens": 32 * 2 * 160, "accumulate_batches": 2}
    assert settings_in(message) == found


@pytest.mark.parametrize(
    "widths, setting",
    [
        ((512,), "model.max_source_tokens=256"),
        ((64, 512), "model.max_target_tokens=256"),
    ],
    ids=["source", "target"],
)
def test_row_that_does_not_fit_alone_is_to_be_cut(widths, setting):
    with pytest.raises(Refusal, match="Not even one row fits") as refused:
        memory.check(batch_of(4, widths), Line(20 * GB, GB), FREE)
    assert f"--set {setting};" in str(refused.value)
    assert "largest" not in str(refused.value)


def test_exhausted_device_is_told_with_half_the_batch():
    error = RuntimeError(
        "Graph execution error:\n\nDetected at node gradients defined at\n"
        "OOM when allocating tensor with shape[512,12,96,96] on GPU_0_bfc\n"
    )
    refusal = memory.explain_exhausted(error, batch_of(65, (96, 32), replicas=2))
    assert str(refusal) == (
        "train.batch_size: a batch of 65 rows of 96 + 32 tokens on each of 2 devices "
        "did not fit in the device's memory (OOM when allocating tensor with "
        "shape[512,12,96,96] on GPU_0_bfc). Take smaller batches: --set "
        "train.batch_size=66; with --set train.accumulate_batches=2 an update stays "
        "as large as it was. Or a budget: --set train.max_batch_tokens=8448."
    )


def test_exhausted_device_with_one_row_says_so():
    refusal = memory.explain_exhausted(RuntimeError(), batch_of(1))
    assert "(RuntimeError). Not even one row fits" in str(refusal)


def test_shape_is_read_from_the_configurations_of_bert_and_t5():
    shared = {"hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 3}
    bert = types.SimpleNamespace(**shared, intermediate_size=32, vocab_size=100)
    t5 = types.SimpleNamespace(
        **shared, d_ff=32, is_gated_act=True, num_decoder_layers=4, vocab_size=100
    )
    assert Shape.of(bert, 50) == Shape(8, 32, 2, 3, 0, 0, 50)
    assert Shape.of(t5, 50) == Shape(8, 64, 2, 3, 4, 100, 50)


def test_bound_grows_with_rows_and_faster_than_the_width():
    shape = Shape(384, 1536, 12, 6, 0, 0, 22 * 10**6)
    none = memory.bound_bytes(shape, 0, [128])
    one, two = (memory.bound_bytes(shape, rows, [128]) - none for rows in (1, 2))
    wide = memory.bound_bytes(shape, 1, [256]) - none
    assert two == 2 * one
    assert 2 * one < wide < 4 * one
