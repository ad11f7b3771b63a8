"""The key changes with all that the weights depend on, and with nothing else."""

import copy
import re

import pytest
from pydantic import BaseModel

from trainer_module.checkpoints.key import LEFT_OUT, training_key
from trainer_module.settings import (
    EarlyStopping,
    Lora,
    ModelSettings,
    TrainerSettings,
    TrainSettings,
)

# Each optional section is there, so that each of its fields is.
SETTINGS = TrainerSettings(
    task="classification",
    checkpoint_dir="/models/bert",
    checkpoint_hash="c0ffee",
    code="abc",
    model=ModelSettings(checkpoint="/models/bert"),
    train=TrainSettings(early_stopping=EarlyStopping(), lora=Lora(targets=("query",))),
)
CONFIG = SETTINGS.to_custom_config()
OTHERS = {
    "data_digests": {"train": "d1", "eval": "d2"},
    "label_names": ["fee", "late"],
    "replicas": 2,
    "compiled": False,
    "warm_start": None,
}
KEY = training_key(CONFIG, **OTHERS)


def fields(section: BaseModel, prefix: str = "") -> list[str]:
    """The dotted paths of all settings in a section and in those below it."""
    paths = []
    for name in type(section).model_fields:
        value = getattr(section, name)
        if isinstance(value, BaseModel):
            paths.extend(fields(value, f"{prefix}{name}."))
        else:
            paths.append(f"{prefix}{name}")
    return paths


def is_left_out(path: str) -> bool:
    return any(path == left or path.startswith(f"{left}.") for left in LEFT_OUT)


def with_another(path: str) -> dict:
    """The configuration with another value at a path."""
    config = copy.deepcopy(CONFIG)
    *parents, name = path.split(".")
    section = config["texttune"]
    for parent in parents:
        section = section[parent]
    assert name in section
    section[name] = f"not {section[name]!r}"
    return config


@pytest.mark.parametrize("path", [p for p in fields(SETTINGS) if not is_left_out(p)])
def test_setting_that_the_weights_depend_on_changes_the_key(path):
    assert training_key(with_another(path), **OTHERS) != KEY


@pytest.mark.parametrize("path", [p for p in fields(SETTINGS) if is_left_out(p)])
def test_setting_that_changes_no_weight_leaves_the_key(path):
    assert training_key(with_another(path), **OTHERS) == KEY


@pytest.mark.parametrize("left_out", LEFT_OUT)
def test_each_setting_left_out_exists(left_out):
    assert any(f"{path}.".startswith(f"{left_out}.") for path in fields(SETTINGS))


@pytest.mark.parametrize("section", ["early_stopping", "lora"])
def test_section_that_is_not_there_changes_the_key(section):
    config = copy.deepcopy(CONFIG)
    config["texttune"]["train"][section] = None
    assert training_key(config, **OTHERS) != KEY


@pytest.mark.parametrize(
    "changes",
    [
        {"data_digests": {"train": "d1", "eval": "other"}},
        {"data_digests": {"train": "d2", "eval": "d1"}},
        {"data_digests": {"train": "d1"}},
        {"label_names": ["late", "fee"]},
        {"label_names": []},
        {"replicas": 1},
        {"compiled": True},
        {"warm_start": "c0ffee"},
    ],
    ids=lambda changes: str(changes),
)
def test_what_is_given_beside_the_settings_changes_the_key(changes):
    assert training_key(CONFIG, **{**OTHERS, **changes}) != KEY


def test_key_is_16_hex_digits_whatever_the_order_of_keys():
    turned = {"texttune": dict(reversed(CONFIG["texttune"].items()))}
    digests = dict(reversed(OTHERS["data_digests"].items()))
    assert training_key(turned, **{**OTHERS, "data_digests": digests}) == KEY
    assert re.fullmatch("[0-9a-f]{16}", KEY)


def test_config_that_was_not_built_by_the_settings_is_refused():
    with pytest.raises(ValueError, match=r"to_custom_config\(\).*keys: \['epochs'\]"):
        training_key({"epochs": 1}, **OTHERS)
