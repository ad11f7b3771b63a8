"""Every so many minutes, by a clock that the test turns."""

import pytest

from trainer_module.checkpoints.clock import Every


class Clock:
    seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


def test_due_once_each_time_the_minutes_have_passed():
    clock = Clock()
    every = Every(0.5, clock)
    answers = []
    for seconds in (0, 29.9, 30, 31, 59, 60, 200, 229, 230):
        clock.seconds = 1000 + seconds
        answers.append(every.due())
    assert answers == [False, False, True, False, False, True, True, False, True]


def test_restart_counts_from_now():
    clock = Clock()
    every = Every(1, clock)
    clock.seconds += 50
    every.restart()
    clock.seconds += 59
    assert not every.due()
    clock.seconds += 1
    assert every.due()


@pytest.mark.parametrize("minutes", [0, -1, float("nan")])
def test_minutes_that_never_pass_are_refused(minutes):
    with pytest.raises(ValueError, match="must be above 0. Received"):
        Every(minutes)
