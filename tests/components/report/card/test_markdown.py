"""Text of the data in Markdown: shown as it is, and nothing else."""

import pytest

from components.report.card import markdown
from tests.components.report.card import markdown_page

NASTY = [
    "<script>alert(1)</script>",
    "<b>&amp;",
    "[x](javascript:alert(1))",
    "![x](http://example.org/x.png)",
    "<http://example.org>",
    "a|b||c",
    "`code` ``more``",
    "```",
    "*a* _b_ **c** ~~d~~",
    "---",
    "- item",
    "+ item",
    "1. item",
    "12) item",
    "# heading",
    "> quote",
    "===",
    "\\| \\",
    ":---",
    "[x]: http://example.org",
    "&lt;script&gt;",
]


@pytest.mark.parametrize("value", NASTY)
@pytest.mark.parametrize("opening", ["* ", "A sentence: ", "| a |\n| --- |\n| "])
def test_text_is_shown_as_it_is(opening, value):
    closing = " |" if opening.startswith("|") else ""
    page = markdown_page.read(f"{opening}{markdown.text(value)}{closing}\n")
    clean = markdown_page.read(f"{opening}words{closing}\n")
    assert page.text == clean.text.replace("words", value)
    assert page.kinds == clean.kinds


def test_an_underscore_within_a_word_needs_no_escape():
    assert markdown.text("macro_f1 0.9123 (0.9 to 0.95)") == (
        "macro_f1 0.9123 (0.9 to 0.95)"
    )


def test_what_looks_like_an_address_is_no_link_of_its_own():
    shown = markdown.text("www.example.org http://example.org a@example.org")
    assert shown == r"www\.example.org http:\//example.org a\@example.org"


@pytest.mark.parametrize(
    "value, line",
    [
        ("a\r\nb\u2028c\x00d\te", "a b c d e"),
        ("caf\udce9", "caf?"),
        ("\u202eabc\u2066", "abc"),
        ("  a  ", "a"),
        ("x" * 500, "x" * 399 + "…"),
    ],
    ids=["line ends", "no UTF-8", "direction", "spaces", "long"],
)
def test_plain_is_one_line_that_a_file_takes(value, line):
    assert markdown.plain(value) == line
    markdown.plain(value).encode("utf-8")


def test_a_block_of_code_is_not_ended_by_what_is_in_it():
    content = "a\n````\n<script>\n"
    block = markdown.code_block(content, "yaml")
    assert block == "`````yaml\na\n````\n<script>\n`````\n"
    assert markdown_page.read(block).kinds == {"fence"}
