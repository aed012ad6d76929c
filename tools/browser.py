"""A real browser for tests: Debian's Chromium, driven by Playwright.

    @pytest.mark.needs("chromium")
    def test_the_page(chromium):
        page = chromium.new_context().new_page()

It lives for one module, because Playwright's loop must not stay behind for tests that have one.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from tools.system import find

OPTIONS = [
    "--no-sandbox",  # Chromium refuses to run as root with one
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A headless browser. Make a context of your own for each person."""
    program = find("chromium")
    if program is None:
        pytest.skip("chromium is missing; `make system` adds it")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=OPTIONS)
        yield browser
        browser.close()
