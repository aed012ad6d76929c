"""The browser of the tests: one for a worker, out of the way of tests that use none."""

import asyncio
from types import SimpleNamespace

import pytest

from tools import browser

pytestmark = pytest.mark.needs("chromium")


async def nothing():
    pass


def test_a_test_without_the_browser_can_start_a_loop(chromium, request):
    coroutine = nothing()
    with pytest.raises(RuntimeError, match="running event loop"):
        asyncio.run(coroutine)
    coroutine.close()
    browser.pytest_runtest_setup(SimpleNamespace(fixturenames=["tmp_path"]))
    asyncio.run(nothing())
    browser.pytest_runtest_setup(request.node)
    page = chromium.new_page()  # and the browser obeys as before
    assert page.evaluate("1 + 1") == 2


def test_what_a_test_opened_is_closed(chromium):
    kept, page = chromium.new_context(), chromium.new_context().new_page()
    browser.close_contexts(chromium, but=[kept])
    assert kept in chromium.contexts
    assert page.is_closed()


def test_it_is_one_for_a_worker(chromium, chromium_of_worker):
    assert chromium is chromium_of_worker
