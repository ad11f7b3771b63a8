import pytest

from trainer_module.monitoring import hyperparameters


def test_nested_settings_become_flat_values():
    nested = {"a": {"b": 1, "c": {"d": None}}, "e": [1, "x"], "f": True, "g": ""}
    assert hyperparameters.flat(nested) == {
        "a.b": 1,
        "a.c.d": "none",
        "e": "1, x",
        "f": True,
        "g": '""',
    }


def test_value_of_another_type_is_refused_with_its_key():
    with pytest.raises(TypeError, match="`a.b` must be .* Received: object"):
        hyperparameters.flat({"a": {"b": object()}})


def test_settings_have_what_changes_the_training_only(settings_for):
    settings = settings_for("classification", "path", train={"learning_rate": 0.5})
    flat = hyperparameters.flat(hyperparameters.of(settings))
    assert flat["train.learning_rate"] == 0.5
    assert flat["model.max_source_tokens"] == 32
    left_out = ("tensorboard", "checkpoint_minutes", "create")
    assert not [key for key in flat if any(name in key for name in left_out)]
