"""The site as people see it, on a phone and on a desk: `python -m tools.pages.screens`.

The site is built first, in build/site, as by `make docs`.
"""

from itertools import product
from pathlib import Path
from typing import Any

from tools.browser import OPTIONS
from tools.pages.__main__ import SITE
from tools.pages.__main__ import main as build
from tools.pages.assembly import ROOT
from tools.system import find

WIDTHS = (320, 1280)
SCHEMES = ("light", "dark")
LONGEST = 4_000  # pixels of a page that are shown
PAGES = [
    *("index", "tutorials/index", "tutorials/first-table", "tutorials/shameful-question"),
    *("how-to/index", "how-to/install", "how-to/choose-epsilon", "how-to/move-here"),
    *("explanation/odds", "explanation/mathematics", "explanation/architecture"),
    *("reference/api/index", "reference/api/noise", "reference/commands", "reference/sql"),
    *("reference/errors/index", "reference/errors/budget-exhausted", "reference/policy-keys"),
    *("reference/comparison", "reference/functions", "reference/guarantees", "faq", "gallery"),
]


def write(folder: Path) -> None:
    """Writes the screens of one page of each kind."""
    from playwright.sync_api import sync_playwright

    if build(["--no-notebooks"]) != 0:
        raise SystemExit("The site could not be built.")
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find("chromium"), args=OPTIONS)
        for width, scheme in product(WIDTHS, SCHEMES):
            _take_all(browser, width, scheme, folder)
        browser.close()


def _take_all(browser: Any, width: int, scheme: str, folder: Path) -> None:
    # A context of its own: the theme keeps the scheme of the first page that it shows.
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    for name in PAGES:
        page.goto((SITE / f"{name}.html").as_uri())
        height = min(LONGEST, page.evaluate("document.documentElement.scrollHeight"))
        page.screenshot(
            path=folder / f"{name.replace('/', '-')}-{width}-{scheme}.png",
            full_page=True,
            clip={"x": 0, "y": 0, "width": width, "height": height},
        )
    context.close()


if __name__ == "__main__":
    write(ROOT / "build" / "screens" / "site")
