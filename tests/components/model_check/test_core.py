"""The verdict on a record of the probe, without any model."""

import copy
import math

import pytest

from components.model_check import core

LIMITS = core.Limits(
    load_seconds=10.0, latency_seconds=0.5, memory_mb=1000.0, model_mb=300.0
)


LATENCY_LIMIT = "at most 0.5 s (`serving.max_latency_seconds`)"


def signature(input_name, outputs):
    return {"inputs": {input_name: "string[None]"}, "outputs": dict(outputs)}


def make_record(texts=("pay", "card"), outputs=core.CLASSIFICATION_OUTPUTS):
    """A record without a fault: every text is answered with itself, in every way."""

    def call(asked, seconds=0.1):
        label = {
            "label": list(asked),
            "score": [0.75] * len(asked),
            "labels": [[text, "other"] for text in asked],
            "scores": [[0.75, 0.25] for _ in asked],
        }
        text = {"text": list(asked)}
        values = label if outputs is core.CLASSIFICATION_OUTPUTS else text
        return {"seconds": seconds, "outputs": values}

    asked = [*texts, ""]
    return {
        "texts": asked,
        "request_count": len(texts),
        "load_seconds": 2.0,
        "peak_memory_mb": 500.0,
        "model_mb": 90.0,
        "signatures": {
            "serving_default": signature("text", outputs),
            "serving_examples": signature("examples", outputs),
        },
        "single": [call([text]) for text in asked],
        "batched": call(asked),
        "examples": call(asked),
        "empty": {"serving_default": call([]), "serving_examples": call([])},
    }


@pytest.mark.parametrize(
    "outputs",
    [core.CLASSIFICATION_OUTPUTS, core.TEXT_OUTPUTS],
    ids=["text_to_label", "text_to_text"],
)
def test_a_record_without_a_fault_has_no_problems(outputs):
    assert core.problems(make_record(outputs=outputs), LIMITS) == []


def test_scores_may_differ_within_the_tolerance():
    record = make_record()
    record["batched"]["outputs"]["score"][1] += 0.9e-4
    assert core.problems(record, LIMITS) == []


def set_output(way, name, row, value):
    def change(record):
        call = record[way][row] if way == "single" else record[way]
        call["outputs"][name][0 if way == "single" else row] = value

    return change


def drop_answer(record):
    for values in record["examples"]["outputs"].values():
        values.pop()


@pytest.mark.parametrize(
    "change, problem",
    [
        (
            set_output("batched", "label", 1, "cash"),
            "serving_default on all texts together answers otherwise than singly to "
            "'card': label = 'cash' instead of 'card'.",
        ),
        (
            set_output("examples", "scores", 0, [0.7, 0.3]),
            "serving_examples on the same texts answers otherwise than singly to "
            "'pay': scores = [0.7, 0.3] instead of [0.75, 0.25].",
        ),
        (
            drop_answer,
            "serving_examples on the same texts: label holds 2 answers to 3 texts.",
        ),
        (
            lambda r: r["single"][0]["outputs"]["label"].append("more"),
            "Asked singly, the model does not give one answer to 'pay': label holds 2 "
            "answers to 1 texts.",
        ),
        (
            lambda r: r["batched"]["outputs"].update(score=0.5),
            "serving_default on all texts together: score has no batch axis.",
        ),
        (
            lambda r: r["empty"].update(serving_default={"error": "Invalid: rank"}),
            "serving_default on a batch without rows: Invalid: rank.",
        ),
        (
            lambda r: r["single"].__setitem__(2, {"error": "Internal: boom"}),
            "Asked singly, the model fails on '': Internal: boom.",
        ),
        (
            lambda r: r["signatures"].pop("serving_examples"),
            "The signature serving_examples is missing. There are ['serving_default'].",
        ),
        (
            lambda r: r["signatures"]["serving_default"]["inputs"].update(
                text="string[]"
            ),
            "serving_default must take one input, text: string[None]. It takes text: "
            "string[].",
        ),
        (
            lambda r: r.update(load_seconds=11.0),
            "Loading takes 11 s; at most 10 s (`serving.max_load_seconds`).",
        ),
        (
            lambda r: r.update(peak_memory_mb=2000.0),
            "Serving takes 2,000 MB; at most 1,000 MB (`serving.max_memory_mb`).",
        ),
        (
            lambda r: r.update(model_mb=301.0),
            "The SavedModel takes 301 MB; at most 300 MB (`serving.max_model_mb`).",
        ),
        (
            lambda r: r["single"][1].update(seconds=0.6),
            f"One text in twenty, or more, takes 0.6 s; {LATENCY_LIMIT}.",
        ),
        (
            lambda r: r.update(request_count=0),
            "There was no text of the eval split to ask the model about.",
        ),
    ],
    ids=[
        "batched_differs",
        "examples_differ",
        "answer_missing",
        "answer_too_many",
        "no_batch_axis",
        "empty_batch_fails",
        "edge_text_fails",
        "signature_missing",
        "input_of_rank_0",
        "slow_to_load",
        "large",
        "heavy",
        "slow_to_answer",
        "no_texts",
    ],
)
def test_one_fault_is_one_problem_in_words(change, problem):
    record = make_record()
    change(record)
    assert core.problems(record, LIMITS) == [problem]


