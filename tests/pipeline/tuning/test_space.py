"""The space: what is drawn, what is refused, and what can be typed."""

import math
import shlex

import pytest

from pipeline.cli import texttune
from pipeline.config import ConfigError, load
from pipeline.tuning import space as spaces
from pipeline.tuning.settings import Dimension
from pipeline.tuning.space import Space, default_space


def space(**dimensions) -> Space:
    return Space({f"train.{k}": Dimension(**v) for k, v in dimensions.items()})


class Draws:
    """Draws what it is told, and keeps what it was asked for."""

    def __init__(self, value):
        self.value, self.asked = value, None

    def suggest_int(self, name, low, high, *, step, log):
        self.asked = (low, high, step, log)
        return self.value

    def suggest_float(self, name, low, high, *, step, log):
        self.asked = (low, high, step, log)
        return self.value

    def suggest_categorical(self, name, choices):
        self.asked = tuple(choices)
        return self.value


def test_whole_setting_is_drawn_as_a_whole_number():
    draws = Draws(3)
    assert space(epochs={"low": 2.0, "high": 8, "step": 2}).suggest(draws) == {
        "train.epochs": 3
    }
    assert draws.asked == (2, 8, 2, False)


@pytest.mark.parametrize(
    ("drawn", "used"), [(0.00012345678, 0.0001235), (0.10004, 0.1), (1e-5, 1e-5)]
)
def test_real_setting_has_four_digits_and_stays_in_its_range(drawn, used):
    found = space(learning_rate={"low": 1e-5, "high": 0.1, "log": True}).suggest(
        Draws(drawn)
    )
    assert found == {"train.learning_rate": used}


def test_choice_that_is_a_group_is_drawn_by_its_json():
    lora = {"rank": 8}
    draws = Draws('{"rank": 8}')
    assert space(lora={"choices": [None, lora]}).suggest(draws) == {"train.lora": lora}
    assert draws.asked == (None, '{"rank": 8}')


def test_own_settings_are_read_from_the_configuration(with_values):
    searched = space(epochs={"low": 1, "high": 9}, lora={"choices": [None, {}]})
    own = searched.own(with_values({"train.epochs": 4}))
    assert own == {"train.epochs": 4, "train.lora": None}
    assert searched.outside(own) == ()


@pytest.mark.parametrize("value", [0, 10, 5])
def test_value_off_the_range_or_its_steps_is_outside(value):
    searched = space(epochs={"low": 2, "high": 8, "step": 2})
    assert searched.outside({"train.epochs": value}) == ("train.epochs",)


def test_size_counts_steps_and_choices():
    whole = {"low": 2, "high": 8, "step": 2}
    assert space(epochs=whole, decay={"choices": ["linear", "cosine"]}).size == 8
    assert space(epochs=whole, dropout={"low": 0, "high": 0.2}).size == math.inf


@pytest.mark.parametrize("task", ["classification", "summarization"])
def test_default_space_is_one_that_a_configuration_takes(task, with_values):
    searched = Space(default_space(task))
    assert spaces.resolved(searched, with_values).keys == searched.keys


@pytest.mark.parametrize(
    ("dimension", "where"),
    [
        ({"low": 0.5, "high": 1.5}, "high 1.5"),
        ({"low": -0.5, "high": 0.5}, "low -0.5"),
        ({"choices": [0.1, "much"]}, "choice much"),
    ],
)
def test_value_that_the_configuration_refuses_is_named(dimension, where, with_values):
    with pytest.raises(ConfigError) as caught:
        spaces.resolved(space(dropout=dimension), with_values)
    message = str(caught.value)
    assert message.startswith(f"tune.space.train.dropout: {where} cannot be tried")
    assert "--set 'tune.space" in message or "--set tune.space" in message


def test_key_below_a_null_says_how_to_give_it_a_value(with_values):
    searched = Space({"train.lora.rank": Dimension(low=2, high=8)})
    with pytest.raises(ConfigError, match=r"--set 'train.lora=\{\}'"):
        spaces.resolved(searched, with_values)


def test_choices_that_read_as_the_same_value_are_refused(with_values):
    with pytest.raises(ConfigError, match="two of the choices are the same value, 1"):
        spaces.resolved(space(epochs={"choices": [1, "1"]}), with_values)


@pytest.mark.parametrize(
    "values",
    [
        {"train.learning_rate": 1e-5, "train.epochs": 3},
        {"train.lora": {"rank": 4, "alpha": 8.0, "targets": ["query", "value"]}},
        {"train.lora": None, "train.freeze.embeddings": True},
        {"train.decay": "cosine", "model.pooling": "mean"},
    ],
)
def test_command_is_read_back_as_the_same_configuration(values, job, write):
    path = write(job)
    typed = spaces.command(["run", "--config", path], values)
    words = shlex.split(typed)
    run = texttune.get_command(None, words[0])
    given = run.make_context("run", words[1:]).params
    config = load(given["config_path"], given["overrides"])
    for key, value in values.items():
        assert spaces.value_of(config, key) == value
