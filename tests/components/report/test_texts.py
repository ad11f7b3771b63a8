"""The texts of a run on its page."""

import pytest

from components.report import core, data_shown

GROUPS = {
    "tokens": {"of_rows": 1200, "median": 38, "p99": 148, "max": 4159},
    "truncated": {"of_rows": 1200, "rows": 97, "share": 0.0805},
    "unknown": {"of_rows": 1200, "tokens": 3, "share": 0.0004},
    "scripts": {"of_rows": 1200, "shares": {"Latin": 0.9, "Han": 0.1}},
    "languages": {
        "of_rows": 1200,
        "shares": {"en": 0.8, "zh": 0.1, "unsure": 0.05, "de": 0.04, "fr": 0.01},
    },
    "duplicates": {"of_rows": 1200, "rows": 12, "share": 0.01},
}
STATISTICS = {"train": {"rows": 1200, "text": GROUPS}}


def test_texts_of_each_split_are_a_row():
    page = core.render({"text_statistics": STATISTICS})
    for shown in ("1,200", "38", "148", "4,159", "8.1%", "0.0%", "1.0%"):
        assert f'<td class="n">{shown}</td>' in page
    assert '<td dir="auto">Latin 90.0%, Han 10.0%</td>' in page
    assert '<td dir="auto">en 80.0%, zh 10.0%, unsure 5.0%, de 4.0%, …</td>' in page


def test_target_has_a_row_of_its_own_without_copies():
    target = {name: group for name, group in GROUPS.items() if name != "duplicates"}
    statistics = {"eval": {"rows": 1200, "text": GROUPS, "target": target}}
    source, target = data_shown.text_rows(statistics)
    assert (source.which, source.copies) == ("text", "1.0%")
    assert (target.which, target.copies) == ("target", "–")


def test_languages_that_could_not_be_told_say_why():
    languages = {"of_rows": 0, "shares": {}, "why_none": "not installed"}
    statistics = {"train": {"rows": 1200, "text": {**GROUPS, "languages": languages}}}
    assert data_shown.text_rows(statistics)[0].languages == "not installed"


@pytest.mark.parametrize("statistics", [None, {}])
def test_run_without_statistics_has_no_table_of_texts(statistics):
    assert "<h3>Texts</h3>" not in core.render({"text_statistics": statistics})
