"""The pages as a browser shows them, in the machine's own Chromium."""

import pytest

from components.report import core
from components.report.comparison import page
from components.report.comparison.core import compare
from tests import evaluated
from tests.components.report import facts
from tests.components.report.comparison import sides

pytestmark = pytest.mark.slow

ATTACK = (
    "<script>document.title = 'ran'</script></style></title></svg>"
    "<img src=x onerror=\"document.title = 'ran'\">\"'\udce9"
)
LONG = "w" * 2000
SECTIONS = (
    "verdict changes data training metrics labels examples model_check lineage next"
)
OF_COMPARISON = "verdict changes metrics slices labels examples costs training"
# The colours of every element that has text of its own, and of what lies behind it.
COLOURS = """() => {
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const colour = rgb(getComputedStyle(e).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const found = new Map();
  for (const e of document.querySelectorAll("body *")) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!own) continue;
    const style = getComputedStyle(e);
    const drawn = e.namespaceURI.endsWith("svg") ? style.fill : style.color;
    const pair = [rgb(drawn).slice(0, 3), behind(e)];
    found.set(JSON.stringify(pair), [...pair, e.tagName + "." + e.className]);
  }
  return [...found.values()];
}"""


@pytest.fixture
def show(open_page):
    """Opens the page of a run with these facts."""
    return lambda given, **options: open_page(core.render(given), **options)


@pytest.fixture
def show_two(open_page):
    """Opens the page of two runs."""
    return lambda two, **options: open_page(page.render(compare(*two)), **options)


def test_whole_page_is_shown_without_a_word_of_the_console(show):
    shown, said = show(facts.of_run())
    assert said == []
    found = shown.locator("section").evaluate_all("all => all.map(s => s.id)")
    assert found == SECTIONS.split()
    assert shown.locator("section > h2:visible").count() == len(found)
    assert shown.locator("svg:visible").count() == 2


def test_text_of_the_data_does_not_run_and_loads_nothing(show):
    shown, said = show(facts.of_run(ATTACK, ATTACK))
    assert said == []
    assert shown.title() != "ran"
    assert shown.locator("script, img").count() == 0
    assert shown.locator("h1").inner_text().startswith("<script>")


@pytest.mark.parametrize(
    "text", ["where is my card", LONG, "我的卡在哪里" * 50, "أين بطاقتي " * 30]
)
def test_page_does_not_scroll_sideways_on_a_phone(show, text):
    shown, _ = show(facts.of_run(text, text), viewport={"width": 360, "height": 740})
    width = shown.evaluate("document.documentElement.scrollWidth")
    assert width == 360


def test_right_to_left_text_has_its_own_direction(show):
    shown, _ = show(facts.of_run("أين بطاقتي"))
    direction = "e => getComputedStyle(e).direction"
    assert shown.locator("blockquote").first.evaluate(direction) == "rtl"
    assert shown.locator("section > h2").first.evaluate(direction) == "ltr"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_what_lies_behind_it(show, scheme):
    shown, _ = show(facts.of_run(), color_scheme=scheme)
    pairs = shown.evaluate(COLOURS)
    assert len(pairs) > 5
    assert [pair for pair in pairs if contrast(*pair[:2]) < 4.5] == []


def two_runs(text, label):
    rows = evaluated.rows([label, label, "late", "lost"], sources=[text] * 4)
    names = (label, "late", "lost")
    one = evaluated.labelled([label, "late", "late", label], names)
    other = evaluated.labelled([label, label, "late", "late"], names)
    changed = {"name": text, "fingerprints": {"data": "e" * 64}}
    return sides.side("1", rows, one), sides.side("2", rows, other, **changed)


def test_comparison_is_shown_without_a_word_of_the_console(show_two):
    shown, said = show_two(two_runs("where is my card", "card"))
    assert said == []
    found = shown.locator("section").evaluate_all("all => all.map(s => s.id)")
    assert found == OF_COMPARISON.split()
    assert shown.locator("svg:visible").count() == 2
    assert shown.locator(".verdict > p").inner_text().startswith("No difference in")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_comparison_of_any_text_fits_on_a_phone_and_runs_nothing(show_two, scheme):
    shown, said = show_two(
        two_runs(ATTACK, LONG),
        viewport={"width": 360, "height": 740},
        color_scheme=scheme,
    )
    assert (said, shown.title() == "ran") == ([], False)
    assert shown.locator("script, img").count() == 0
    assert shown.evaluate("document.documentElement.scrollWidth") == 360
    pairs = shown.evaluate(COLOURS)
    assert [pair for pair in pairs if contrast(*pair[:2]) < 4.5] == []


def contrast(one, other):
    """The ratio of WCAG 2."""
    darker, lighter = sorted(map(luminance, (one, other)))
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour):
    parts = [
        c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4
        for c in (part / 255 for part in colour)
    ]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), parts, strict=True))
