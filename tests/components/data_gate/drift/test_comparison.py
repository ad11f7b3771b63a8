"""components.data_gate.drift: each rule fires, not just below, and can be allowed."""

import pathlib
import re
import shlex

import pytest

from components.data_gate.drift import comparison, profile
from components.data_gate.drift.served import Served
from components.example_gen.examples import Example
from components.example_gen.settings import DataSettings
from pipeline.config import load

ROOT = pathlib.Path(__file__).parents[4]
TEXTS = [f"please help with number {n % 7} today" for n in range(200)]
ODD_LABELS = [
    "it's",
    'a "b"',
    "yes",
    "007",
    "x: y",
    "#1",
    "退款",
    "a\u2028b",
    "😀",
    "{a}",
]


def rows(texts=TEXTS, label=lambda n: "ab"[n % 2], prefix="r", **slices):
    return [
        Example(text, label(n), f"{prefix}{n}", dict(slices))
        for n, text in enumerate(texts)
    ]


def served_profile(then, task="classification", columns=None):
    counts = profile.count(then, task)
    made = profile.of(counts, task=task, columns=columns or {})
    return Served("/srv/m/3", 3, made.to_json().encode())


def check(
    now,
    then,
    *,
    held=None,
    task="classification",
    columns=None,
    columns_then=None,
    domains=None,
    **changes,
):
    settings = DataSettings(train="t.csv", text="text", target="label", **changes)
    splits = {"train": now, "eval": rows(prefix="e") if held is None else held}
    if not isinstance(then, Served | None):
        then = served_profile(then, task, columns_then)
    return comparison.check(
        splits,
        {name: profile.count(found, task) for name, found in splits.items()},
        then,
        columns=columns or {},
        domains=domains or {},
        settings=settings,
        task=task,
    )


def told(findings, severity="stop"):
    return [found.rule for found in findings if found.severity == severity]


def options(findings):
    """All `--set` options that are offered, as the shell hands them on."""
    text = " ".join(f.message for f in findings if f.severity == "stop")
    commands = re.findall("`--set (.*?)`(?=[. ])", text)
    return [word for command in commands for word in shlex.split(command)]


def allowed_by(findings):
    """The gate's settings after these options, read as those of a command line."""
    config = load(str(ROOT / "configs" / "minimal.yaml"), options(findings))
    return config.data.gate.model_dump(mode="json")


def test_equal_data_has_no_findings():
    assert check(rows(), rows()) == []


def test_first_run_has_nothing_to_compare_with():
    assert check(rows(), None) == []


# Labels that came or went


def test_new_label_is_stopped_and_its_near_one_named():
    now = rows()
    for n in range(6):
        now[n] = Example(f"text {n}", "refnud", f"n{n}", {})
    then = rows(label=lambda n: ["refund", "b"][n % 2])
    now = [
        Example(r.text, "refund" if r.target == "a" else r.target, r.example_id, {})
        for r in now
    ]
    (found,) = check(now, then, held=rows(label=lambda n: ["refund", "b"][n % 2]))
    assert (found.rule, found.severity) == ("new_label", "stop")
    assert found.allow == "data.gate.allow_new_labels"
    assert found.message == (
        "Labels of the train split that the serving model (version 3) was not trained "
        "on: 1: 'refnud' (6 rows: n0 'text 0', n1 'text 1', n2 'text 2' and 3 more; "
        "did you mean 'refund'?). Each would become a class of its own. Correct them, "
        "or, if they are meant, allow them: "
        "`--set 'data.gate.allow_new_labels=[\"refnud\"]'`."
    )


@pytest.mark.parametrize("name", ODD_LABELS)
def test_what_is_offered_for_a_label_allows_exactly_this_data(name):
    other = rows(label=lambda n: name if n % 20 == 0 else "ab"[n % 2])
    for now, then, rule in (
        (other, rows(), "new_label"),
        (rows(), other, "vanished_label"),
    ):
        findings = check(now, then)
        assert told(findings) == [rule]
        again = check(now, then, gate=allowed_by(findings))
        assert told(again) == [] and told(again, "note") == [rule]


