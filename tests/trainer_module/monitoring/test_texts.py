"""What users wrote never breaks the page that shows it."""

import html

import pytest
from tensorboard import plugin_util

from trainer_module.loop.events import Sample
from trainer_module.monitoring import texts

HOSTILE = [
    "a | b",
    "**bold** _it_ `code` ~~no~~",
    "# heading",
    "<script>alert(1)</script>",
    "[link](http://example.org) <http://example.org>",
    "![](http://example.org/a.png)",
    r"\| \* C:\new",
    "&lt;b&gt; &amp; AT&T",
    "---|---|---",
    "    code",
]


@pytest.mark.parametrize(
    "text, line",
    [
        ("one\ntwo\r\nthree", "one ⏎ two ⏎ three"),
        ("a\u2028b", "a ⏎ b"),
        ("a\tb\u00a0c", "a b c"),
        ("a\x00b\x02c\ud800", "a\ufffdb\ufffdc\ufffd"),
        ("\u202eabc", "\ufffdabc"),  # Would turn round all that follows.
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("  ", ""),
        ("x" * 101, "x" * 100 + "…"),
        ("x" * 100, "x" * 100),
    ],
)
def test_text_becomes_one_line(text, line):
    assert texts.one_line(text, most_characters=100) == line


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_shown_as_it_is(text):
    shown = plugin_util.markdown_to_safe_html(
        texts.table([Sample(text, "target", "prediction")])
    )
    cells = shown.split("<td>")[1:]
    assert [html.unescape(c.split("</td>")[0]) for c in cells] == [
        text.strip(),
        "target",
        "prediction",
    ]


def test_table_has_a_row_for_each_sample():
    samples = [Sample("a\nb", "c", "d"), Sample("x" * 501, "", "é")]
    assert texts.table(samples) == (
        "| text | target | prediction |\n| --- | --- | --- |\n"
        f"| a ⏎ b | c | d |\n| {'x' * 500}… |  | é |"
    )
