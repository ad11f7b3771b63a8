"""The page of a comparison: all its parts, and each of them missing."""

import pytest

from components.report.comparison import page
from components.report.comparison.core import compare
from tests import evaluated
from tests.components.report.comparison import sides

TARGETS = ["fee", "fee", "late", "lost"]
ATTACK = "<script>alert(1)</script>\udce9"


def render(*two):
    return page.render(compare(*two))


def two(text="fee", **changed):
    names = (text, "late", "lost")
    rows = evaluated.rows([text, text, "late", "lost"], sources=[text] * 4)
    a = sides.side("1", rows, evaluated.labelled([text, "late"] * 2, names))
    b = sides.side("2", rows, evaluated.labelled([text] * 4, names), **changed)
    return a, b


def test_text_of_the_data_and_of_the_configuration_is_escaped():
    config = {**two()[0].record["config"], "train": {"seed": ATTACK}}
    shown = render(*two(ATTACK, config=config, name=ATTACK))
    assert "<script>" not in shown
    assert shown.count("&lt;script&gt;") > 5
    shown.encode("utf-8")


def test_configuration_that_differs_is_shown_and_what_does_not_is_not():
    config = {**two()[0].record["config"], "train": {"seed": 7, "lora": {}}}
    shown = render(*two(config=config))
    assert "<code>train.seed</code>" in shown
    assert "model.checkpoint" not in shown
    assert "train.lora" not in shown  # Empty, and not there.


def test_hash_that_differs_is_shortened_and_one_that_is_missing_is_told():
    prints = {"data": "e" * 64, "checkpoint": "c" * 64, "code": {}}
    shown = render(*two(fingerprints=prints))
    assert "d" * 12 + "…" in shown and "e" * 12 + "…" in shown
    assert "checkpoint hash, training code hash (not recorded)" in shown


def test_time_and_speed_stand_side_by_side():
    slower = {"figures": {"requests": 5, "load_seconds": 0.75, "first_seconds": 1.5}}
    found = compare(*two(model_check=slower, seconds=4000.0))
    assert page.cost_rows(found) == [
        ("epochs trained", "1, the best is 1", "1, the best is 1"),
        ("training, all epochs", "20 s", "20 s"),
        ("whole run", "60 s", "4,000 s"),
        ("peak memory of the run", "700 MB", "700 MB"),
        ("served: requests", "5", "5"),
        ("served: load", "0.500 s", "0.750 s"),
        ("served: first", "–", "1.500 s"),
    ]


@pytest.mark.parametrize(
    "missing", ["model_check", "training", "data", "fingerprints", "seconds", "push"]
)
def test_part_that_is_not_recorded_is_passed_over(missing):
    assert "No difference in accuracy" in render(*two(**{missing: None}))


def test_run_without_answers_shows_the_scores_of_both_and_no_difference():
    a, _ = two()
    rows = evaluated.rows(TARGETS)
    b = sides.side("2", rows, evaluated.labelled(TARGETS), kept=False)
    shown = render(a, b)
    assert "Not compared row by row: <bdi" in shown
    assert "B minus A" not in shown
    assert "Without answers of both to the same rows" in shown
    assert "All 3 labels" in shown


def test_model_that_writes_has_no_section_of_labels():
    rows = evaluated.rows(["a b", "c d"])
    one = sides.side("1", rows, evaluated.written(["a b", "x y"]))
    other = sides.side("2", rows, evaluated.written(["a b", "c d"]))
    shown = render(one, other)
    assert 'id="labels"' not in shown and 'href="#labels"' not in shown
    assert "B much better than A (1)" in shown
