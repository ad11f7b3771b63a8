"""New data against the data of the model that is served: what is stopped, and by whom.

The runs build on one another, in the order of the file.
"""

import json
import re
import shlex

import pytest

from tests.e2e import jobs

pytestmark = pytest.mark.slow
DATA_REFUSED = 3
PROFILE = "serving/tiny-intent/1/assets.extra/data_profile.json"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("drift")


@pytest.fixture(scope="module")
def job(folder, bert, rows_file):
    return jobs.classification(folder, rows_file, bert)


@pytest.fixture(scope="module")
def first(folder, job):
    return jobs.run(folder, job)


def changed(folder, name, table):
    return jobs.write_csv(folder / f"{name}.csv", table)


def offered(output: str) -> list[str]:
    """The arguments of the commands that the refusal offers."""
    return [
        word
        for found in re.findall("`(--set .*?)`", output)
        for word in shlex.split(found)
    ]


def test_first_run_promotes_its_profile_with_the_model(first):
    assert first.code == 0, first.output
    assert first.versions == ["1"]
    profile = json.loads((first.root / PROFILE).read_text(encoding="utf-8"))
    assert set(profile["labels"]) == set(jobs.KEYWORDS)
    assert profile["rows"] == first.summary["data"]["splits"]["train"]


def test_run_after_the_push_has_nothing_to_do(first, folder, job):
    again = jobs.run(folder, job)
    assert (again.code, again.versions) == (0, ["1"])
    assert "Nothing to do." in again.output


@pytest.fixture(scope="module")
def typo(folder):
    table = jobs.rows(90)
    for row in [row for row in table if row["intent"] == "login_problem"][::3]:
        row["intent"] = "login_probelm"
    return changed(folder, "typo", table)


@pytest.fixture(scope="module")
def refused(first, folder, job, typo):
    return jobs.run(folder, job, "--data", typo)


def test_typo_in_a_label_is_no_new_class(refused):
    assert refused.code == DATA_REFUSED, refused.output
    assert "'login_probelm'" in refused.output
    assert "did you mean 'login_problem'?" in refused.output
    assert refused.versions == ["1"]
    assert refused.states["DataGate"] == "failed"


def test_what_the_refusal_offers_lets_the_new_label_through(refused, folder, job, typo):
    ways = offered(refused.output)
    assert """data.gate.allow_new_labels=["login_probelm"]""" in ways
    allowed = jobs.run(folder, job, "--data", typo, "--to", "DataGate", *ways)
    assert allowed.code == 0, allowed.output
    assert allowed.states["DataGate"] == "executed"


def test_vanished_label_is_stopped(first, folder, job):
    table = [row for row in jobs.rows(90) if row["intent"] != "Card lost?"]
    data = changed(folder, "vanished", table)
    refused = jobs.run(folder, job, "--data", data, "--to", "DataGate")
    assert refused.code == DATA_REFUSED, refused.output
    assert "Labels that the serving model (version 1) was trained on" in refused.output
    assert """data.gate.allow_vanished_labels=["Card lost?"]""" in offered(
        refused.output
    )


def test_served_model_without_a_profile_is_told(first, folder, job):
    (first.root / PROFILE).unlink()
    told = jobs.run(folder, job, "--to", "DataGate")
    assert told.code == 0, told.output
    assert told.states["ExampleGen"] == "reused"
    assert told.states["DataGate"] == "executed"  # Not what was served, so not reused.
    (note,) = [
        finding
        for finding in told.summary["data_findings"]["findings"]
        if finding["rule"] == "not_compared"
    ]
    assert "promoted by hand or by an earlier release" in note["message"]
