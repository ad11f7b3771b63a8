"""The card: what a hub reads, what a person reads, and what it must not tell."""

import copy
import json

import huggingface_hub
import pytest
import yaml

from components.report.card import core as card_core
from tests.components.report import facts
from tests.components.report.card import markdown_page
from tests.components.report.test_core import FACTS as PAGE_FACTS

CONFIG = {
    "data": {"eval_share": 0.2, "split_by": None, "text": "body"},
    "model": {"max_source_tokens": 128, "pooling": "mean"},
    "train": {"epochs": 3, "keep_best": {"metric": "accuracy"}, "dropout": 0.0},
    "gate": {"min_slice_rows": 160},
}
LINEAGE = {
    **PAGE_FACTS["lineage"],
    "checkpoint": "hub:google/bert@0123",
    "own_eval_files": False,
    "config": CONFIG,
}
TEXTS = {
    "rows": 1000,
    "text": {
        "tokens": {"median": 9, "p99": 90, "max": 200},
        "truncated": {"share": 0.125},
        "unknown": {"share": 0.0},
        "scripts": {"shares": {"Latin": 1.0}},
        "languages": {
            "shares": {"en": 0.7, "no": 0.2, "unsure": 0.06, "fr": 0.03, "pcm": 0.01}
        },
    },
}
FACTS = {
    **copy.deepcopy(PAGE_FACTS),
    "lineage": LINEAGE,
    "text_statistics": {"train": TEXTS},
}


def render(**changes):
    return card_core.render({**copy.deepcopy(FACTS), **changes})


def read(card):
    """(front matter, the page below it)."""
    opening, head, body = card.split("---\n", 2)
    assert opening == ""
    return yaml.safe_load(head), markdown_page.read(body)


def evaluated(**changes):
    return {"evaluation": {**FACTS["evaluation"], **changes}}


# The front matter


def test_the_hub_reads_the_front_matter_back():
    card = huggingface_hub.ModelCard(render())
    data = card.data.to_dict()
    assert data["language"] == ["en", "no"]
    assert data["library_name"] == "tf-keras"
    assert data["pipeline_tag"] == "text-classification"
    assert data["base_model"] == "google/bert"
    assert data["metrics"] == ["accuracy"]
    (result,) = card.data.eval_results
    assert (result.task_type, result.metric_type) == ("text-classification", "accuracy")
    assert (result.metric_name, result.metric_value) == ("accuracy", 0.9123)
    assert (result.dataset_name, result.dataset_type, result.dataset_split) == (
        "intents, eval split",
        "custom",
        "eval",
    )
    # Written by the hub's own library it is the same again.
    again = huggingface_hub.ModelCard(card.content)
    assert again.data.to_dict() == data


def test_what_nobody_knows_has_no_key():
    head, _ = read(render(lineage={**LINEAGE, "checkpoint": "/models/bert"}))
    assert "license" not in head and "base_model" not in head
    assert "datasets" not in head
    head, _ = read(card_core.render({}))
    assert set(head) == {"library_name", "tags"}


def test_scores_of_a_text_model_go_by_the_names_of_the_hub():
    metrics = [
        {"slice": "Overall", "model": model, "metric": name, "value": value}
        for model in ("candidate", "untuned")
        for name, value in (("rouge_l", 0.25), ("bleu", 12.5), ("copied", 0.5))
    ]
    card = render(
        lineage={**LINEAGE, "task": "summarization"}, **evaluated(metrics=metrics)
    )
    data = huggingface_hub.ModelCard(card).data
    assert data.pipeline_tag == "summarization"
    assert [
        (r.metric_type, r.metric_name, r.metric_value) for r in data.eval_results
    ] == [
        ("rouge", "rouge_l", 0.25),
        ("sacrebleu", "bleu", 12.5),
    ]
    _, page = read(card)
    assert "Behaviour of the answers" in page.headings
    assert ["copied", "0.5000", "0.5000"] in [row[:3] for row in page.rows]


@pytest.mark.parametrize(
    "shares, sliced, codes",
    [
        ({"en": 0.9, "fr": 0.02}, [], ["en"]),
        ({"en": 0.9, "fr": 0.02}, ["fr", "zz"], ["en", "fr"]),
        ({}, ["en", "english", ""], ["en"]),
        ({"unsure": 1.0}, [], None),
    ],
    ids=["few", "few, and sliced by", "not detected", "unsure"],
)
def test_languages_are_those_of_the_texts(shares, sliced, codes):
    texts = {"text": {**TEXTS["text"], "languages": {"shares": shares}}, "rows": 9}
    keys = {f"language: {code}": {"language": code} for code in sliced}
    if not shares:
        texts["text"]["languages"]["why_none"] = "not installed"
    head, _ = read(render(text_statistics={"train": texts}, **evaluated(slices=keys)))
    assert head.get("language") == codes


