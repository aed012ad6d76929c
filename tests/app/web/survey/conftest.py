import pytest

from tests.app.web.survey.stub_server import StubServer
from tools.kept_page import KeptPage


@pytest.fixture(scope="session")
def page_of_worker(chromium_of_worker):
    with StubServer({"/": b"<!doctype html><title>nothing</title>"}) as nothing:
        chromium_of_worker.kept = KeptPage(chromium_of_worker, nothing.origin)
        yield chromium_of_worker.kept


@pytest.fixture
def kept_page(page_of_worker):
    page_of_worker.make_ready()
    yield page_of_worker
    page_of_worker.clear()


@pytest.fixture
def chromium(kept_page, chromium):
    """The browser, with a page that `open_page` takes first."""
    return chromium
