"""The page as a browser shows it, in the machine's own Chromium."""

import shutil

import pytest

from components.report import core
from tests.components.report import facts

pytestmark = pytest.mark.slow

ATTACK = (
    "<script>document.title = 'ran'</script></style></title></svg>"
    "<img src=x onerror=\"document.title = 'ran'\">\"'\udce9"
)
LONG = "w" * 2000
SECTIONS = (
    "verdict changes data training metrics labels examples model_check lineage next"
)
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


@pytest.fixture(scope="module")
def browser():
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not on PATH (Debian: apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"]
        )
        yield browser
        browser.close()


@pytest.fixture
def show(browser, tmp_path):
    """Opens a page with these facts; gives it and what the console said."""
    pages = []

    def open_page(given, **options):
        path = tmp_path / "report.html"
        path.write_text(core.render(given))
        page = browser.new_page(**options)
        pages.append(page)
        said = []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: said.append(request.url))
        page.goto(path.as_uri())
        # All that is folded counts too.
        page.locator("details").evaluate_all("all => all.forEach(d => d.open = true)")
        return page, [line for line in said if line != path.as_uri()]

    yield open_page
    for page in pages:
        page.close()


def test_whole_page_is_shown_without_a_word_of_the_console(show):
    page, said = show(facts.of_run())
    assert said == []
    found = page.locator("section").evaluate_all("all => all.map(s => s.id)")
    assert found == SECTIONS.split()
    assert page.locator("section > h2:visible").count() == len(found)
    assert page.locator("svg:visible").count() == 2


def test_text_of_the_data_does_not_run_and_loads_nothing(show):
    page, said = show(facts.of_run(ATTACK, ATTACK))
    assert said == []
    assert page.title() != "ran"
    assert page.locator("script, img").count() == 0
    assert page.locator("h1").inner_text().startswith("<script>")


@pytest.mark.parametrize(
    "text", ["where is my card", LONG, "我的卡在哪里" * 50, "أين بطاقتي " * 30]
)
def test_page_does_not_scroll_sideways_on_a_phone(show, text):
    page, _ = show(facts.of_run(text, text), viewport={"width": 360, "height": 740})
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width == 360


def test_right_to_left_text_has_its_own_direction(show):
    page, _ = show(facts.of_run("أين بطاقتي"))
    direction = "e => getComputedStyle(e).direction"
    assert page.locator("blockquote").first.evaluate(direction) == "rtl"
    assert page.locator("section > h2").first.evaluate(direction) == "ltr"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_what_lies_behind_it(show, scheme):
    page, _ = show(facts.of_run(), color_scheme=scheme)
    pairs = page.evaluate(COLOURS)
    assert len(pairs) > 5
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