def test_wrong_outputs_are_shown_beside_the_right_ones():
    record = make_record(outputs={"label": "int64"})
    found = core.problems(record, LIMITS)
    assert found[0] == (
        "serving_default must return label: string, labels: string, score: float32, "
        "scores: float32 (text to label) or text: string (text to text). It returns "
        "label: int64."
    )


def test_signatures_of_different_tasks_are_a_problem():
    record = make_record()
    record["signatures"]["serving_examples"]["outputs"] = core.TEXT_OUTPUTS
    assert core.problems(record, LIMITS) == [
        "serving_default and serving_examples must return outputs of the same names."
    ]


@pytest.mark.parametrize("value", [math.nan, math.inf], ids=["nan", "inf"])
def test_a_score_that_is_no_number_is_a_problem_even_if_all_ways_agree(value):
    record = make_record()
    for way in ("single", "batched", "examples"):
        set_output(way, "score", 0, value)(record)
    assert core.problems(record, LIMITS)[0] == (
        f"The model gives no usable answer to 'pay': score = {value}, which is no "
        "number."
    )


def test_bytes_that_are_not_utf8_are_a_problem():
    record = make_record(outputs=core.TEXT_OUTPUTS)
    broken = b"caf\xe9".decode("utf-8", "surrogateescape")
    for way in ("single", "batched", "examples"):
        set_output(way, "text", 0, broken)(record)
    assert core.problems(record, LIMITS) == [
        "The model gives no usable answer to 'pay': text = 'caf\\udce9', which is not "
        "UTF-8."
    ]


def test_many_texts_with_one_fault_are_one_problem():
    record = make_record(texts=[f"text {n}" for n in range(9)])
    record["batched"]["outputs"]["label"] = ["x"] * 10
    (problem,) = core.problems(record, LIMITS)
    assert problem.count("label =") == core.MAX_SHOWN
    assert problem.endswith("; and 7 more texts.")


def test_long_texts_are_cut_in_problems():
    record = make_record(texts=["word " * 5000])
    record["single"][0] = {"error": "boom"}
    (problem,) = core.problems(record, LIMITS)
    assert len(problem) < 150


def test_a_probe_that_failed_is_the_only_problem():
    record = {"failure": "The process was killed."}
    assert core.problems(record, LIMITS) == ["The process was killed."]
    assert core.figures(record) == {}


def test_judging_changes_nothing():
    record = make_record()
    before = copy.deepcopy(record)
    core.problems(record, LIMITS)
    assert record == before


def test_latency_leaves_out_the_first_call_and_the_edge_texts():
    record = make_record(texts=[f"text {n}" for n in range(21)])
    for number, call in enumerate(record["single"]):
        call["seconds"] = number / 100
    record["single"][0]["seconds"] = 5.0  # The first.
    record["single"][-1]["seconds"] = 7.0  # An edge text.
    figures = core.figures(record)
    assert figures["first_latency_seconds"] == 5.0
    assert figures["p95_latency_seconds"] == 0.19
    assert figures["median_latency_seconds"] == 0.10
    assert figures["max_edge_latency_seconds"] == 7.0
    assert (figures["requests"], figures["batch_rows"]) == (21, 22)


def test_the_only_request_counts_although_it_is_the_first():
    record = make_record(texts=["pay"])
    record["single"][0]["seconds"] = 0.7
    assert core.problems(record, LIMITS) == [
        f"One text in twenty, or more, takes 0.7 s; {LATENCY_LIMIT}."
    ]


@pytest.mark.parametrize(
    "values, share, expected",
    [([], 0.95, None), ([3.0], 0.95, 3.0), ([3, 1, 2], 0.5, 2), ([1, 2], 0.95, 2)],
    ids=["none", "one", "median", "two"],
)
def test_quantile(values, share, expected):
    assert core.quantile(values, share) == expected