# What a person reads


@pytest.mark.parametrize(
    "row",
    [
        ["tickets.csv", "1,234", "1,200", "33", "no label: 30; not UTF-8: 3"],
        ["train", "text", "1,000", "9", "90", "200", "12.5%"],
        ["1", "1.5000", "1.2500"],
        ["Epochs, at most", "3"],
        ["Epoch to export", "best accuracy"],
        ["accuracy", "0.9123 (0.9000 to 0.9500)", "0.9000"],
        ["Overall", "200", "0.9123 (0.9000 to 0.9500)", "0.9000"],
        ["language: en", "150", "0.7500", "–"],
        ["held", "accuracy 0.9123 reaches the floor 0.8000", "200"],
        ["Requests", "1,032"],
        ["Peak memory", "2,346 MB"],
        ["Checkpoint", "hub:google/bert@0123"],
        ["Training code hash", "c" * 64],
        ["SHA-256 of tickets.csv", "ab"],
    ],
    ids=lambda row: row[0],
)
def test_every_section_shows_its_rows(row):
    _, page = read(render())
    assert row in [found[: len(row)] for found in page.rows]


@pytest.mark.parametrize(
    "words",
    [
        "Promoted: version 7 is the model to serve.",
        "Fine-tuned with texttune from google/bert (commit 0123).",
        "The first 128 tokens are read",
        "1,234 rows were read: 1,200 kept, 33 rejected, 1 left out by a limit.",
        "Rows by split: train 1,000, eval 200.",
        "About 20% of the rows are the eval split, chosen by a hash of the text",
        "2 texts have two labels.",
        "Slices of fewer than 160 rows, of which the scores say little: language: en",
        "12.5% of the train texts were cut off at the end.",
        "Move the folder of version 7 away",
    ],
)
def test_it_says_in_words(words):
    assert words in read(render())[1].text


def test_commands_name_the_served_model_and_no_folder_of_this_machine():
    pushed = {**FACTS["pushed"], "destination": "/home/me/serving/intents/7"}
    card = render(pushed=pushed)
    assert "texttune ask --model FOLDER/intents 'your text'" in card
    assert "http://HOST:8501/v1/models/intents:predict" in card
    assert "/home/me" not in card


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"lineage": {**LINEAGE, "own_eval_files": True}}, "has files of its own"),
        (
            evaluated(unknown_labels={"candidate": {"new_one": 4}}),
            "on each of these rows: new_one (4).",
        ),
        (evaluated(left_out={"product": 5}), "5 more slices of product are too small"),
        (
            evaluated(
                differences=[
                    {
                        **{"slice": "Overall", "model": "untuned", "value": 0.01},
                        **{"metric": "accuracy", "low": -0.01, "high": 0.03},
                    }
                ]
            ),
            "It is not shown to be better than the untuned checkpoint",
        ),
        (
            evaluated(
                metrics=[
                    {
                        **{"slice": "Overall", "model": "candidate", "value": 0.5},
                        **{"metric": "accuracy", "low": 0.4, "high": 0.625},
                    }
                ]
            ),
            "small (200 rows): accuracy is known to about ±0.11 only.",
        ),
        (evaluated(checks=[]), "No bound was set that it had to reach."),
        (
            {"lineage": {**LINEAGE, "checkpoint": "create"}},
            "It began with random weights",
        ),
    ],
    ids=["files", "unknown", "small", "no gain", "wide", "no gate", "random"],
)
def test_it_tells_what_the_facts_hold(changes, words):
    assert words in read(render(**changes))[1].text
    assert words not in read(render())[1].text


def test_labels_are_named_and_the_weakest_shown():
    score = {"value": 0.5, "low": None, "high": None}
    labels = [
        {"label": name, "rows": 5, "model": "candidate"}
        | {"f1": {**score, "value": f1}, "precision": score, "recall": score}
        for name, f1 in (("refund", 0.75), ("card", 0.25), ("never_learned", None))
    ]
    pairs = [{"model": "candidate", "label": "card", "prediction": "refund", "rows": 3}]
    found = evaluated(
        labels=labels,
        confusions=pairs,
        unknown_labels={"candidate": {"never_learned": 5}},
    )
    _, page = read(render(**found))
    assert "as far as the eval split has them (2): card, refund." in page.text
    start = page.rows.index(["Label", "Rows", "F1", "Precision", "Recall"])
    assert [row[:3] for row in page.rows[start + 1 : start + 3]] == [
        ["card", "5", "0.2500"],
        ["refund", "5", "0.7500"],
    ]
    assert ["card", "refund", "3"] in page.rows


