"""Makes a PNG of a page, for the docs: `scripts/screenshot.py REPORT.html OUT.png`.

Needs the machine's own Chromium (Debian: apt-get install chromium).
"""

import argparse
import pathlib
import shutil
import sys


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", type=pathlib.Path, metavar="REPORT.html")
    parser.add_argument("picture", type=pathlib.Path, metavar="OUT.png")
    parser.add_argument("--width", type=int, default=1100, help="in CSS pixels [1100]")
    parser.add_argument("--height", type=int, help="cut off there [the whole page]")
    parser.add_argument(
        "--section", action="append", metavar="ID", help="no others; may be repeated"
    )
    parser.add_argument("--dark", action="store_true", help="as in a dark theme")
    given = parser.parse_args()
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("chromium is not on PATH; on Debian: apt-get install chromium")
    if not given.page.is_file():
        sys.exit(f"{given.page} is not a file")
    _take(given, chromium)


def _take(given: argparse.Namespace, chromium: str) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"]
        )
        page = browser.new_page(
            viewport={"width": given.width, "height": given.height or 900},
            color_scheme="dark" if given.dark else "light",
        )
        page.goto(given.page.resolve().as_uri())
        if given.section:
            shown = ", ".join(f"#{name}" for name in given.section)
            page.add_style_tag(
                content=f"section:not({shown}), nav {{ display: none; }}"
            )
        page.screenshot(path=given.picture, full_page=given.height is None)
        browser.close()


if __name__ == "__main__":
    main()
