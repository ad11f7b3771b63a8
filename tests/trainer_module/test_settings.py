"""The model and train settings, and their way through TFX's JSON."""

import json

import pytest
from pydantic import ValidationError

from trainer_module.settings import (
    CreateCheckpoint,
    KeepBest,
    ModelSettings,
    TrainerSettings,
    TrainSettings,
    TransformSettings,
    check_training,
)

NODE = {
    "task": "summarization",
    "checkpoint_dir": "/models/t5",
    "checkpoint_hash": "c0ffee",
    "code": "abc",
    "model": ModelSettings(checkpoint="/models/t5", prefix="summarize: "),
}
TRAINER = TrainerSettings(**NODE, train=TrainSettings(epochs=5), strategy="mirrored")


@pytest.mark.parametrize(
    "settings", [TRAINER, TransformSettings(**NODE)], ids=["trainer", "transform"]
)
def test_settings_survive_the_json_of_custom_config(settings):
    crossed = json.loads(json.dumps(settings.to_custom_config()))
    assert type(settings).from_custom_config(crossed) == settings


@pytest.mark.parametrize("kind", [TrainerSettings, TransformSettings])
@pytest.mark.parametrize("custom_config", [None, {}, {"other": 1}])
def test_missing_custom_config_tells_how_to_build_it(kind, custom_config):
    with pytest.raises(ValueError, match=r"texttune.*to_custom_config\(\)"):
        kind.from_custom_config(custom_config)


def test_missing_custom_config_lists_the_keys_received():
    with pytest.raises(ValueError, match=r"Received keys: \['epochs', 'lr'\]"):
        TrainerSettings.from_custom_config({"lr": 1, "epochs": 2})


def test_unknown_key_in_custom_config_is_refused():
    crossed = TRAINER.to_custom_config()
    crossed["texttune"]["train"]["learning_rat"] = 0.1
    with pytest.raises(ValidationError, match="train.learning_rat"):
        TrainerSettings.from_custom_config(crossed)


@pytest.mark.parametrize(
    "section, key, value",
    [
        (TrainSettings, "epochs", 0),
        (TrainSettings, "batch_size", 0),
        (TrainSettings, "learning_rate", 0.0),
        (TrainSettings, "warmup_share", 1.0),
        (TrainSettings, "clip_norm", 0.0),
        (TrainSettings, "dropout", 1.0),
        (TrainSettings, "decay", "constant"),
        (TrainSettings, "precision", "float16"),
        (ModelSettings, "checkpoint", ""),
        (ModelSettings, "max_source_tokens", 3),
        (ModelSettings, "max_target_tokens", 1),
        (CreateCheckpoint, "vocabulary_size", 199),
        (CreateCheckpoint, "width", 20),
    ],
)
def test_value_out_of_range_is_refused_by_name(section, key, value):
    required = {} if section is not ModelSettings else {"checkpoint": "c"}
    with pytest.raises(ValidationError, match=key):
        section(**{**required, key: value})


def test_width_that_does_not_divide_into_heads_is_refused_with_both_numbers():
    with pytest.raises(ValidationError, match=r"width` \(32\).*heads` \(3\)"):
        CreateCheckpoint(width=32, heads=3)


def test_settings_cannot_be_changed():
    with pytest.raises(ValidationError, match="frozen"):
        TRAINER.train.epochs = 9


@pytest.mark.parametrize(
    "metric, direction, way_out",
    [("loss", "max", "lower.*direction: min"), ("accuracy", "min", "higher.*: max")],
)
def test_direction_that_would_keep_the_worst_is_refused(metric, direction, way_out):
    with pytest.raises(ValidationError, match=way_out):
        KeepBest(metric=metric, direction=direction)


@pytest.mark.parametrize(
    "task, train, message",
    [
        (
            "classification",
            {"keep_best": {"metric": "acuracy", "direction": "max"}},
            r"names 'acuracy'.*Allowed: \['loss', 'accuracy', 'macro_f1'\]",
        ),
        (
            "classification",
            {"keep_best": {"metric": "rouge_l", "direction": "max"}},
            r"'rouge_l', which classification does not have",
        ),
        ("summarization", {"precision": "mixed_float16"}, "65504.*mixed_bfloat16"),
        (
            "summarization",
            {
                "keep_best": {"metric": "rouge1", "direction": "max"},
                "max_decoded_rows": 0,
            },
            "max_decoded_rows: 0",
        ),
        ("classification", {"freeze": {"decoder_layers": 1}}, "encoder only"),
        ("summarization", {"head_start": "probe"}, "a T5 has no head"),
        ("classification", {"head_start": "probe"}, "needs `model.pooling: mean`"),
    ],
    ids=[
        *("misspelt", "of_another_task", "float16_t5", "no_texts", "decoder_of_bert"),
        *("head_of_t5", "head_on_the_first_token"),
    ],
)
def test_settings_that_the_task_cannot_have_are_refused(task, train, message):
    with pytest.raises(ValueError, match=message):
        check_training(task, TrainSettings(**train))
