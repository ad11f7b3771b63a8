"""Labels, confusions, checks and examples, in the order that a reader wants."""

import pytest

from components.report import core, evaluation_shown
from tests.components.report import facts

EVALUATION = facts.of_run()["evaluation"]
SECTIONS = (
    "verdict changes data training metrics labels examples model_check lineage next"
)


def test_sections_come_in_their_order():
    page = core.render(facts.of_run())
    places = [page.index(f'<section id="{name}">') for name in SECTIONS.split()]
    assert places == sorted(places)


def test_failed_checks_come_first_and_those_that_held_last():
    found = evaluation_shown.check_rows(EVALUATION)
    assert [check.passed for check in found] == [False, None, True]
    assert (found[0].rows, found[0].rows_needed) == (20, 50)


def label(name, value):
    return {"label": name, "rows": 4, "model": "candidate", "f1": {"value": value}}


def test_worst_label_comes_first_and_one_without_a_value_last():
    labels = [label("none", None), label("good", 0.9), label("bad", 0.0)]
    found = evaluation_shown.label_rows({"labels": labels})
    assert [row.label for row in found] == ["bad", "good", "none"]


def test_candidate_comes_before_the_models_it_is_compared_with():
    assert evaluation_shown.in_order(["untuned", "x", "baseline", "candidate"]) == [
        *("candidate", "baseline", "untuned", "x")
    ]
    assert [m for m, _ in evaluation_shown.confusions(EVALUATION)] == [
        *("candidate", "baseline", "untuned")
    ]


def test_labels_never_learned_are_told_with_their_model():
    assert evaluation_shown.unknown_labels(EVALUATION) == [("baseline", "card", 3)]


def test_groups_of_examples_name_the_model_compared_with():
    assert [heading for heading, _ in evaluation_shown.example_groups(EVALUATION)] == [
        "Best answers",
        "Worst answers",
        "Gained: much better than the baseline",
        "Lost: much worse than the baseline",
    ]


@pytest.mark.parametrize("metric, way", [("log_loss", "less"), ("auc", "more")])
def test_meaning_tells_which_way_is_better(metric, way):
    assert evaluation_shown.meaning(metric).endswith(f", {way} is better")


def test_models_that_write_have_no_labels():
    evaluation = {k: v for k, v in EVALUATION.items() if k != "labels"}
    assert "Only a classifier has labels." in core.render({"evaluation": evaluation})


@pytest.mark.parametrize("text", ["</style><script>", "\"'><b>", "\udce9", "w" * 2000])
def test_any_text_leaves_the_tags_as_they_are(text):
    page = core.render(facts.of_run(text, text))
    plain = core.render(facts.of_run())
    page.encode("utf-8")
    for tag in ("<script", "</style", "<b>", "<section", "<table"):
        assert page.count(tag) == plain.count(tag)
