"""The site as people see it, on a phone and on a desk: `python -m tools.pages.screens`.

The site is built first, in build/site, as by `make docs`.
"""

from pathlib import Path
from typing import Any

from tools.browser import OPTIONS
from tools.pages.__main__ import SITE
from tools.pages.__main__ import main as build
from tools.pages.assembly import ROOT
from tools.system import find

WIDTHS = (320, 1280)
PAGES = [
    *("index", "tutorials/first-table", "how-to/choose-epsilon", "how-to/move-here"),
    *("explanation/mathematics", "reference/api/noise", "reference/commands", "gallery"),
    *("reference/errors/budget-exhausted", "reference/comparison", "reference/policy-keys"),
]


def write(folder: Path) -> None:
    """Writes the screens of one page of each kind."""
    from playwright.sync_api import sync_playwright

    if build([]) != 0:
        raise SystemExit("The site could not be built.")
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find("chromium"), args=OPTIONS)
        for width in WIDTHS:
            page = browser.new_context(viewport={"width": width, "height": 900}).new_page()
            for name in PAGES:
                _take(page, name, folder / f"{name.replace('/', '-')}-{width}.png")
        browser.close()


def _take(page: Any, name: str, path: Path) -> None:
    page.goto((SITE / f"{name}.html").as_uri())
    page.screenshot(path=path)


if __name__ == "__main__":
    write(ROOT / "build" / "screens" / "site")
