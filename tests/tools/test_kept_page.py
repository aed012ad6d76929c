"""The page that tests of the survey share is empty when the next one takes it."""

import pytest

from tests.app.web.survey.stub_server import StubServer
from tools.kept_page import KeptPage

pytestmark = pytest.mark.needs("chromium")

HOLDS = "() => [localStorage.length, sessionStorage.length]"
STORE = "() => { localStorage.setItem('a', 1); sessionStorage.setItem('a', 1); }"


@pytest.fixture
def server():
    with StubServer({"/": b"<!doctype html><title>x</title>"}) as stub:
        yield stub


def test_nothing_is_left_for_the_next_test(chromium, server):
    kept = KeptPage(chromium, f"{server.origin}/?")
    server.pages["/?"] = server.pages["/"]
    heard = []
    kept.make_ready()
    page = kept.take({"request": lambda request: heard.append(request.url)})
    page.goto(server.origin)
    assert len(heard) == 1
    page.evaluate(STORE)
    page.set_viewport_size({"width": 320, "height": 600})
    page.context.add_cookies([{"name": "a", "value": "1", "url": server.origin}])
    page.context.set_offline(True)
    other = page.context.new_page()
    kept.clear()
    kept.make_ready()
    assert other.is_closed()
    assert kept.take({}) is page
    page.goto(server.origin)
    assert page.evaluate(HOLDS) == [0, 0]
    assert page.evaluate("innerWidth") == 360
    assert page.context.cookies() == []
    assert len(heard) == 1


def test_it_is_for_one_person_of_a_test(chromium, server):
    kept = KeptPage(chromium, f"{server.origin}/")
    kept.make_ready()
    assert kept.take({}) is not None
    assert kept.take({}) is None


def test_a_page_that_was_closed_is_opened_again(chromium, server):
    kept = KeptPage(chromium, f"{server.origin}/")
    kept.make_ready()
    kept.take({}).context.close()
    kept.clear()
    kept.make_ready()
    assert kept.take({}).title() == "x"
