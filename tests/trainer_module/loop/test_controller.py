"""The outer loop, driven by a fake trainer of numbers and a fake clock."""

import copy
import dataclasses
import json
import math

import pytest

from trainer_module.loop.best import Best
from trainer_module.loop.controller import Controller, Progress, TrainingDiverged
from trainer_module.loop.evaluator import Validation
from trainer_module.loop.stopping import Stopped
from trainer_module.settings import EarlyStopping, KeepBest


@dataclasses.dataclass
class Window:
    next_batch: int
    sums: tuple[float, float]
    rows: list[int] = dataclasses.field(default_factory=lambda: [0, 1])
    examples: int = 2
    real_tokens: int = 8
    padded_tokens: int = 10
    waiting_seconds: float = 0.25


@dataclasses.dataclass
class Report:
    loss_sum: float
    weight_sum: float
    gradient_norm: float = 1.0
    learning_rate: float = 0.5
    loss_scale: float = 1.0
    stop: bool = False


class Fake:
    """Scripted epochs of (loss_sum, weight_sum); each update takes a second.

    `weights` is what a model would be: it depends on each update and on their order.
    """

    def __init__(
        self, *epochs, validation=(0.5, 0.25, 0.125), keep=None, stopping=None
    ):
        self.epochs, self.validation = epochs, validation
        self.keep = keep or KeepBest()
        self.early_stopping = stopping
        self.now, self.weights = 0.0, 1.0
        self.saved, self.best, self.told, self.waited = [], [], [], []
        self.told_before_saving = []
        self.stop_at, self.due_at, self.gradient_norm = None, set(), 1.0
        self.progress = Progress(best=Best(self.keep, self.early_stopping))

    # --- what the controller is given ---

    def windows(self, epoch, first):
        for n, sums in enumerate(self.epochs[epoch][first:], start=first + 1):
            yield Window(n, sums, rows=[10 * epoch + n, 99])

    def update(self, window, *, stop):
        self.now += 1.0
        self.weights = self.weights * 1.25 + window.sums[0]
        report = Report(*window.sums, gradient_norm=self.gradient_norm, stop=stop)
        return lambda: report

    def validate(self):
        value = self.validation[self.progress.epoch]
        return Validation({"loss": value, "accuracy": value})

    def due(self):
        return self.progress.update in self.due_at

    def save(self, facts, *, update, wait=False):
        self.saved.append((update, self.weights, json.dumps(facts)))
        self.waited.append(wait)

    def save_best(self, facts, *, update):
        self.best.append((update, self.weights))

    def names(self, rows):
        return [f"row-{n}" for n in rows]

    def updated(self, update):
        self.told.append(update)

    def saving(self):
        self.told_before_saving.append(len(self.saved))

    def validated(self, epoch):
        self.told.append(epoch)

    def controller(self, **changes):
        return Controller(
            **{
                "progress": self.progress,
                "epochs": len(self.epochs),
                "updates": sum(map(len, self.epochs)),
                "windows": self.windows,
                "update": self.update,
                "validate": self.validate,
                "metric": self.keep.metric,
                "keeper": self,
                "names": self.names,
                "listeners": [self],
                "stopping": lambda: self.progress.update == self.stop_at,
                "clock": lambda: self.now,
                **changes,
            }
        )

    def run(self, **changes):
        self.controller(**changes).run()
        return self


EPOCHS = ([(10.0, 5.0), (2.0, 1.0)], [(3.0, 6.0), (1.0, 2.0)], [(1.0, 4.0)])


def test_history_weighs_each_update_by_its_labels():
    history = Fake(*EPOCHS[:2]).run().progress.history
    assert [epoch["loss"] for epoch in history] == [2.0, 0.5]
    assert [epoch["validation_loss"] for epoch in history] == [0.5, 0.25]
    assert [epoch["updates"] for epoch in history] == [2, 4]
    assert [epoch["seconds"] for epoch in history] == [2.0, 2.0]
    assert [epoch["best"] for epoch in history] == [True, True]


def test_history_tells_padding_waiting_and_speed():
    (epoch,) = Fake(EPOCHS[0]).run().progress.history
    assert epoch["padding_share"] == pytest.approx(0.2)
    assert epoch["input_wait_share"] == 0.25
    assert epoch["examples_per_second"] == 2.0


def test_epoch_of_padding_only_has_loss_zero():
    assert Fake([(0.0, 0.0)]).run().progress.history[0]["loss"] == 0.0


def test_each_update_is_told_in_order_with_its_own_numbers():
    told = Fake(*EPOCHS[:2]).run().told
    updates = [event for event in told if hasattr(event, "loss_scale")]
    assert [(u.number, u.epoch, u.loss) for u in updates] == [
        *((1, 1, 2.0), (2, 1, 2.0)),
        *((3, 2, 0.5), (4, 2, 0.5)),
    ]
    first = updates[0]
    assert (first.updates, first.learning_rate, first.examples) == (4, 0.5, 2)
    assert (first.real_tokens, first.padded_tokens) == (8, 10)
    assert [type(e).__name__ for e in told[:3]] == ["Update", "Update", "Epoch"]


