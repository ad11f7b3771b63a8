"""What changed since production, as rows of text."""

from components.report import changes
from tests.components.report import facts

NOW = facts.of_run()


def since(**of_production):
    return changes.since({**NOW["production"], **of_production}, NOW)


def test_without_a_model_in_production_nothing_changed():
    assert changes.since(None, NOW) is None


def test_only_keys_that_differ_are_told():
    config = {"name": "where is my card", "train": {"epochs": 1, "seed": None}}
    assert since(config=config).config == [
        ("train.epochs", "1", "2"),
        ("train.seed", "null", changes.NOT_SET),
    ]


def test_configuration_that_is_not_recorded_is_not_taken_for_an_equal_one():
    assert since(config=None).config is None
    assert since(config=NOW["lineage"]["config"]).config == []


def test_checkpoint_and_data_stand_side_by_side():
    found = since(account=None)
    assert found.model[0] == ("checkpoint", "other", "where is my card")
    assert found.data[0] == ("rows read", "–", "3")
    assert found.data[-1] == ("data hash", "d" * 64, "d" * 64)


def test_metrics_are_those_of_all_rows_with_their_difference():
    value = {"slice": "Overall", "model": "candidate", "metric": "accuracy"}
    evaluation = {"metrics": [{**value, "value": 0.4}]}
    row = ("accuracy", "0.4000", "0.5000", "+0.1000")
    assert since(evaluation=evaluation).metrics == [row]


def test_record_that_is_all_but_empty_is_shown():
    assert changes.since({}, {}).metrics == []
