"""The page: every section, what is missing, and text that tries to break out."""

import copy
import html.parser
import math

import pytest

from components.report import core, evaluation_shown, pages, verdicts
from tests.components.report import facts

MINUS = "\N{MINUS SIGN}"
INTERVAL = f"+0.0123{MINUS}0.0010 to +0.0250"  # A value, and below it its interval.

FACTS = {
    "title": "intents",
    "pushed": {
        "pushed": True,
        "reasons": [],
        "version": 7,
        "created": True,
        "destination": "/served/7",
    },
    "model_blessed": True,
    "model_check": {
        "blessed": True,
        "problems": [],
        "figures": {
            "requests": 1032,
            "load_seconds": 1.23456,
            "peak_memory_mb": 2345.6,
        },
        "limits": {"max_latency_seconds": 2.0},
    },
    "account": {
        "files": [
            {
                "path": "tickets.csv",
                "format": "CSV",
                "sha256": "ab",
                "bytes": 10,
                "rows_read": 1234,
                "kept": 1200,
                "rejected": {"no label": 30, "not UTF-8": 3},
                "left_out_by": {"max_train_examples": 1},
                "left_out": 1,
                "characters_removed": 0,
                "first_rejected": [
                    {
                        "file": "tickets.csv",
                        "line": 17,
                        "reason": "no label",
                        "excerpt": "where is my card",
                    }
                ],
            }
        ],
        "splits": {"train": 1000, "eval": 200},
    },
    "findings": [
        {
            "rule": "contradiction",
            "severity": "note",
            "message": "2 texts have two labels.",
            "examples": [],
            "allow": None,
        }
    ],
    "evaluation": {
        "metrics": [
            {
                "slice": "language: en",
                "model": "candidate",
                "metric": "accuracy",
                "value": 0.75,
            },
            {
                "slice": "Overall",
                "model": "candidate",
                "metric": "accuracy",
                "value": 0.9123,
                "low": 0.9,
                "high": 0.95,
            },
            {
                "slice": "Overall",
                "model": "baseline",
                "metric": "accuracy",
                "value": 0.9,
            },
            {
                "slice": "Overall",
                "model": "candidate",
                "metric": "macro_f1",
                "value": None,
            },
        ],
        "differences": [
            {
                "slice": "Overall",
                "model": "baseline",
                "metric": "accuracy",
                "value": 0.0123,
                "low": -0.001,
                "high": 0.025,
            }
        ],
        "rows": {"Overall": 200, "language: en": 150},
        "checks": [
            {
                "metric": "accuracy",
                "slice": "Overall",
                "rule": "floor",
                "bound": 0.8,
                "rows": 200,
                "score": {"value": 0.9123, "low": 0.9, "high": 0.95},
                "other": None,
                "passed": True,
                "in_words": "accuracy 0.9123 reaches the floor 0.8000",
            }
        ],
        "refused": None,
    },
    "history": [
        {"epoch": 1, "loss": 1.5, "validation_loss": 1.25, "seconds": 61.04},
        {"epoch": 2, "loss": 0.75, "validation_loss": math.nan, "seconds": 60.0},
    ],
    "lineage": {
        "task": "classification",
        "checkpoint": "google/bert",
        "gate": {"floors": {"accuracy": 0.8}},
        "hashes": {"data": "d" * 64, "training code": "c" * 64},
    },
}


class Page(html.parser.HTMLParser):
    """What a browser would see: headings, table rows, and the tags that were opened."""

    VOID = {"meta", "br", "hr", "img", "link", "input"}

    def __init__(self, text):
        super().__init__()
        self.tags, self.rows, self.text, self._open = [], [], "", []
        self.feed(text)
        self.close()
        assert self._open == []
        self.text = " ".join(self.text.split())
        self.rows = [[" ".join(cell.split()) for cell in row] for row in self.rows]

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if {"td", "th"} & set(self._open):
            self.rows[-1][-1] += data
        if "style" not in self._open:
            self.text += " " + data


def render(**changes):
    return Page(core.render({**copy.deepcopy(FACTS), **changes}))


def test_the_page_is_one_file_that_loads_and_runs_nothing():
    text = core.render(FACTS)
    assert text.startswith("<!doctype html>")
    page = Page(text)
    assert {tag for tag, _ in page.tags} & {"script", "link", "img", "iframe"} == set()
    assert not any({"src", "onclick"} & set(a) for _, a in page.tags)
    links = [a["href"] for _, a in page.tags if "href" in a]
    assert links and all(link.startswith("#") for link in links)
    policy = {"http-equiv": "Content-Security-Policy"}
    assert any(policy.items() <= attributes.items() for _, attributes in page.tags)
    assert "prefers-color-scheme: dark" in text and "width=device-width" in text


