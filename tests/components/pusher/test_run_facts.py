"""The facts that a version carries: what is kept of a run, and how it is found."""

import json

import pytest

from components.pusher import run_facts

ACCOUNT = {
    "files": [
        {
            **{"path": "a.csv", "format": "CSV", "sha256": "ab", "bytes": 9},
            **{"rows_read": 3, "kept": 2, "rejected": {"no label": 1}, "left_out": 0},
            "first_rejected": [{"line": 3, "excerpt": "my card 4929"}],
        }
    ],
    "splits": {"train": 1, "eval": 1},
}
EVALUATION = {
    "rows": {"Overall": 20, "language: en": 12},
    "slices": {"Overall": {}, "language: en": {"language": "en"}},
    "confidence": 0.95,
    "metrics": [
        {"slice": "Overall", "model": model, "metric": "accuracy", **score}
        for model in ("candidate", "baseline")
        for score in [{"value": 0.7, "low": 0.6, "high": 0.8}]
    ],
    "labels": [{"label": "fee", "rows": 5, "model": "untuned"}],
    "examples": [{"source": "my card 4929"}],
    "blessed": True,
}
CHECK = {"blessed": True, "problems": [], "figures": {"requests": 5}, "limits": {}}
FACTS = {
    "task": "classification",
    "checkpoint": "minilm",
    "gate": {},
    "hashes": {"data": "d"},
    "config": {"name": "intents"},
}


def made(**changes):
    given = {
        **{"title": "intents", "run_id": "r1", "facts": FACTS, "account": ACCOUNT},
        **{"evaluation": EVALUATION, "model_check": CHECK},
    }
    return run_facts.make(**{**given, **changes})


def publish(serving, version, content=None):
    """A version as the server sees it; without `content` one of an earlier release."""
    folder = serving / str(version)
    (folder / "assets.extra").mkdir(parents=True)
    (folder / "saved_model.pb").write_text("")
    if content is not None:
        (folder / run_facts.FACTS_PATH).write_bytes(content)


def test_facts_are_those_that_a_report_takes(tmp_path):
    publish(tmp_path, 1, made())
    found = run_facts.read(str(tmp_path / "1"))
    assert (found["run_id"], found["title"]) == ("r1", "intents")
    assert found["lineage"] == {
        "task": "classification",
        "checkpoint": "minilm",
        "hashes": {"data": "d"},
    }
    assert found["config"] == {"name": "intents"}
    assert found["account"]["splits"] == {"train": 1, "eval": 1}
    assert found["account"]["files"][0]["rejected"] == {"no label": 1}
    assert found["evaluation"]["metrics"] == EVALUATION["metrics"][:1]
    assert found["evaluation"]["rows"] == EVALUATION["rows"]
    assert found["evaluation"]["labels"] == []
    assert found["model_check"] == CHECK


def test_facts_hold_no_text_of_the_data():
    assert b"4929" not in made()


def test_facts_of_a_run_without_figures_are_still_facts(tmp_path):
    nothing = {"account": None, "evaluation": None, "model_check": None}
    publish(tmp_path, 1, made(**nothing))
    found = run_facts.read(str(tmp_path / "1"))
    assert {key: found[key] for key in nothing} == nothing


@pytest.mark.parametrize(
    "content",
    [None, b"", b"{", b"[]", b"caf\xe9", b'{"format": 99}', b"[" * 9999],
    ids=["absent", "empty", "cut", "no_facts", "no_utf8", "later_format", "deep"],
)
def test_version_without_facts_that_can_be_read_has_none(tmp_path, content):
    publish(tmp_path, 1, content)
    assert run_facts.read(str(tmp_path / "1")) is None
    assert run_facts.before(str(tmp_path), None) is None


@pytest.mark.parametrize(
    "pushed, run_id",
    [
        (None, "r3"),
        ({"pushed": False, "reasons": ["no"]}, "r3"),
        ({"pushed": True, "version": 3, "created": True}, "r2"),
        ({"pushed": True, "version": 3, "created": False}, "r3"),
    ],
    ids=["stopped_early", "refused", "promoted", "the_same_model_again"],
)
def test_production_before_a_run_is_not_what_the_run_has_pushed(
    tmp_path, pushed, run_id
):
    for version in (2, 3):
        publish(tmp_path, version, made(run_id=f"r{version}"))
    assert run_facts.before(str(tmp_path), pushed)["run_id"] == run_id


def test_production_has_its_version(tmp_path):
    publish(tmp_path, 7, made())
    assert run_facts.before(str(tmp_path), None)["pushed"]["version"] == 7


def test_of_a_newest_version_without_facts_nothing_is_known(tmp_path):
    publish(tmp_path, 1, made())
    publish(tmp_path, 2)
    assert run_facts.before(str(tmp_path), None) is None


@pytest.mark.parametrize("folder", ["none", ""], ids=["missing", "not_known"])
def test_without_a_served_model_there_is_no_production(tmp_path, folder):
    where = str(tmp_path / folder) if folder else ""
    pushed = {"pushed": True, "version": 1, "created": True}
    assert run_facts.before(where, pushed) is None


def test_bytes_that_are_no_utf8_are_kept_as_they_are(tmp_path):
    publish(tmp_path, 1, made(facts={**FACTS, "config": {"name": "caf\udce9"}}))
    found = run_facts.read(str(tmp_path / "1"))
    assert json.dumps(found["config"]) == '{"name": "caf\\udce9"}'
