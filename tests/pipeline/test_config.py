"""Configuration: what is taken, and how a mistake is answered."""

import os

import pytest

from pipeline.config import ConfigError, load
from tests.pipeline.conftest import ROOT


def refusal(path, *overrides) -> str:
    with pytest.raises(ConfigError) as caught:
        load(path, overrides)
    return str(caught.value)


@pytest.mark.parametrize(
    "name", ["minimal", "intent", "summarization", "banking77", "tweetsumm"]
)
def test_shipped_config_is_valid(name):
    assert load(str(ROOT / "configs" / f"{name}.yaml")).name


def test_relative_path_starts_at_the_folder_of_the_file(job, write, tmp_path):
    config = load(write(job))
    assert config.data.train == (str(tmp_path / "rows.csv"),)
    assert config.runner.root == str(tmp_path / "workspace" / "tiny")
    assert config.serving.dir == str(tmp_path / "workspace" / "tiny" / "serving")


def test_relative_path_of_an_override_starts_at_the_working_directory(job, write):
    config = load(write(job), ["data.train=other.csv"])
    assert config.data.train == (os.path.join(os.getcwd(), "other.csv"),)


def test_bucket_address_stays_as_it_is(job, write):
    config = load(write(job), ["data.train=gs://bucket/rows.csv"])
    assert config.data.train == ("gs://bucket/rows.csv",)


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
    said = refusal(write(job))
    assert "`gate.floors` names a metric that classification does not have" in said
    assert "Allowed: ['accuracy', 'macro_f1'" in said


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


@pytest.mark.parametrize(
    "text, said",
    [
        ("a: 2024-13-01", "job.yaml: this is not valid YAML: month must be in 1..12"),
        ("a: !!int abc", "invalid literal for int()"),
        ("a: " + "[" * 5000, "job.yaml:1: this is nested deeper than 20 levels"),
        ("a: &x\n  b: *x", "job.yaml:2: an alias (*x) is not allowed"),
        ("#" * 100_001, "at most 100,000 characters"),
        ("- a\n- b", "is a list of `key: value` lines. Received: list"),
        ("", "Received: NoneType"),
    ],
    ids=["date", "tag", "deep", "alias", "large", "list", "empty"],
)
def test_yaml_that_is_no_configuration_is_refused(write, text, said):
    assert said in refusal(write(text))


def test_file_that_is_not_utf8_is_refused(tmp_path):
    path = tmp_path / "job.yaml"
    path.write_bytes("name: caf\xe9".encode("latin-1"))
    assert "job.yaml: this is not UTF-8" in refusal(str(path))


def test_folder_as_configuration_is_refused(tmp_path):
    assert "cannot be read: Is a directory" in refusal(str(tmp_path))


@pytest.mark.parametrize("root", [5, [], {}, True], ids=repr)
def test_root_that_is_no_text_is_refused(job, write, root):
    job["runner"] = {"root": root}
    assert "runner.root: input should be a valid string" in refusal(write(job))


def test_unknown_key_below_a_key_of_the_users_own_lists_what_is_allowed(job, write):
    job["data"]["slices"] = ["channel"]
    job["gate"]["slices"] = {"channel": {"flours": {"accuracy": 0.1}}}
    said = refusal(write(job))
    assert "gate.slices.channel.flours: there is no such key." in said
    assert (
        "Did you mean `floors`? Allowed here: ceilings, floors, max_drop, min_gain."
        in (said)
    )


@pytest.mark.parametrize(
    "override, said",
    [
        ("a=[", "--set a=[:1: this is not valid YAML"),
        ("a=!!int x", "--set a=!!int x: this is not valid YAML"),
        ("a=" + "[" * 5000, "this is nested deeper than 20 levels"),
    ],
    ids=["unclosed", "tag", "deep"],
)
def test_override_that_is_no_yaml_is_refused(job, write, override, said):
    assert said in refusal(write(job), override)


@pytest.mark.parametrize("name", ["2024", "a: b", "{odd}", "a #b", "null", "=x"])
def test_value_of_an_option_is_taken_as_it_is(job, write, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    config = load(write(job), options={"runner.root": name, "data.train": name})
    assert config.runner.root == str(tmp_path / name)
    assert config.data.train == (str(tmp_path / name),)


def test_wrong_value_of_an_override_is_not_blamed_on_the_file(job, write):
    job["train"] = {"epochs": 3}
    said = refusal(write(job), "train.epochs=many")
    assert said.startswith("--set train.epochs=many: train.epochs: ")


def test_huge_value_is_shown_in_short(job, write):
    said = refusal(write(job), f"train.epochs={'9' * 4000}")
    assert "a number of more than 300 digits" in said


def test_root_may_hold_the_name_of_the_job(job, write, tmp_path):
    job["runner"] = {"root": "out/{name}"}
    config = load(write(job), ["name=other"])
    assert config.runner.root == str(tmp_path / "out" / "other")
    assert config.serving.dir == str(tmp_path / "out" / "other" / "serving")


def test_slices_may_be_null(job, write):
    config = load(write(job), ["data.slices=null", "gate.slices=null"])
    assert config.data.slices == () and config.gate.slices == {}


def test_spans_without_their_place_in_a_path_are_refused(job, write):
    job["data"]["spans"] = {"window": 3}
    path = write(job)
    assert "`data.spans` is set, and no path has {SPAN}, so it" in refusal(path)
    # The ways out that are offered.
    assert load(path, ["data.spans={}"]).data.spans.window is None
    assert load(path, ["data.train=data/span-{SPAN}/*.csv"]).data.spans.window == 3


def test_marker_of_spans_may_be_none(job, write):
    job["data"]["train"] = "span-{SPAN}.csv"
    path = write(job)
    assert load(path).data.spans.marker == "_SUCCESS"
    assert load(path, ["data.spans.marker=null"]).data.spans.marker is None


@pytest.mark.parametrize("marker", ["''", "a/b", "'*.done'", "'{SPAN}.done'"])
def test_marker_of_spans_that_is_no_name_is_refused(job, write, marker):
    job["data"]["train"] = "span-{SPAN}.csv"
    said = refusal(write(job), f"data.spans.marker={marker}")
    assert ": data.spans.marker: a file's name without /, *" in said


def test_span_without_the_quotes_that_yaml_needs_is_told_of_them(job, write):
    said = refusal(write(job), "data.train=[a-{SPAN}.csv, b.csv]")
    assert "A path with {SPAN} needs quotes in a list or at its start." in said
    config = load(write(job), ["data.train=['/a-{SPAN}.csv', /b.csv]"])
    assert config.data.train == ("/a-{SPAN}.csv", "/b.csv")
