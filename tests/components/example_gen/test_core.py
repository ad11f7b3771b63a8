"""components.example_gen.core: rows to examples, splits, and the account of rows."""

import json
import sys

import pytest

from components.example_gen import core
from components.example_gen.account import Account, FileAccount, RejectedRow
from components.example_gen.settings import DataGateSettings
from trainer_module.progress import DataRefused

ANY_SHARE = DataGateSettings(max_rejected_share=1)


def texts(examples):
    return [example.text for example in examples]


def rows_of(count, start=0):
    return "".join(f"text {i},{'ab'[i % 2]}\n" for i in range(start, start + count))


@pytest.fixture
def ingest(write, settings):
    """Ingests a CSV file as a classification task, in two splits by hash."""

    def ingest(content, task="classification", name="data.csv", into=None, **changes):
        path = write(content, name)
        return core.ingest(settings(path, **changes), task, into)

    return ingest


# Splits


def test_explicit_eval_file_is_the_eval_split(write, settings):
    train = write("text,label\none,a\ntwo,b\n", "train.csv")
    held = write("label;text\na;three\n", "eval.csv")
    result = core.ingest(settings(train, eval=held), "classification")
    assert texts(result.splits["train"]) == ["one", "two"]
    assert texts(result.splits["eval"]) == ["three"]
    assert [file.kept for file in result.account.files] == [2, 1]


def test_new_rows_move_no_old_row_between_splits(ingest):
    before = ingest("text,label\n" + rows_of(50)).splits
    after = ingest("text,label\n" + rows_of(30, 50) + rows_of(50)).splits
    assert len(before["eval"]) == 14
    for split in core.SPLITS:
        assert set(texts(before[split])) < set(texts(after[split]))


def test_copies_in_other_case_and_space_stay_on_one_side(ingest):
    copies = "".join(f"Text {i},a\n TEXT  {i} ,a\ntext {i},b\n" for i in range(50))
    splits = ingest("text,label\n" + copies).splits
    sides = [{t.split()[1] for t in texts(splits[name])} for name in core.SPLITS]
    assert not sides[0] & sides[1]
    assert len(splits["train"]) + len(splits["eval"]) == 150


def test_limits_keep_a_stable_sample_in_the_order_of_the_file(ingest):
    content = "text,label\n" + rows_of(50)
    whole = ingest(content).splits
    result = ingest(content, max_train_examples=8, max_eval_examples=2)
    (file,) = result.account.files
    assert (file.rows_read, file.kept, file.left_out) == (50, 10, 40)
    assert file.left_out_by == {"max_train_examples": 28, "max_eval_examples": 12}
    for split, count in (("train", 8), ("eval", 2)):
        kept = result.splits[split]
        assert len(kept) == count
        assert kept == [e for e in whole[split] if e in kept]
    larger = ingest(content, max_train_examples=12).splits["train"]
    assert set(texts(result.splits["train"])) < set(texts(larger))


def test_limit_above_the_rows_there_are_changes_nothing(ingest):
    content = "text,label\n" + rows_of(50)
    assert ingest(content, max_train_examples=999) == ingest(content)


# Slices


def test_text_length_is_derived_where_it_is_no_column(ingest):
    content = "text,label\n" + rows_of(20) + "one two three four,a\n"
    result = ingest(content, slices=("text_length",), length_bands_words=(2, 3))
    found = {e.text: e.slices for rows in result.splits.values() for e in rows}
    assert found["text 1"] == {"text_length": "up to 2 words"}
    assert found["one two three four"] == {"text_length": "over 3 words"}


def test_text_length_of_the_file_wins(ingest):
    rows = "".join(f"text {i},a,long\n" for i in range(20))
    result = ingest("text,label,text_length\n" + rows, slices=("text_length",))
    assert {e.slices["text_length"] for e in result.splits["train"]} == {"long"}


def test_text_length_in_one_of_two_files_is_refused(write, settings):
    train = write("text,label,text_length\none,a,x\n", "train.csv")
    held = write("text,label\ntwo,a\n", "eval.csv")
    with pytest.raises(
        DataRefused, match="train.csv has a column 'text_length' and .*eval.csv has not"
    ):
        core.ingest(
            settings(train, eval=held, slices=("text_length",)), "classification"
        )


LANGUAGE = {"slices": ("language",)}
ENGLISH = "Where is the money that I sent to my landlord?"
GERMAN = "Wo ist das Geld, das ich meinem Vermieter geschickt habe?"
CHINESE = "\u6211\u5bc4\u7ed9\u623f\u4e1c\u7684\u94b1\u5728\u54ea\u91cc"


def languages_of(ingested):
    rows = [row for split in ingested.splits.values() for row in split]
    return {row.text: row.slices["language"] for row in rows}