def test_offer_for_new_labels_keeps_those_that_are_allowed_already():
    names = ["old", "new"]
    now = rows(label=lambda n: names[n // 20 % 2] if n % 20 == 0 else "ab"[n % 2])
    findings = check(now, rows(), gate={"allow_new_labels": ["old"]})
    assert allowed_by(findings)["allow_new_labels"] == ["new", "old"]
    assert sorted((f.severity, f.examples[0][:5]) for f in findings) == [
        ("note", "'old'"),
        ("stop", "'new'"),
    ]


def test_label_of_a_reviewed_schema_is_a_persons_decision():
    now = rows(label=lambda n: "c" if n % 20 == 0 else "ab"[n % 2])
    domains = {"target": ["a", "b", "c"]}
    (inferred,) = check(now, rows(), domains=domains)
    assert inferred.severity == "stop"
    (reviewed,) = check(now, rows(), domains=domains, reviewed_schema="s")
    assert reviewed.severity == "note"
    assert reviewed.message.endswith("; the reviewed schema lists them.")


def test_vanished_label_is_stopped_with_the_rows_it_had():
    then = rows(label=lambda n: "c" if n % 20 == 0 else "ab"[n % 2])
    (found,) = check(rows(), then)
    assert found.examples == ("'c' (10 rows then)",)
    assert "could never answer with them" in found.message


def test_summaries_have_no_labels_to_compare():
    now = rows(label=lambda n: f"summary {n} of this")
    then = rows(label=lambda n: f"summary {n} of that")
    held = rows(label=lambda n: f"summary {n} of all", prefix="e")
    assert check(now, then, held=held, task="summarization") == []


# Distributions


@pytest.mark.parametrize("limit, stops", [(0.15, True), (0.25, False)])
def test_label_drift_stops_above_its_limit_only(limit, stops):
    now = rows(label=lambda n: "a" if n % 5 < 4 else "b")  # 80% a, and 50% then.
    found = check(now, rows(), gate={"max_label_drift": limit})
    assert told(found) == (["label_drift"] if stops else [])


def test_label_drift_tells_of_shares_rows_and_a_value_that_is_enough():
    now = rows(label=lambda n: "a" if n % 10 < 9 else "b")
    findings = check(now, rows())
    (found,) = [f for f in findings if f.severity == "stop"]
    assert "40.0% of the rows would have to have another label" in found.message
    assert "'a' 90.0% (then 50.0%), 'b' 10.0% (then 50.0%)" in found.message
    assert found.examples[0] == "r0 'please help with number 0 today'"
    enough = allowed_by(findings)
    assert 0.2 < enough["max_label_drift"] < 0.4
    assert told(check(now, rows(), gate=enough)) == []
    less = {"max_label_drift": enough["max_label_drift"] - 0.001}
    assert told(check(now, rows(), gate=less)) == ["label_drift"]


LONG = [f"{text} {text} {text}" for text in TEXTS]


@pytest.mark.parametrize("share, stops", [(0.3, False), (0.4, True)])
def test_length_drift_stops_above_its_limit_only(share, stops):
    # 200 rows against 200: chance explains 15.6% of the distance.
    now = rows(LONG[: int(200 * share)] + TEXTS[int(200 * share) :])
    assert told(check(now, rows())) == (["length_drift"] if stops else [])


def test_length_drift_tells_of_medians_and_shows_the_longer_rows():
    then = rows([*TEXTS[:190], *LONG[:10]])
    findings = check(rows(LONG), then)
    (found,) = [f for f in findings if f.rule == "length_drift"]
    assert "100.0% have more than 6 words (then 5.0%)" in found.message
    assert "the median is 18 words (then 1 to 6)" in found.message
    assert LONG[0][:39] in found.examples[0]
    assert told(check(rows(LONG), then, gate=allowed_by(findings))) == []


def test_lengths_of_summaries_are_compared_too():
    then = rows(label=lambda n: "short" if n % 2 else "also quite short")
    now = rows(label=lambda n: "a summary of many more words than there were")
    held = rows(label=lambda n: "short" if n % 2 else "also quite short", prefix="e")
    found = check(now, then, held=held, task="summarization")
    assert told(found) == ["target_length_drift"]


@pytest.mark.parametrize("every, stops", [(10, False), (4, True)])
def test_vocabulary_drift_stops_above_its_limit_only(every, stops):
    # Four new words of six in each n-th row: 6.7% and 16.7% of all words.
    new = "quux frob blarg zap today 1"
    now = rows([new if n % every == 0 else text for n, text in enumerate(TEXTS)])
    found = check(now, rows())
    assert told(found) == (["vocabulary_drift"] if stops else [])


def test_vocabulary_drift_names_the_commonest_new_words_and_their_rows():
    now = rows([f"blarg {text} blarg" for text in TEXTS])
    findings = check(now, rows())
    (found,) = [f for f in findings if f.rule == "vocabulary_drift"]
    assert "'blarg' (400 times; rows: r0, r1, r2 and 197 more)" in found.message
    assert "25.0% of the words are not among the frequent ones" in found.message
    assert found.examples[0] == "r0 'blarg please help with number 0 today b…'"
    assert told(check(now, rows(), gate=allowed_by(findings))) == []


def test_each_character_of_chinese_is_a_word():
    then = rows(["我的卡丢了"] * 200)
    held = rows(["我的卡丢了"] * 10)
    assert check(rows(["丢了我的卡"] * 200), then, held=held) == []
    now = rows(["请问怎么退"] * 200)
    assert told(check(now, then, held=held)) == ["vocabulary_drift"]


def test_skew_is_of_the_eval_split_and_one_value_allows_both():
    drifted = rows(label=lambda n: "a" if n % 5 < 4 else "b")
    skewed = rows(label=lambda n: "a" if n % 10 < 9 else "b", prefix="e")
    findings = check(drifted, rows(), held=skewed, gate={"max_label_drift": 0.1})
    assert told(findings) == ["label_drift", "label_skew"]
    assert len(set(options(findings))) == 1
    assert told(check(drifted, rows(), held=skewed, gate=allowed_by(findings))) == []


def test_eval_far_from_train_is_noted_without_a_served_model():
    (found,) = check(rows(), None, held=rows(label=lambda n: "a", prefix="e"))
    assert (found.rule, found.severity) == ("label_of_splits", "note")
    assert "'a' 100.0% (in train 50.0%)" in found.message


# Columns


def test_changed_type_of_a_used_column_stops():
    now, then = {"label": "text", "n": "text"}, {"label": "int64", "n": "int64"}
    findings = check(rows(), rows(), columns=now, columns_then=then)
    assert told(findings) == ["changed_type"] and told(findings, "note") == [
        "changed_type"
    ]
    assert "'label' was int64 and is text" in findings[0].message
    assert "'a' in 'label' (r0)" in findings[0].message
    gate = allowed_by(findings)
    assert gate["allow_changed_types"] == ["label"]
    again = check(rows(), rows(), columns=now, columns_then=then, gate=gate)
    assert told(again) == []


def test_type_that_is_not_known_on_both_sides_is_not_compared():
    columns, then = {"label": "", "text": "int64"}, {"label": "int64", "text": ""}
    assert check(rows(), rows(), columns=columns, columns_then=then) == []


def test_columns_that_came_or_went_are_notes():
    found = check(
        rows(),
        rows(),
        columns={"text": "text", "new": "text"},
        columns_then={"text": "text", "gone": "int64"},
    )
    assert [(f.severity, f.examples) for f in found] == [
        ("note", ("'gone'",)),
        ("note", ("'new'",)),
    ]


@pytest.mark.parametrize("empty, noted", [(40, False), (41, True)])
def test_slice_that_goes_empty_is_noted_above_a_fifth(empty, noted):
    now = rows(channel="web")
    for n in range(empty):
        now[n].slices["channel"] = ""
    found = check(now, rows(channel="web"), slices=["channel"])
    assert told(found) == []
    assert told(found, "note") == (["emptier_slice"] if noted else [])


# Profiles that cannot be used


@pytest.mark.parametrize(
    "served, reason",
    [
        (Served("/srv/m/3", 3, None, "it has none"), "it has none"),
        (Served("/srv/m/3", 3, b"{"), "it is damaged ("),
        (
            served_profile(rows(), "summarization"),
            "it was trained for summarization, and this job is classification",
        ),
    ],
    ids=["none", "damaged", "other_task"],
)
def test_profile_that_cannot_be_used_is_told_and_stops_nothing(served, reason):
    (found,) = check(rows(), served)
    assert (found.rule, found.severity) == ("not_compared", "note")
    assert found.message.startswith(
        "The data was not compared with what the serving model was trained on: of "
        f"version 3 (/srv/m/3) the data profile cannot be used: {reason}"
    )
