"""The curves: which there are, and what they are drawn with."""

import math

from components.report import curves


def epoch(number, **values):
    return {"epoch": number, "loss": 1.0, "validation_loss": 2.0, **values}


def headings(history):
    return [heading for heading, _ in curves.draw(history)]


def test_without_a_history_there_is_no_curve():
    assert curves.draw(None) == curves.draw([]) == []


def test_metrics_on_two_scales_have_a_curve_each():
    history = [epoch(1, metrics={"loss": 2.0, "rouge_l": 0.2, "bleu": 12.0})]
    assert headings(history) == [
        "Loss by epoch",
        "Metrics on the eval split by epoch",
        "Metrics on another scale",
    ]


def test_history_without_metrics_has_the_losses_only():
    assert headings([epoch(1), epoch(2)]) == ["Loss by epoch"]


def test_values_that_are_not_finite_leave_no_point():
    history = [epoch(1, loss=math.nan, validation_loss=None)]
    assert curves.draw(history) == []


def test_curves_take_the_colours_of_the_page_and_load_nothing():
    ((_, svg),) = curves.draw([epoch(1), epoch(2)])
    assert "var(--curve-1)" in svg and "var(--curve-2)" in svg
    assert "<script" not in svg and "href=" not in svg and "<image" not in svg


def test_names_are_escaped():
    _, (_, svg) = curves.draw([epoch(1, metrics={"<script>": 0.5})])
    assert "<script" not in svg