def test_language_is_found_from_the_text_where_it_is_no_column(ingest):
    content = "text,label\n" + rows_of(20)
    content += f'{ENGLISH},a\n"{GERMAN}",a\n{CHINESE},b\nok,a\n4031,a\n'
    found = languages_of(ingest(content, **LANGUAGE))
    expected = {
        **{ENGLISH: "en", GERMAN: "de", CHINESE: "zh"},
        **{"ok": "unsure", "4031": "unsure"},
    }
    assert {text: found[text] for text in expected} == expected


def test_language_is_found_in_the_text_without_its_control_characters(ingest):
    rows = f'"\x07 {GERMAN}\u200b",a\n'
    content = "text,label\n" + rows_of(20) + rows
    assert languages_of(ingest(content, **LANGUAGE))[GERMAN] == "de"


def test_text_in_several_scripts_has_one_language_each_time(ingest):
    mixed = f"{CHINESE} and this is what I meant, \u0433\u0434\u0435 my money"
    content = "text,label\n" + rows_of(20) + f'"{mixed}",a\n'
    first, second = (ingest(content, **LANGUAGE) for _ in range(2))
    assert first == second
    assert languages_of(first)[mixed] in {"en", "zh", "ru", "unsure"}


def test_empty_text_is_rejected_before_its_language_is_sought(ingest):
    content = "text,label\n" + rows_of(20) + " ,a\n"
    result = ingest(content, gate=ANY_SHARE, **LANGUAGE)
    assert result.account.files[0].rejected == {"empty text": 1}
    assert " " not in languages_of(result)


def test_language_of_a_long_text_is_that_of_its_beginning(ingest):
    long = f"{GERMAN} " * 20 + "where is the money " * 7000
    assert len(long) > 130_000
    content = "text,label\n" + rows_of(20) + f'"{long}",a\n'
    assert languages_of(ingest(content, **LANGUAGE))[long.strip()] == "de"


def test_language_of_the_file_wins_with_its_empty_values(ingest):
    rows = "".join(f"{ENGLISH} {i},a,{'x-y' if i else ''}\n" for i in range(20))
    result = ingest("text,label,language\n" + rows, **LANGUAGE)
    assert set(languages_of(result).values()) == {"x-y", ""}


def test_language_that_only_a_late_record_has_is_a_column(ingest):
    rows = [{"text": f"{ENGLISH} {i}", "label": "ab"[i % 2]} for i in range(150)]
    rows[-1]["language"] = "x-y"
    content = "".join(json.dumps(row) + "\n" for row in rows)
    result = ingest(content, name="data.jsonl", **LANGUAGE)
    assert set(languages_of(result).values()) == {"x-y", ""}


def test_language_in_one_of_two_files_is_refused(write, settings):
    train = write("text,label\none,a\n", "train.csv")
    held = write("text,label,language\ntwo,a,en\n", "eval.csv")
    with pytest.raises(DataRefused, match="eval.csv has a column 'language' and"):
        core.ingest(settings(train, eval=held, **LANGUAGE), "classification")


def test_language_without_the_package_is_refused_with_ways_out(ingest, monkeypatch):
    monkeypatch.setitem(sys.modules, "py3langid", None)
    with pytest.raises(DataRefused, match="run `make setup`. Or take it out of"):
        ingest("text,label\n" + rows_of(20), **LANGUAGE)
    rows = "".join(f"text {i},a,en\n" for i in range(20))
    assert languages_of(ingest("text,label,language\n" + rows, **LANGUAGE))


# The account


def test_account_tells_of_every_row(ingest, tmp_path):
    good = rows_of(20)
    bad = "a,b,c\n ,a\nhi,\n" + '"bell\x07",a\n' + "x" * 100 + ",\n"
    result = ingest("text,label\n" + good + bad, gate=ANY_SHARE)
    account = json.loads(json.dumps(result.account.as_json()))
    (file,) = account["files"]
    assert file["path"] == str(tmp_path / "data.csv")
    assert (file["format"], file["bytes"]) == ("CSV", 11 + len(good) + len(bad))
    assert len(file["sha256"]) == 64
    assert (file["rows_read"], file["kept"], file["left_out"]) == (25, 21, 0)
    assert file["rejected"] == {
        "wrong number of cells": 1,
        "empty text": 1,
        "empty target": 2,
    }
    assert file["characters_removed"] == 1
    assert sum(account["splits"].values()) == 21
    told = [(r["line"], r["reason"], r["excerpt"]) for r in file["first_rejected"]]
    assert told == [
        (22, "wrong number of cells", "a,b,c"),
        (23, "empty text", "| a"),
        (24, "empty target", "hi |"),
        (26, "empty target", "x" * 79 + "…"),
    ]
    assert [row.line for row in result.rejected_rows] == [22, 23, 24, 26]