def test_saves_before_each_validation_and_when_it_is_due():
    fake = Fake(*EPOCHS)
    fake.due_at = {1}
    fake.run()
    assert [update for update, *_ in fake.saved] == [1, 2, 4, 5]
    facts = [json.loads(facts) for *_, facts in fake.saved]
    assert [(f["epoch"], f["batch"]) for f in facts] == [(0, 1), (0, 2), (1, 2), (2, 1)]
    assert facts[1]["history"] == []


def test_listeners_hear_of_each_checkpoint_before_it_is_saved():
    fake = Fake(*EPOCHS).run()
    assert fake.told_before_saving == list(range(len(fake.saved)))


def test_failing_validation_leaves_the_epoch_saved():
    def failing():
        raise RuntimeError("out of memory")

    fake = Fake(*EPOCHS)
    with pytest.raises(RuntimeError):
        fake.run(validate=failing)
    assert [update for update, *_ in fake.saved] == [2]


def test_best_weights_are_those_of_the_best_epoch():
    fake = Fake(*EPOCHS, validation=(0.5, 0.2, 0.3)).run()
    assert [update for update, _ in fake.best] == [2, 4]
    assert [e["best"] for e in fake.progress.history] == [True, True, False]


def test_metric_that_is_better_when_higher_is_followed_upwards():
    keep = KeepBest(metric="accuracy", direction="max")
    fake = Fake(*EPOCHS, validation=(0.5, 0.2, 0.6), keep=keep).run()
    assert [update for update, _ in fake.best] == [2, 5]


def test_training_ends_early_when_no_better_epoch_comes():
    stopping = EarlyStopping(patience_epochs=1)
    fake = Fake(*EPOCHS, validation=(0.2, 0.5, 0.1), stopping=stopping).run()
    assert len(fake.progress.history) == 2
    assert [update for update, _ in fake.best] == [2]


@pytest.mark.parametrize("at", range(5))
def test_resumed_from_any_checkpoint_it_ends_as_if_uninterrupted(at):
    through = Fake(*EPOCHS)
    through.due_at = set(range(1, 6))
    through.run()
    position = [i for i, (update, *_) in enumerate(through.saved) if update == at + 1][
        0
    ]
    _, weights, facts = through.saved[position]
    again = Fake(*EPOCHS)
    again.weights = weights
    again.progress.restore(json.loads(facts))
    again.run()
    assert again.weights == through.weights
    drop = {"seconds", "input_wait_share", "examples_per_second"}
    for one, other in zip(
        again.progress.history, through.progress.history, strict=True
    ):
        assert {k: v for k, v in one.items() if k not in drop} == {
            k: v for k, v in other.items() if k not in drop
        }
    assert again.best[-1] == through.best[-1]


@pytest.mark.parametrize("at, update", [(0, 1), (1, 2), (2, 3), (4, 5)])
def test_asked_to_end_it_saves_all_updates_it_made_and_says_where(at, update):
    fake = Fake(*EPOCHS)
    fake.stop_at = at
    with pytest.raises(Stopped) as stopped:
        fake.run()
    made, weights, facts = fake.saved[-1]
    assert f"Asked to end. Update {made} of " in str(stopped.value)
    assert weights == fake.weights and made == fake.progress.update
    assert made in (update, update + 1)  # The next one may be on its way.
    assert fake.waited[-1] is True
    again = Fake(*EPOCHS)
    again.weights = weights
    again.progress.restore(json.loads(facts))
    assert again.run().weights == Fake(*EPOCHS).run().weights


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_loss_that_is_not_finite_names_the_update_and_its_examples(bad):
    fake = Fake([(1.0, 1.0), (bad, 1.0), (1.0, 1.0)])
    fake.due_at = {1}
    message = (
        "loss was not finite at update 2 of 3 .epoch 1., whose examples are "
        "row-2, row-99[.].*learning_rate.*0.5.*precision=float32"
    )
    with pytest.raises(TrainingDiverged, match=message):
        fake.run()
    assert [update for update, *_ in fake.saved] == [1]  # From before it.


def test_gradient_that_is_not_finite_ends_a_training_that_has_no_loss_scale():
    fake = Fake(*EPOCHS)
    fake.gradient_norm = math.inf
    with pytest.raises(TrainingDiverged, match="gradient was not finite at update 1"):
        fake.run()


def test_overflowing_gradient_is_skipped_where_the_loss_is_scaled():
    fake = Fake(*EPOCHS)
    fake.gradient_norm = math.inf

    def update(window, *, stop):
        report = fake.update(window, stop=stop)()
        report.loss_scale = 1024.0
        return lambda: report

    fake.run(update=update, skips_overflow=True)
    assert len(fake.progress.history) == 3


def test_many_examples_are_named_in_part():
    fake = Fake([(math.nan, 1.0)])
    windows = [Window(1, (math.nan, 1.0), rows=list(range(20)))]
    with pytest.raises(TrainingDiverged, match="row-7 and 12 more"):
        fake.run(windows=lambda epoch, first: iter(windows))


def test_facts_are_json_and_restore_everything():
    fake = Fake(*EPOCHS).run()
    facts = copy.deepcopy(fake.progress.facts())
    other = Progress(best=Best(fake.keep, None))
    other.restore(json.loads(json.dumps(facts)))
    assert other.facts() == facts