def test_of_long_tables_the_rest_is_counted():
    epoch = {"loss": 1.5, "validation_loss": 1.25, "seconds": 1.0}
    history = [{**epoch, "epoch": number} for number in range(1, 24)]
    _, page = read(render(history=history))
    assert ["20", "1.5000", "1.2500"] in page.rows
    assert ["21", "1.5000", "1.2500"] not in page.rows
    assert "3 more are in the report of the run." in page.text


def test_the_configuration_can_be_read_back():
    config = {**CONFIG, "data": {"list_separator": "\n\n", "text": "正文"}}
    card = render(lineage={**LINEAGE, "config": config})
    block = card.split("```yaml\n")[1].split("```")[0]
    assert yaml.safe_load(block) == config


# Parts that are missing


@pytest.mark.parametrize(
    "key, words",
    [
        ("account", "There is no account of the data."),
        ("findings", "What the checks of the data found is not recorded."),
        ("evaluation", "It was not evaluated."),
        ("history", "The training is not recorded."),
        ("model_check", "They were not measured."),
        ("lineage", "What the model does is not recorded."),
        ("pushed", "It was not promoted by this run"),
    ],
)
def test_a_missing_part_is_named(key, words):
    assert words not in read(render())[1].text
    assert words in read(render(**{key: None}))[1].text


def test_a_run_of_which_nothing_is_known_has_a_card():
    head, page = read(card_core.render({}))
    assert page.headings[0] == "Model"
    assert "There is no model: the run ended before one was trained." in page.text
    assert page.rows == []


# What it must not tell, and must not become


def test_no_text_of_the_data_gets_into_it():
    secret = "my card ends in 1234"
    found = copy.deepcopy(FACTS)
    found["account"]["files"][0]["first_rejected"][0]["excerpt"] = secret
    stop = {"severity": "stop", "rule": "leaked_text", "examples": [f"{secret} (a)"]}
    stop["message"] = f"Rows of train in eval: 7 of 9: {secret} (a). Take them out."
    found["findings"] = [stop]
    found["evaluation"]["refused"] = f"It failed on 2 texts, such as {secret!r}: why"
    row = {"source": secret, "target": secret, "answers": {}, "scores": {}}
    found["evaluation"]["examples"] = {"metric": "x", "worst": [row]}
    found["model_check"]["problems"] = [f"The model fails on {secret!r}: no reason."]
    for pushed in (None, {"pushed": False, "reasons": []}):
        found["pushed"] = pushed
        card = card_core.render(found)
        assert secret not in card
        assert "The model fails on …" in card
        assert "Stopped the run: Rows of train in eval: 7 of 9." in card


ATTACKS = {
    "html": "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "links": "[x](javascript:alert(1)) ![y](http://example.org/y.png) www.example.org",
    "columns": "a|b||c\\|d",
    "code": "`a` ``` ~~~",
    "lines": "a\n\n# b\r\n---\n* c\u2028d\x00\x1b[31m",
    "dashes": "---",
    "yaml": "a: [b, {c: !!python/object/apply:os.system ['true']}] # d",
    "templates": "{{ 7*7 }}{% raw %}",
    "not utf-8": "caf\udce9 \u202eabc",
    "number": "1. a",
    "nothing": "\x00",
}


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_text_of_the_data_stays_text(attack):
    plain = facts.of_run(text="words", label="other")
    nasty = facts.of_run(text=attack, label=attack)
    for found in (plain, nasty):
        found["lineage"]["own_eval_files"] = False
        found["lineage"]["hashes"][found["title"]] = found["title"]
    clean_head, clean = read(card_core.render(plain))
    card = card_core.render(nasty)
    assert card.encode("utf-8").decode("utf-8") == card
    head, page = read(card)
    assert set(head) == set(clean_head)
    assert page.kinds == clean.kinds
    assert not {"html_block", "html_inline", "link_open", "image"} & page.kinds
    assert [len(row) for row in page.rows] == [len(row) for row in clean.rows]
    assert page.headings[1:] == clean.headings[1:]
    data = huggingface_hub.ModelCard(card).data
    assert [r.metric_value for r in data.eval_results] == [0.5]
    json.dumps(data.to_dict())
