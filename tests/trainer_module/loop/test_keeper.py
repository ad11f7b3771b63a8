"""What of a training is kept, and that it comes back as it was."""

import numpy as np
import pytest
import tensorflow as tf

from trainer_module.checkpoints.store import Store
from trainer_module.loop import keeper
from trainer_module.loop.keeper import Keeper
from trainer_module.progress import Refusal

pytestmark = pytest.mark.slow


@pytest.fixture
def variables():
    return {
        "weights": [tf.Variable([1.0, 2.0], name="a"), tf.Variable(3.0, name="a")],
        "optimizer": [tf.Variable(7, dtype=tf.int64, name="iterations")],
        "loss_scale": [],
    }


@pytest.fixture
def store(tmp_path):
    made = Store(str(tmp_path / "training"))
    yield made
    made.close()


def test_saved_variables_come_back_with_values_and_types(variables, store):
    kept = Keeper(store, variables, due=lambda: False)
    kept.save({"epoch": 1}, update=7, wait=True)
    variables["weights"][0].assign([0.0, 0.0])
    variables["optimizer"][0].assign(0)
    saved = store.newest()
    keeper.restore(variables, saved.arrays)
    assert saved.facts == {"epoch": 1}
    assert variables["weights"][0].numpy().tolist() == [1.0, 2.0]
    assert variables["weights"][1].numpy() == 3.0
    assert variables["optimizer"][0].numpy() == 7


def test_what_is_saved_is_a_copy(variables, store):
    kept = Keeper(store, variables, due=lambda: False)
    kept.save_best({"best": {"epoch": 1}}, update=1)
    variables["weights"][0].assign([9.0, 9.0])
    (first, _) = kept.best_arrays(epoch=1).values()
    assert first.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays: arrays.pop("weights/0001/a:0"),
        lambda arrays: arrays.update({"weights/0002/b:0": np.zeros(1)}),
        lambda arrays: arrays.update({"weights/0000/a:0": np.zeros(3)}),
    ],
    ids=["missing", "unknown", "shape"],
)
def test_arrays_that_do_not_fit_are_refused_and_nothing_is_assigned(change, variables):
    arrays = keeper.arrays_of(variables)
    arrays["optimizer/0000/iterations:0"] = np.array(99)
    change(arrays)
    with pytest.raises(ValueError, match="1 arrays do not fit: weights/000"):
        keeper.restore(variables, arrays)
    assert variables["optimizer"][0].numpy() == 7


def test_best_of_an_earlier_process_is_read_from_the_disk(variables, store, tmp_path):
    Keeper(store, variables, due=lambda: False).save_best(
        {"best": {"epoch": 2}}, update=5
    )
    store.wait()
    later = Keeper(Store(str(tmp_path / "training")), variables, due=lambda: False)
    assert list(later.best_arrays(epoch=2)) == ["weights/0000/a:0", "weights/0001/a:0"]


@pytest.mark.parametrize("epoch", [None, 2], ids=["none", "another"])
def test_best_that_is_not_there_is_refused_with_its_folder(epoch, variables, store):
    kept = Keeper(store, variables, due=lambda: False)
    if epoch:
        kept.save_best({"best": {"epoch": epoch}}, update=5)
        store.wait()
    later = Keeper(store, variables, due=lambda: False)
    with pytest.raises(Refusal, match="best epoch, 3, cannot be read from .*training"):
        later.best_arrays(epoch=3)


def test_worker_that_does_not_write_writes_nothing(variables, store, tmp_path):
    kept = Keeper(store, variables, due=lambda: True, writes=False)
    kept.save({}, update=1, wait=True)
    kept.save_best({"best": {"epoch": 1}}, update=1)
    kept.finish({}, update=1)
    assert not kept.due()
    assert not (tmp_path / "training").exists()
    assert kept.best_arrays(epoch=1)
