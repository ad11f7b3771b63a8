"""What the terminal hears: the loss of the epoch, the speed, and the time left."""

from trainer_module.loop.events import Epoch, Update
from trainer_module.loop.telling import Telling


class Loop:
    """Makes events, on a clock that each update moves by some seconds."""

    def __init__(self, *, updates, epochs=1, before=0, **options):
        self.now, self.events = 0.0, []
        self._number, self._updates = before, updates
        self.telling = Telling(
            lambda kind, fields: self.events.append((kind, fields)),
            epochs=epochs,
            updates_before=before,
            clock=lambda: self.now,
            **options,
        )

    def update(self, *, seconds=1.0, epoch=1, loss=1.0, examples=8):
        self.now += seconds
        self._number += 1
        self.telling.updated(
            Update(
                number=self._number,
                updates=self._updates,
                epoch=epoch,
                loss=loss,
                learning_rate=0.1,
                gradient_norm=1.0,
                loss_scale=1.0,
                examples=examples,
                real_tokens=80,
                padded_tokens=100,
                seconds=seconds,
                waiting_seconds=0.0,
            )
        )

    @property
    def steps(self):
        return [fields for kind, fields in self.events if kind == "step"]


def test_step_tells_where_it_is_and_how_long_it_will_take():
    loop = Loop(updates=4, epochs=2)
    loop.update(loss=2.0)
    loop.update(loss=1.0)
    assert loop.events == [
        (
            "step",
            {
                "step": 2,
                "steps": 4,
                "epoch": 1,
                "epochs": 2,
                "loss": 1.5,
                "examples_per_second": 8.0,
                "seconds_left": 2.0,
            },
        )
    ]


def test_loss_is_that_of_the_epoch_alone():
    loop = Loop(updates=4, epochs=2)
    loop.update(loss=9.0)
    loop.update(loss=9.0)
    loop.update(loss=1.0, epoch=2)
    assert loop.steps[-1]["loss"] == 1.0


def test_steps_are_told_only_so_often():
    loop = Loop(updates=10, seconds_between_steps=4.0)
    for _ in range(10):
        loop.update()
    assert [step["step"] for step in loop.steps] == [4, 8]


def test_first_update_which_compiles_has_no_part_in_speed_and_time_left():
    loop = Loop(updates=10)
    loop.update(seconds=60.0)
    loop.update()
    loop.update()
    assert loop.steps[-1]["examples_per_second"] == 8.0
    assert loop.steps[-1]["seconds_left"] == 7.0


def test_speed_counts_examples_of_batches_that_differ_in_size():
    loop = Loop(updates=10)
    for examples in (8, 30, 10):
        loop.update(examples=examples)
    assert loop.steps[-1]["examples_per_second"] == 20.0


def test_speed_is_that_of_the_last_half_minute():
    loop = Loop(updates=200)
    for _ in range(50):
        loop.update(seconds=0.5)
    for _ in range(40):
        loop.update(seconds=2.0)
    assert loop.steps[-1]["examples_per_second"] == 4.0


def test_time_left_counts_the_validations_so_far():
    loop = Loop(updates=6, epochs=3)
    loop.update()
    loop.update()
    loop.now += 4.0  # The validation.
    loop.update(epoch=2)
    assert loop.steps[-1]["seconds_left"] == 3 * (1 + 4 + 1) / 2


def test_training_that_goes_on_measures_its_own_process_alone():
    loop = Loop(updates=100, before=50)
    for _ in range(3):
        loop.update(seconds=2.0)
    assert loop.steps[-1]["step"] == 53
    assert loop.steps[-1]["examples_per_second"] == 4.0
    assert loop.steps[-1]["seconds_left"] == 47 * 2.0


def test_epoch_is_told_with_its_validation():
    loop = Loop(updates=4, epochs=2)
    metrics = {"loss": 0.5, "accuracy": 0.75}
    loop.telling.validated(
        Epoch(
            number=1,
            epochs=2,
            updates=2,
            loss=0.25,
            metrics=metrics,
            best=True,
            seconds=3.0,
        )
    )
    assert loop.events == [
        (
            "epoch",
            {
                "epoch": 1,
                "epochs": 2,
                "loss": 0.25,
                "validation_loss": 0.5,
                "metrics": metrics,
                "best": True,
                "seconds": 3.0,
            },
        )
    ]
