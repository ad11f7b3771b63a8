"""Which epoch is kept, and when a training gives up."""

import json
import math

import pytest

from trainer_module.loop.best import Best
from trainer_module.settings import EarlyStopping, KeepBest

ROUGE = KeepBest(metric="rouge_l", direction="max")
LOSS = KeepBest(metric="loss", direction="min")


def follow(best: Best, *values: float) -> list[bool]:
    return [best.offer(value, epoch=n) for n, value in enumerate(values, start=1)]


def test_metric_that_rises_then_falls_is_best_at_its_top():
    best = Best(ROUGE, None)
    assert follow(best, 0.1, 0.3, 0.2, 0.25) == [True, True, False, False]
    assert (best.value, best.epoch) == (0.3, 2)


def test_loss_that_falls_then_rises_is_best_at_its_bottom():
    best = Best(LOSS, None)
    assert follow(best, 0.9, 0.4, 0.5) == [True, True, False]
    assert (best.value, best.epoch) == (0.4, 2)


def test_equal_value_leaves_the_earlier_epoch_the_best():
    best = Best(ROUGE, None)
    assert follow(best, 0.5, 0.5) == [True, False]
    assert best.epoch == 1


@pytest.mark.parametrize("keep", [ROUGE, LOSS], ids=["max", "min"])
def test_nan_is_never_the_best(keep):
    best = Best(keep, None)
    assert follow(best, math.nan, 0.5, math.nan) == [False, True, False]
    assert (best.value, best.epoch) == (0.5, 2)


def test_without_early_stopping_nothing_is_exhausted():
    best = Best(LOSS, None)
    follow(best, *range(100))
    assert not best.exhausted


def test_patience_counts_epochs_in_a_row_without_a_change_for_the_better():
    best = Best(ROUGE, EarlyStopping(patience_epochs=2))
    exhausted = []
    for epoch, value in enumerate([0.1, 0.1, 0.2, 0.2, 0.1], start=1):
        best.offer(value, epoch=epoch)
        exhausted.append(best.exhausted)
    assert exhausted == [False, False, False, False, True]


def test_change_smaller_than_asked_for_is_best_but_does_not_buy_patience():
    best = Best(ROUGE, EarlyStopping(patience_epochs=2, min_change=0.1))
    assert follow(best, 0.5, 0.55, 0.59) == [True, True, True]
    assert best.exhausted and best.value == 0.59


def test_small_changes_that_add_up_buy_patience():
    best = Best(ROUGE, EarlyStopping(patience_epochs=2, min_change=0.1))
    follow(best, 0.5, 0.58, 0.65)
    assert not best.exhausted


def test_restored_from_json_it_goes_on_as_if_nothing_had_happened():
    through, first = (Best(LOSS, EarlyStopping(patience_epochs=2)) for _ in range(2))
    values = [0.5, 0.6, 0.4, 0.7, math.nan]
    follow(through, *values)
    follow(first, *values[:3])
    second = Best(LOSS, EarlyStopping(patience_epochs=2))
    second.restore(json.loads(json.dumps(first.facts())))
    for epoch, value in enumerate(values[3:], start=4):
        second.offer(value, epoch=epoch)
    assert second.facts() == through.facts()
    assert second.exhausted
