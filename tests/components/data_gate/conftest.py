"""Rows and settings for the rules, and what their messages offer put into effect."""

import re
import shlex

import pytest

from components.example_gen.examples import Example
from components.example_gen.settings import DataSettings
from pipeline.config import parsing

LAX = {
    "min_train_examples": 1,
    "min_eval_examples": 1,
    "min_examples_per_label": 1,
    "max_interval_half_width": 1,
}


@pytest.fixture
def settings():
    """Returns a function (**gate) -> settings that allow few rows."""

    def settings(**gate):
        return DataSettings(
            train="a.csv", text="message", target="intent", gate={**LAX, **gate}
        )

    return settings


@pytest.fixture
def rows():
    """Returns a function (*(text, target), prefix, **slices) -> examples."""

    def rows(*pairs, prefix="r", **slices):
        return [
            Example(text, target, f"{prefix}{i}", slices)
            for i, (text, target) in enumerate(pairs)
        ]

    return rows


@pytest.fixture
def allow():
    """Returns a function (settings, finding) -> settings with what it offers."""

    def allow(settings, finding):
        (offer,) = re.findall(r"`--set ([^`]*)`", finding.message)
        (override,) = shlex.split(offer)
        key, _, written = override.partition("=")
        values = settings.model_dump()
        *sections, last = key.removeprefix("data.").split(".")
        inner = values
        for name in sections:
            inner = inner[name]
        inner[last] = parsing.parse(written, "--set")
        return DataSettings.model_validate(values)

    return allow