def test_account_that_does_not_add_up_is_a_bug():
    file = FileAccount("a.csv", "CSV", "", 0, rows_read=3, kept=2)
    with pytest.raises(RuntimeError, match="3 rows were read, and 2 are accounted for"):
        Account([file], {"train": 2}).check()
    file.reject(RejectedRow("a.csv", 2, "empty text", ""))
    with pytest.raises(RuntimeError, match="2 rows were kept, and the splits have 1"):
        Account([file], {"train": 1}).check()
    Account([file], {"train": 1, "eval": 1}).check()


def test_too_many_rejected_rows_are_refused_with_lines_and_the_way_out(
    ingest, tmp_path
):
    read = core.Ingested()
    with pytest.raises(DataRefused) as error:
        ingest("text,label\n" + rows_of(97) + " ,a\n,b\nhi,\n", into=read)
    assert [row.line for row in read.rejected_rows] == [99, 100, 101]
    assert sum(read.account.splits.values()) == 97
    assert str(error.value).replace(str(tmp_path), "") == (
        "/data.csv: 3 of 100 rows (3.0%) cannot be used, and `data.gate."
        "max_rejected_share` allows 1.0%: 2 x empty text (lines 99, 100, like '| a'); "
        "1 x empty target (line 101, like 'hi |'). Correct the rows, or go on "
        "without them: `--set data.gate.max_rejected_share=0.03`."
    )


def test_share_of_rejected_rows_is_held_for_each_file(write, settings):
    train = write("text,label\n" + rows_of(500), "train.csv")
    held = write("text,label\n" + rows_of(9) + ",a\n", "eval.csv")
    with pytest.raises(DataRefused, match="eval.csv: 1 of 10 rows"):
        core.ingest(settings(train, eval=held), "classification")


@pytest.mark.parametrize("share", [0.0, 0.01, 0.0625, 1.0], ids=str)
def test_share_that_the_message_offers_is_enough(ingest, share):
    content = "text,label\n" + rows_of(15) + ",a\n"
    if share < 1 / 16:
        with pytest.raises(DataRefused, match="max_rejected_share=0.063`"):
            ingest(content, gate=DataGateSettings(max_rejected_share=share))
        share = 0.063
    gate = DataGateSettings(max_rejected_share=share)
    assert ingest(content, gate=gate).account.files[0].kept == 15


def test_split_without_rows_is_refused(ingest, write, settings):
    with pytest.raises(DataRefused, match="the eval split is empty .0 of 1 rows."):
        ingest("text,label\nhi,a\n", eval_share=0.01)
    train = write("text,label\nhi,a\n", "train.csv")
    held = write("text,label\n,a\n", "eval.csv")
    with pytest.raises(DataRefused, match="eval.csv: no row can be used"):
        core.ingest(settings(train, eval=held, gate=ANY_SHARE), "classification")


def test_row_and_label_stay_together(ingest):
    rows = "".join(f"row {i},{i}\n" if i % 7 else f",{i}\n" for i in range(300))
    result = ingest("text,label\n" + rows, gate=ANY_SHARE)
    for example in [*result.splits["train"], *result.splits["eval"]]:
        assert example.text == f"row {example.target}"


def test_file_that_changes_while_it_is_read_is_refused(write, settings, monkeypatch):
    path = write("text,label\n" + rows_of(50))

    class Meddler(core.Ingested):
        def example(self, split, example):
            if example.text == "text 10":
                write("text,label\n" + rows_of(60))
            super().example(split, example)

    with pytest.raises(DataRefused, match="the file has changed while it was read"):
        core.ingest(settings(path), "classification", Meddler())


def test_rows_of_several_lines_are_counted_with_the_longest(ingest):
    content = "text,label\n" + rows_of(20) + '"a\n\nc",b\n"a\nb",a\n'
    (file,) = ingest(content).account.files
    assert (file.rows_of_several_lines, file.most_lines) == (2, (3, 22))


def test_sample_of_train_outlasts_a_larger_eval_split(ingest):
    content = "text,label\n" + rows_of(200)

    def sample(eval_share):
        made = ingest(content, max_train_examples=40, eval_share=eval_share)
        return set(texts(made.splits["train"]))

    # A quarter of the train rows move to eval; of the sample no more than its share.
    assert len(sample(0.2) & sample(0.4)) >= 20


def test_first_rejected_rows_for_each_reason_are_shown(ingest):
    bad = " ,a\n" * 7 + "hi,\n"
    (file,) = ingest("text,label\n" + rows_of(20) + bad, gate=ANY_SHARE).account.files
    assert [r.line for r in file.first_rejected] == [22, 23, 24, 25, 26, 29]
    with pytest.raises(
        DataRefused, match=r"7 x empty text .lines 22, .*, 26, \.\.\., like"
    ):
        ingest("text,label\n" + rows_of(20) + bad)


def test_empty_split_names_what_splits(ingest):
    content = "text,label\nhi,a\n"
    with pytest.raises(DataRefused, match="puts each value of 'label' into one split"):
        ingest(content, eval_share=0.01, split_by="label")
