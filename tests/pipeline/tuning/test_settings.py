"""The `tune` section: what is taken, and how a mistake is answered."""

import pytest

from pipeline import checkpoints, place
from pipeline.config import ConfigError, load
from pipeline.plan import Plan


def refusal(path, *overrides) -> str:
    with pytest.raises(ConfigError) as caught:
        load(path, overrides)
    return str(caught.value)


@pytest.fixture
def path(job, write) -> str:
    space = {"train.epochs": {"low": 1, "high": 4}}
    return write({**job, "tune": {"trials": 5, "space": space}})


def test_section_left_out_gives_trials_and_an_empty_space(job, write):
    tune = load(write(job)).tune
    assert (tune.trials, tune.space) == (20, {})


def test_override_changes_one_end_of_a_range(path):
    config = load(path, ["tune.space.train.epochs.high=9"])
    assert config.tune.space["train.epochs"].bounds == (1, 9)


def test_override_replaces_a_range_by_choices(path):
    config = load(path, ["tune.space.train.epochs={choices: [1, 2]}"])
    assert config.tune.space["train.epochs"].choices == (1, 2)


def test_override_adds_a_key(path):
    config = load(path, ["tune.space.train.dropout={low: 0, high: 0.5}"])
    assert list(config.tune.space) == ["train.epochs", "train.dropout"]


def test_rate_without_a_point_is_a_number(path):
    # YAML 1.1 reads 1e-5 as a text.
    config = load(path, ["tune.space.train.learning_rate={low: 1e-5, high: 1e-3}"])
    assert config.tune.space["train.learning_rate"].bounds == (1e-5, 1e-3)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("train.epoch={low: 1, high: 2}", "Did you mean `train.epochs`?"),
        ("train.decay.x={low: 1, high: 2}", "`train.decay` has no keys below it."),
        ("data.text={choices: [a, b]}", "Allowed are those of `train` and `model`"),
        ("train.seed={low: 1, high: 2}", "the best seed is luck"),
        ("train.keep_best.metric={choices: [a, b]}", "what the trials are compared by"),
        ("model.checkpoint={choices: [a, b]}", "another checkpoint is another job"),
        ("train.epochs={low: 2, high: 2}", "`low` must be less than `high`"),
        ("train.batch_size={low: 1}", "`low` and `high`, or `choices`"),
        ("train.epochs=3", "`train.epochs` needs `low` and `high`, or `choices`"),
        ("train.epochs={low: 1.5, high: 3}", "its `low` is not. Received: 1.5."),
        ("train.epochs={low: 1, high: 4, step: 2}", "Write `high: 3`"),
        ("train.dropout={low: 0, high: 1, log: true}", "needs a `low` above 0"),
        (
            "train.dropout={low: 0.1, high: 0.3, log: true, step: 0.1}",
            "`log` and `step` stand together",
        ),
        ("train.decay={low: 1, high: 2}", "is no number, so it has no range"),
        ("train.decay={choices: [linear]}", "two values or more"),
        ("train.epochs={choices: [1, 1]}", "two values or more, each once"),
        ("train.epochs={choices: [1, 2], log: true}", "`choices` and ['log'] stand"),
        ("train.epochs={lo: 1, high: 2}", "Did you mean `low`?"),
    ],
)
def test_entry_that_cannot_be_searched_is_refused(path, entry, words):
    message = refusal(path, f"tune.space.{entry}")
    assert words in message
    assert "tune.space" in message


def test_key_within_another_key_is_refused(job, write):
    space = {
        "train.freeze": {"choices": [{}, {"embeddings": True}]},
        "train.freeze.embeddings": {"choices": [True, False]},
    }
    message = refusal(write({**job, "tune": {"space": space}}))
    assert "the first holds the second" in message


def test_mistake_in_the_file_names_its_line(job, write):
    space = {"train.dropout": {"low": 0.3, "high": 0.1}}
    path = write({**job, "tune": {"space": space}})
    message = refusal(path)
    assert message.startswith(f"{path}:14: tune.space.train.dropout: `low` must be")


def test_plan_with_another_space_has_the_same_key(path, tmp_path):
    (tmp_path / "rows.csv").write_text("message,intent\na,b\n")

    def key(*overrides):
        config = load(path, overrides)
        here = place.local(config, checkpoints.locate(config))
        prints = place.fingerprint(config, here)
        return Plan(config=config, place=here, fingerprints=prints).key

    assert key("tune.trials=7", "tune.space={}") == key()
    assert key("train.epochs=7") != key()


def test_section_with_choices_survives_the_plan_file(path, tmp_path):
    config = load(path, ["tune.space.train.epochs={choices: [1, 2]}"])
    assert type(config).model_validate_json(config.model_dump_json()) == config
