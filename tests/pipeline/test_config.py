"""Configuration: what is taken, and how a mistake is answered."""

import os

import pytest

from pipeline.config import ConfigError, load
from tests.pipeline.conftest import ROOT


def refusal(path, *overrides) -> str:
    with pytest.raises(ConfigError) as caught:
        load(path, overrides)
    return str(caught.value)


@pytest.mark.parametrize("name", ["intent", "summarization", "banking77", "tweetsumm"])
def test_shipped_config_is_valid(name):
    assert load(str(ROOT / "configs" / f"{name}.yaml")).name


def test_relative_path_starts_at_the_folder_of_the_file(job, write, tmp_path):
    config = load(write(job))
    assert config.data.train == str(tmp_path / "rows.csv")
    assert config.runner.root == str(tmp_path / "workspace" / "tiny")
    assert config.serving.dir == str(tmp_path / "workspace" / "tiny" / "serving")


def test_relative_path_of_an_override_starts_at_the_working_directory(job, write):
    config = load(write(job), ["data.train=other.csv"])
    assert config.data.train == os.path.join(os.getcwd(), "other.csv")


def test_bucket_address_stays_as_it_is(job, write):
    config = load(write(job), ["data.train=gs://bucket/rows.csv"])
    assert config.data.train == "gs://bucket/rows.csv"


def test_override_reaches_a_section_that_the_file_lacks(job, write):
    config = load(write(job), ["train.learning_rate=5e-5"])
    assert config.train.learning_rate == 5e-5


def test_unknown_key_names_file_line_and_the_near_match(job, write):
    job["data"]["texts"] = "message"
    path = write(job)
    message = refusal(path)
    assert message.startswith(f"{path}:7: data.texts: there is no such key.")
    assert "Did you mean `text`?" in message


def test_unknown_section_lists_the_sections(job, write):
    job["trian"] = {}
    assert "Did you mean `train`? Allowed here: data, gate" in refusal(write(job))


def test_missing_key_is_named(job, write):
    del job["data"]["text"]
    assert "data.text: this key is required and missing." in refusal(write(job))


def test_wrong_type_shows_what_was_received(job, write):
    job["train"] = {"epochs": "many"}
    message = refusal(write(job))
    assert ":13: train.epochs: " in message
    assert message.endswith("Received: 'many'.")


def test_every_mistake_is_reported_at_once(job, write):
    job["train"] = {"epochs": 0, "batch_size": -1}
    assert len(refusal(write(job)).splitlines()) == 2


def test_key_that_stands_twice_is_refused(write):
    message = refusal(write("name: a\ntask: classification\nname: b\n"))
    assert ":3: name: the key stands here and on line 1" in message


def test_yaml_error_names_the_line(write):
    assert "job.yaml:2: this is not valid YAML" in refusal(write("name: a\n  b: [\n"))


def test_missing_file_lists_its_neighbours(job, write, tmp_path):
    write(job)
    assert "There are: job.yaml." in refusal(str(tmp_path / "jop.yaml"))


@pytest.mark.parametrize(
    "override",
    ["train.epochs", "=3", "train..epochs=3"],
    ids=["no_value", "no_key", "dots"],
)
def test_malformed_override_shows_the_form(job, write, override):
    assert "`section.key=value`" in refusal(write(job), override)


def test_gate_without_floors_is_refused(job, write):
    job["gate"] = {"max_drop": {"accuracy": 0.01}}
    assert "would bless any model" in refusal(write(job))


def test_gate_metric_of_the_other_task_is_refused(job, write):
    job["gate"]["floors"]["rouge_l"] = 0.1
    assert "Allowed: ['accuracy', 'macro_f1']" in refusal(write(job))


def test_gated_slice_that_is_not_a_slice_is_refused(job, write):
    job["gate"]["slices"] = {"language": {"floors": {"accuracy": 0.1}}}
    assert "`data.slices` does not: ['language']" in refusal(write(job))


def test_prefix_for_a_classifier_is_refused(job, write):
    job["model"]["prefix"] = "summarize: "
    assert "`model.prefix` is for summarization" in refusal(write(job))


def test_text_and_target_may_not_be_one_column(job, write):
    job["data"]["target"] = "message"
    assert "would learn to copy" in refusal(write(job))


@pytest.mark.parametrize("name", ["Tiny", "a_b", "", "-a"])
def test_name_that_a_cluster_refuses_is_refused_here(job, write, name):
    job["name"] = name
    assert ": name: " in refusal(write(job))
