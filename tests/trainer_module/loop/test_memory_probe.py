"""Measurements of real memory, and what is concluded from them."""

import pathlib
import time

import numpy as np
import pytest
import tensorflow as tf

from trainer_module.loop import free_memory, memory, memory_probe
from trainer_module.loop.memory import Batch, Shape
from trainer_module.progress import Refusal
from trainer_module.settings import TrainSettings

pytestmark = pytest.mark.slow

ROOT = pathlib.Path(__file__).parents[3]
MB = 2**20
SMALL = Shape(8, 32, 2, 1, 0, 0, 1000)
HUGE = Shape(2**20, 2**22, 16, 100, 0, 0, 1000)


def batch_of(rows, widths=(96,)):
    return Batch(rows, widths, TrainSettings(batch_size=rows))


@pytest.fixture
def blocks():
    """A step that takes 20 MB a row, and the (rows, widths) it was called with."""
    calls = []

    def run(rows, widths):
        calls.append((rows, widths))
        np.ones([rows, 20 * MB], np.uint8)

    run.calls = calls
    return run


def test_probe_takes_ever_more_rows_until_they_outweigh_the_rest(blocks):
    points = memory_probe.measure(blocks, batch_of(512), limit_bytes=2**40).points
    assert [rows for rows, _ in points] == [1, 2, 4, 8, 16, 32]
    assert blocks.calls == [(rows, (96,)) for rows in (1, 1, 2, 4, 8, 16, 32)]
    assert memory.fit(points).at(512) == pytest.approx(512 * 20 * MB, rel=0.05)


def test_probe_takes_no_more_rows_than_the_batch(blocks):
    points = memory_probe.measure(blocks, batch_of(6), limit_bytes=2**40).points
    assert [rows for rows, _ in points] == [1, 2, 4, 6]


def test_probe_ends_before_more_rows_might_not_fit(blocks):
    points = memory_probe.measure(blocks, batch_of(512), limit_bytes=300 * MB).points
    assert [rows for rows, _ in points] == [1, 2, 4, 8]


def test_peak_is_sampled_where_the_kernel_keeps_no_high_water_mark():
    found = [0]
    before = memory_probe._status_bytes("VmRSS")
    with memory_probe._sampled(found):
        block = np.ones(200 * MB, np.uint8)
        time.sleep(0.1)
        del block
    assert found[0] - before == pytest.approx(200 * MB, rel=0.05)


def test_model_whose_shape_bounds_its_memory_is_not_measured(blocks):
    batch = batch_of(2)
    told = memory_probe.check(blocks, batch, SMALL, on_cpu=True)
    assert blocks.calls == []
    assert told.startswith(
        "Memory: a batch of 2 rows of 96 tokens needs less than 0.3 GB by the shape of "
        "the model; "
    )


def test_batch_that_fits_is_measured_where_its_shape_does_not_tell(blocks):
    told = memory_probe.check(blocks, batch_of(40), HUGE, on_cpu=True)
    assert "needs about 0.8 GB, as measured with up to 32 rows; " in told


def test_batch_too_large_for_this_machine_is_refused_with_one_that_fits(blocks):
    rows = 65536  # More than a terabyte.
    with pytest.raises(Refusal) as refused:
        memory_probe.check(blocks, batch_of(rows), HUGE, on_cpu=True)
    message = str(refused.value)
    free = free_memory.read().bytes_free
    fits = int(message.split("about ")[2].split()[0])
    assert fits == pytest.approx(free / (20 * MB * memory.MARGIN), rel=0.15)
    assert max(rows for rows, _ in blocks.calls) == 32


def test_memory_of_the_update_is_counted_too(blocks):
    free = free_memory.read().bytes_free
    with pytest.raises(Refusal, match="Not even one row fits"):
        memory_probe.check(blocks, batch_of(4), SMALL, on_cpu=True, update_bytes=free)