def test_the_verdict_comes_before_all_else():
    page = render()
    assert page.text.startswith(
        "intents: run report intents Verdict Promoted: version 7 is the model to serve."
    )


@pytest.mark.parametrize(
    "row",
    [
        ["tickets.csv CSV", "1,234", "1,200", "33", "1", "no label: 30; not UTF-8: 3"],
        ["17", "no label", "where is my card"],
        ["Slice", "Rows", "Candidate", "Baseline", "Difference to baseline"],
        ["Overall", "200", "0.91230.9000 to 0.9500", "0.9000", INTERVAL],
        ["language: en", "150", "0.7500", "–", "–"],
        ["macro_f1F1, mean over the labels that occur, more is better", "–", "–", "–"],
        ["held", "accuracy 0.9123 reaches the floor 0.8000", "200", "–"],
        ["1", "1.5000", "1.2500", "61.0"],
        ["2", "0.7500", "–", "60.0"],
        ["Requests", "1,032"],
        ["Load", "1.235 s"],
        ["Peak memory", "2,346 MB"],
        ["Max latency", "2.000 s"],
        ["Checkpoint", "google/bert"],
        ["Training code hash", "c" * 64],
    ],
    ids=lambda row: row[0],
)
def test_every_section_shows_its_rows(row):
    assert row in render().rows


def test_account_and_findings_are_told_in_words():
    text = render().text
    assert (
        "1,234 rows read, 1,200 kept, 33 rejected, 1 left out by a limit. "
        "Train : 1,000, Eval : 200." in text
    )
    assert "Note: 2 texts have two labels." in text


def test_overall_comes_first_and_slices_follow():
    overall, accuracy = evaluation_shown.metric_tables(FACTS["evaluation"])
    assert [row.name for row in overall.rows] == ["accuracy", "macro_f1"]
    assert [row.name for row in accuracy.rows] == ["Overall", "language: en"]


def test_without_any_baseline_the_page_says_so():
    evaluation = copy.deepcopy(FACTS["evaluation"])
    del evaluation["metrics"][2], evaluation["differences"]
    page = render(evaluation=evaluation)
    assert "There is no baseline: no earlier model was blessed" in page.text
    assert ["Overall", "200", "0.91230.9000 to 0.9500"] in page.rows


# Parts that are missing


@pytest.mark.parametrize(
    "key, words",
    [
        ("account", "There is no account of the data"),
        ("findings", "The data gate has no result"),
        ("evaluation", "There are no metrics: no model was evaluated"),
        ("history", "There is no history"),
        ("model_check", "No model was checked in this run"),
        ("lineage", "Nothing is recorded."),
    ],
)
def test_a_missing_part_is_named(key, words):
    assert words not in render().text
    assert words in render(**{key: None}).text


def test_each_of_several_references_has_a_row_of_its_own():
    found = facts.of_run(label="It is late.\x1eIt has not come.")
    rows = Page(core.render(found)).rows
    assert ["Reference", "It is late.", "–"] in rows
    assert ["Reference 2", "It has not come.", "–"] in rows


def test_a_promotion_tells_what_speaks_for_the_model():
    checks = [
        {"passed": True, "slice": "Overall", "in_words": "accuracy is high"},
        {"passed": None, "slice": "Overall", "in_words": "not judged"},
        {"passed": True, "slice": "language: en", "in_words": "of a slice"},
    ]
    known = {"pushed": {"pushed": True, "version": 2}, "evaluation": {"checks": checks}}
    assert verdicts.verdict(known).reasons == ("accuracy is high",)


def test_a_version_that_has_one_before_it_can_be_rolled_back():
    pushed = {"pushed": True, "version": 7, "destination": "/served models/a/7/"}
    before = {"run_id": "r", "config": {}}
    assert core.roll_back_command(pushed, before) == (
        "mv '/served models/a/7' '/served models/a/retired-7'"
    )
    assert core.roll_back_command(pushed, None) is None
    assert core.roll_back_command({**pushed, "pushed": False}, before) is None
    assert core.roll_back_command(None, before) is None


def test_a_run_of_which_nothing_is_known_still_has_a_page():
    page = Page(core.render({}))
    assert "The run stopped early, before the data was read." in page.text
    assert "There are no metrics" in page.text
    assert "There is no model in production" in page.text
    assert page.rows == []


