"""The outer loop, driven by a ten-line fake trainer and a fake clock."""

import math

import pytest

from trainer_module.loop.controller import Controller, TrainingDiverged


class Fake:
    """Gives scripted sums, and a clock on which each update takes a second."""

    def __init__(self, *epochs, validation=(0.5, 0.25)):
        self._epochs, self._validation = epochs, iter(validation)
        self.now, self.events = 0.0, []

    def train_epoch(self, epoch):
        for sums in self._epochs[epoch]:
            self.now += 1.0
            yield sums

    def controller(self, **changes):
        return Controller(
            **{
                "train_epoch": self.train_epoch,
                "evaluate": lambda: next(self._validation),
                "updates_per_epoch": len(self._epochs[0]),
                "examples_per_update": 8,
                "listen": lambda kind, fields: self.events.append((kind, fields)),
                "clock": lambda: self.now,
                **changes,
            }
        )


def test_history_weighs_each_update_by_its_labels():
    fake = Fake([(10.0, 5.0), (2.0, 1.0)], [(3.0, 6.0), (0.0, 0.0)])
    assert fake.controller().run(epochs=2) == [
        {"epoch": 1, "loss": 2.0, "validation_loss": 0.5, "seconds": 2.0},
        {"epoch": 2, "loss": 0.5, "validation_loss": 0.25, "seconds": 2.0},
    ]


def test_epoch_of_padding_only_has_loss_zero():
    fake = Fake([(0.0, 0.0)])
    assert fake.controller().run(epochs=1)[0]["loss"] == 0.0


def test_events_tell_steps_speed_and_time_left():
    fake = Fake([(4.0, 2.0), (2.0, 2.0)], [(1.0, 2.0), (1.0, 2.0)])
    fake.controller().run(epochs=2)
    assert [kind for kind, _ in fake.events] == [
        *("step", "epoch"),
        *("step", "step", "epoch"),
    ]
    assert fake.events[0][1] == {
        "step": 2,
        "steps": 4,
        "epoch": 1,
        "epochs": 2,
        "loss": 1.5,
        "examples_per_second": 8.0,
        "seconds_left": 2.0,
    }
    assert fake.events[1][1] == {
        "epoch": 1,
        "epochs": 2,
        "loss": 1.5,
        "validation_loss": 0.5,
        "seconds": 2.0,
    }
    assert fake.events[2][1]["step"] == 3
    assert fake.events[2][1]["loss"] == 0.5  # Of this epoch alone.


def test_steps_are_told_only_so_often():
    fake = Fake([(1.0, 1.0)] * 10)
    fake.controller(seconds_between_steps=4.0).run(epochs=1)
    steps = [fields for kind, fields in fake.events if kind == "step"]
    assert [s["step"] for s in steps] == [4, 8]
    assert [s["examples_per_second"] for s in steps] == [8.0, 8.0]


@pytest.mark.parametrize("loss", [math.nan, math.inf, -math.inf])
def test_loss_that_is_not_finite_stops_at_once_and_names_update_and_epoch(loss):
    fake = Fake([(1.0, 1.0)] * 3, [(1.0, 1.0), (loss, 1.0), (1.0, 1.0)])
    with pytest.raises(TrainingDiverged, match=f"became {loss} at update 2 of epoch 2"):
        fake.controller().run(epochs=2)
    assert fake.now == 5.0  # The third update never ran.
    assert [kind for kind, _ in fake.events].count("epoch") == 1


def test_first_update_which_compiles_does_not_count():
    fake = Fake([(1.0, 1.0)] * 5)
    seconds = iter([10.0, 1.0, 1.0, 1.0, 1.0])

    def train_epoch(epoch):
        for _ in range(5):
            fake.now += next(seconds)
            yield 1.0, 1.0

    fake.controller(train_epoch=train_epoch).run(epochs=1)
    steps = [fields for kind, fields in fake.events if kind == "step"]
    assert [s["seconds_left"] for s in steps] == [3.0, 2.0, 1.0, 0.0]
    assert [s["examples_per_second"] for s in steps] == [8.0, 8.0, 8.0, 8.0]


def test_speed_is_of_the_last_half_minute_and_time_left_of_the_whole_training():
    fake = Fake([(1.0, 1.0)] * 101)

    def train_epoch(epoch):
        for step in range(101):
            fake.now += 1.0 if step <= 50 else 2.0
            yield 1.0, 1.0

    fake.controller(train_epoch=train_epoch).run(epochs=2)
    steps = [fields for kind, fields in fake.events if kind == "step"]
    assert (steps[49]["step"], steps[99]["step"]) == (51, 101)
    assert steps[49]["examples_per_second"] == 8.0
    assert steps[99]["examples_per_second"] == 4.0
    assert steps[99]["seconds_left"] == 101 * (50 + 100) / 100


def test_time_left_counts_the_validation_of_the_epochs_so_far():
    fake = Fake([(1.0, 1.0)] * 2, [(1.0, 1.0)] * 2, [(1.0, 1.0)] * 2)

    def evaluate():
        fake.now += 4.0
        return 0.5

    fake.controller(evaluate=evaluate).run(epochs=3)
    steps = [fields for kind, fields in fake.events if kind == "step"]
    assert steps[2]["step"] == 4
    assert steps[2]["seconds_left"] == 2 * (1 + 4 + 2) / 3
