"""A real browser for tests: Debian's Chromium, driven by Playwright.

    @pytest.mark.needs("chromium")
    def test_the_page(chromium):
        page = chromium.new_context().new_page()

A worker starts one browser, since a start costs more than most tests; what a test opened is
closed after it. Playwright's event loop counts as running for as long as the browser does, and
then nothing else could start a loop: it is hidden from tests that use no browser.
"""

import asyncio
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
_BROWSER = "chromium_of_worker"
_loops: list[asyncio.AbstractEventLoop] = []  # Playwright's, while there is a browser


@pytest.fixture(scope="session")
def chromium_of_worker() -> Iterator[Any]:
    """A headless browser, for fixtures that live for a module."""
    program = find("chromium")
    if program is None:
        pytest.skip("chromium is missing; `make system` adds it")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        loop = asyncio.get_running_loop()
        _loops.append(loop)
        browser = playwright.chromium.launch(executable_path=program, args=OPTIONS)
        yield browser
        asyncio._set_running_loop(loop)  # the last test may have hidden it
        browser.close()
        _loops.remove(loop)


@pytest.fixture
def chromium(chromium_of_worker: Any) -> Iterator[Any]:
    """A headless browser. Make a context of your own for each person."""
    before = list(chromium_of_worker.contexts)  # of fixtures that live for a module
    yield chromium_of_worker
    close_contexts(chromium_of_worker, but=before)


def close_contexts(browser: Any, *, but: list[Any]) -> None:
    """Closes all contexts of a browser, with their pages, but some."""
    for context in browser.contexts:
        if context not in but:
            context.close()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Lets Playwright's loop count as running for the tests that use the browser only."""
    if _loops:
        driven = _BROWSER in getattr(item, "fixturenames", ())
        asyncio._set_running_loop(_loops[-1] if driven else None)