def test_findings_that_are_none_and_no_findings_are_not_the_same():
    assert "Nothing to object to." in render(findings=[]).text


def test_an_account_without_the_optional_fields_is_shown():
    account = {
        "files": [{"path": "a.csv", "rows_read": 2, "kept": 2, "rejected": {}}],
        "splits": {},
    }
    assert ["a.csv", "2", "2", "0", "0", "–"] in render(account=account).rows


# The verdict


NOT_PUSHED = {"pushed": False, "reasons": ["not blessed by the gate (Evaluator)"]}


def evaluated(**changes):
    return {"evaluation": {**FACTS["evaluation"], "checks": [], **changes}}


FAILED = {
    **FACTS["evaluation"]["checks"][0],
    "passed": False,
    "in_words": "accuracy is below",
}


@pytest.mark.parametrize(
    "changes, reasons",
    [
        (evaluated(checks=[FAILED]), ("accuracy is below",)),
        (
            {**evaluated(checks=[FAILED]), "model_check": {"problems": ["Too slow."]}},
            ("accuracy is below", "Too slow."),
        ),
        (
            evaluated(refused="The candidate gave 2 answers."),
            ("The candidate gave 2 answers.",),
        ),
        (
            {"model_blessed": False},
            ("The gate did not bless the model, and gave no reason.",),
        ),
        ({}, ("not blessed by the gate (Evaluator)",)),
    ],
    ids=["check", "check_and_model", "no_answers", "silent_gate", "pusher"],
)
def test_a_refusal_gives_every_reason(changes, reasons):
    found = verdicts.verdict({**FACTS, "pushed": NOT_PUSHED, **changes})
    assert found.kind == "bad"
    assert found.sentence == (
        "Not promoted: the model was refused, and production is unchanged."
    )
    assert found.reasons == reasons


def test_the_same_model_again_is_told():
    pushed = {**FACTS["pushed"], "created": False}
    assert verdicts.verdict({"pushed": pushed}).sentence == (
        "Nothing to promote: version 7 in production is this very model."
    )


def test_refused_data_is_told_with_the_reasons():
    stop = {"severity": "stop", "message": "The train split has 3 examples."}
    found = verdicts.verdict({"findings": [stop, *FACTS["findings"]]})
    assert found.sentence.startswith("The data was refused: nothing was trained")
    assert found.reasons == ("The train split has 3 examples.",)


# Text of the data

ATTACK = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{ 7*7 }}"


def poisoned(value):
    """The same structure with the attack in every string and every key of text."""
    if isinstance(value, dict):
        data_keys = {"rejected", "splits", "hashes", "examples"}
        return {
            key: {ATTACK + k: v for k, v in part.items()}
            if key in data_keys and isinstance(part, dict)
            else poisoned(part)
            for key, part in value.items()
        }
    if isinstance(value, list):
        return [poisoned(part) for part in value]
    return value + ATTACK if isinstance(value, str) else value


def test_text_of_the_data_is_escaped_wherever_it_turns_up():
    clean, page = Page(core.render(FACTS)), Page(core.render(poisoned(FACTS)))
    assert "<script>alert(1)</script>" in page.text  # Shown as text, and as it is.
    assert "{{ 7*7 }}" in page.text
    assert {tag for tag, _ in page.tags} == {tag for tag, _ in clean.tags}
    assert "<script" not in core.render(poisoned(FACTS)).lower()


def test_reasons_and_problems_are_escaped():
    text = core.render(
        {
            "pushed": {"pushed": False, "reasons": [ATTACK]},
            "model_check": {"problems": [ATTACK]},
        }
    )
    assert "<script" not in text and "<img" not in text


def test_bytes_that_are_not_utf8_do_not_keep_the_page_from_being_written():
    account = copy.deepcopy(FACTS["account"])
    account["files"][0]["first_rejected"][0]["excerpt"] = "caf\udce9"
    assert "caf?" in core.render({"account": account}).encode("utf-8").decode()


# Numbers


@pytest.mark.parametrize(
    "value, shown",
    [(None, "–"), (math.nan, "–"), (0.5, "0.5000"), (1234.5, "1,234.5000")],
)
def test_number(value, shown):
    assert pages.number(value) == shown


@pytest.mark.parametrize(
    "candidate, baseline, shown",
    [(0.5, 0.4, "+0.1000"), (0.4, 0.5, "\u22120.1000"), (0.4, None, "–")],
)
def test_change(candidate, baseline, shown):
    assert pages.change(candidate, baseline) == shown
