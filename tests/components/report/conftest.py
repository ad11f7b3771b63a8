import shutil

import pytest


@pytest.fixture(scope="module")
def browser():
    """The machine's own Chromium."""
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
def open_page(browser, tmp_path):
    """Opens a page from its HTML; gives it and what the console said."""
    pages = []

    def opened(html, **options):
        path = tmp_path / "page.html"
        path.write_text(html)
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

    yield opened
    for page in pages:
        page.close()
