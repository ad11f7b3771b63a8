"""What becomes a closed list, and what the file says of it."""

import pytest

from components.data_gate import reviewed_schema
from components.data_gate.reviewed_schema import Column
from components.example_gen.examples import Example
from components.example_gen.settings import DataSettings
from components.schema_inference import inferring, writing


def rows(n, *, target="ab", **slices):
    """n rows; letters of `target` and of each slice take turns."""
    return [
        Example(
            f"text {i}",
            target[i % len(target)],
            f"r{i}",
            {name: values[i % len(values)] for name, values in slices.items()},
        )
        for i in range(n)
    ]


def infer(train, held, *, task="classification", longest=None, derived=(), **changes):
    names = tuple(train[0].slices)
    settings = DataSettings(
        train="data/a.csv", text="message", target="intent", slices=names, **changes
    )
    return inferring.infer(
        {"train": train, "eval": held},
        settings=settings,
        task=task,
        longest_tokens=longest,
        derived=derived,
    )


def by_name(schema):
    return {column.name: column for column in schema.columns}


def test_labels_are_a_closed_list_with_rows_and_texts_are_not():
    found = by_name(infer(rows(5), rows(2)))
    assert found["target"].values == {"a": 4, "b": 3}
    assert found["text"].values is None and found["example_id"].values is None


def test_label_of_a_single_row_is_listed_too():
    found = by_name(infer(rows(3), rows(1, target="c")))
    assert found["target"].values == {"a": 2, "b": 1, "c": 1}


def test_target_of_a_summary_is_free_text_with_a_limit():
    longest = {"text": 100, "target": 20}
    found = by_name(infer(rows(5), rows(2), task="summarization", longest=longest))
    assert found["target"].values is None
    assert (found["text"].max_tokens, found["target"].max_tokens) == (200, 40)


def test_without_counts_there_is_no_limit_and_the_file_says_so():
    found = by_name(infer(rows(5), rows(2)))
    assert found["text"].max_tokens is None
    assert "No limit on its length" in found["text"].about[1]


@pytest.mark.parametrize(
    "values, closed",
    [
        (["web", ""], True),
        ([f"v{i}" for i in range(50)], True),
        ([f"v{i}" for i in range(51)], False),
        (["web"] * 101 + ["fax"], False),
    ],
    ids=["few", "fifty", "more", "in_one_row"],
)
def test_slice_is_closed_if_its_values_are_few_and_repeat(values, closed):
    found = by_name(infer(rows(102, channel=values), rows(1, channel=values[:1])))
    assert (found["channel"].values is not None) == closed


def test_bands_of_the_length_are_all_listed():
    few = rows(4, text_length=["up to 5 words"])
    found = by_name(infer(few, few, length_bands_words=(5, 9)))
    assert found["text_length"].values == {
        "up to 5 words": 8,
        "6 to 9 words": 0,
        "over 9 words": 0,
    }


def test_language_is_a_closed_list_only_if_it_is_a_column():
    spoken = rows(102, language=["en", "de"])
    found = by_name(infer(spoken, spoken))
    assert found["language"].values == {"de": 102, "en": 102}
    found = by_name(infer(spoken, spoken, derived={"language"}))
    assert found["language"].values is None


@pytest.mark.parametrize("held, minimum", [(1, 1), (2, 1), (9, 4), (100, 20)])
def test_minimum_is_half_of_the_smaller_split(held, minimum):
    assert infer(rows(40), rows(held)).min_rows == minimum


def test_file_says_what_was_inferred():
    values = ["web", 'a "quoted" one', "back\\slash", "", "日本", "#x"]
    train = rows(60, target="ab", **{"sales channel": values})
    schema = infer(train, train, longest={"text": 30})
    columns = reviewed_schema.parse(writing.to_text(schema, "configs/a.yaml"))
    assert columns == {
        "text": Column("text", None, 30, True, 60),
        "target": Column("target", ("a", "b"), 30, True, None),
        "example_id": Column("example_id", None, 30, True, None),
        "sales channel": Column("sales channel", tuple(sorted(values)), 30, True, None),
    }


def test_file_is_for_people_to_read():
    text = writing.to_text(infer(rows(50), rows(9)), "configs/a.yaml")
    assert text.startswith("# Schema of the raw features of configs/a.yaml, made ")
    assert "59 rows (50 train, 9 eval)" in text and "# of a.csv. Review it" in text
    assert '  value: "a"  # 30 rows\n' in text
    assert "column 'message'" in text
    assert max(map(len, text.split("\n"))) <= 88