@pytest.fixture
def pool():
    """A step that takes 20 MB a row, of a pool that keeps what it has."""
    blocks = []

    def run(rows, widths):
        blocks.extend(np.ones(20 * MB, np.uint8) for _ in range(rows - len(blocks)))

    return run


def test_memory_that_the_allocator_keeps_is_free_for_the_batch(pool, monkeypatch):
    before = memory_probe._status_bytes("VmRSS")

    def read():
        used = memory_probe._status_bytes("VmRSS") - before
        return free_memory.Free(2048 * MB - used, "this container")

    monkeypatch.setattr(free_memory, "read", read)
    told = memory_probe.check(pool, batch_of(64), HUGE, on_cpu=True)
    assert told.endswith(
        "as measured with up to 32 rows; 2.1 GB of this container are free."
    )


@pytest.fixture
def device():
    """A step on a device that has memory for 100 rows."""
    calls = []

    def run(rows, widths):
        calls.append(rows)
        if rows > 100:
            raise tf.errors.ResourceExhaustedError(
                None, None, f"Graph execution error:\nOOM when allocating [{rows},96]"
            )

    run.calls = calls
    return run


def test_batch_that_fits_on_a_device_is_tried_once(device):
    told = memory_probe.check(device, batch_of(100), HUGE, on_cpu=False)
    assert told == "Memory: a batch of 100 rows of 96 tokens was tried, and fits."
    assert device.calls == [100]


def test_batch_too_large_for_a_device_is_refused_with_one_that_was_tried(device):
    with pytest.raises(Refusal) as refused:
        memory_probe.check(device, batch_of(301), HUGE, on_cpu=False)
    assert device.calls == [301, 151, 76]
    assert str(refused.value) == (
        "train.batch_size: a batch of 301 rows of 96 tokens did not fit in the "
        "device's memory (OOM when allocating [301,96]). The largest that fits has at "
        "least 76 rows. Take smaller batches: --set train.batch_size=76; with --set "
        "train.accumulate_batches=4 an update stays as large as it was. Or a budget: "
        "--set train.max_batch_tokens=7296."
    )


def test_row_too_large_for_a_device_is_to_be_cut(device):
    def run(rows, widths):
        device(rows + 100, widths)

    with pytest.raises(Refusal, match="Not even one row fits.*max_source_tokens=48"):
        memory_probe.check(run, batch_of(3), HUGE, on_cpu=False)
    assert device.calls == [103, 102, 101]


@pytest.fixture(scope="module")
def t5_dir(tmp_path_factory, sentences) -> str:
    from trainer_module.create_checkpoint import create
    from trainer_module.settings import CreateCheckpoint

    path = str(tmp_path_factory.mktemp("t5") / "checkpoint")
    create(sentences, CreateCheckpoint(vocabulary_size=200, layers=4, width=256), path)
    return path


@pytest.mark.parametrize("one_dnn", [False, True])
@pytest.mark.parametrize(
    "kind, rows, widths",
    [("classification", 40, (128,)), ("summarization", 64, (128, 32))],
)
def test_large_batch_takes_what_small_ones_predict_and_less_than_the_bound(
    kind, rows, widths, one_dnn, minilm_dir, t5_dir, label_names_path, run_alone
):
    path = minilm_dir if kind == "classification" else t5_dir
    code = (ROOT / "tests/trainer_module/loop/memory_of_steps.py").read_text("utf-8")
    arguments = [kind, path, label_names_path, str(rows), *map(str, widths)]
    found = run_alone(
        code,
        *arguments,
        import_path=str(ROOT),
        # It allocates from a pool of its own, which grows and never shrinks; without
        # it TensorFlow uses it or not, by the processor.
        TF_ENABLE_ONEDNN_OPTS=str(int(one_dnn)),
    )
    assert found["points"][-1][0] < rows
    assert (found["kept"] > 256 * MB) == one_dnn
    assert found["predicted"] == pytest.approx(found["measured"], rel=0.25)
    assert found["measured"] < found["bound"] < 4 * found["measured"] + 256 * MB
    assert found["same_weights"] is True
