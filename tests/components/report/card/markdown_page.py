"""What a reader of Markdown makes of a text: headings, tables, text and worse."""

import dataclasses

import markdown_it


@dataclasses.dataclass
class Page:
    headings: list[str]
    rows: list[list[str]]  # Of all tables, headings first.
    text: str
    kinds: set[str]  # Of the tokens that do more than show text.


_HARMLESS = {"text", "softbreak", "code_inline", "strong_open", "strong_close"}


def read(markdown: str) -> Page:
    """Without its front matter."""
    parser = markdown_it.MarkdownIt("commonmark").enable(["table", "strikethrough"])
    tokens = parser.parse(markdown)
    page, kinds = Page([], [], "", set()), set()
    for before, token in zip([None, *tokens], tokens, strict=False):
        kinds.add(token.type)
        if token.type == "tr_open":
            page.rows.append([])
        if token.type != "inline":
            continue
        shown = "".join(part.content for part in token.children)
        kinds |= {part.type for part in token.children} - _HARMLESS
        page.text += shown + "\n"
        if before.type == "heading_open":
            page.headings.append(shown)
        if before.type in ("td_open", "th_open"):
            page.rows[-1].append(shown)
    page.kinds = kinds
    return page
