"""The page that tests of the survey share is empty when the next one takes it."""

from time import time

import pytest

from tests.app.web.survey.stub_server import StubServer
from tools.kept_page import KeptPage

pytestmark = pytest.mark.needs("chromium")

HOLDS = """() => [
    localStorage.length, sessionStorage.length, name, setTimeout === window.mine,
    matchMedia("(prefers-color-scheme: dark)").matches,
]"""
STORE = """() => {
    localStorage.setItem('a', 1);
    sessionStorage.setItem('a', 1);
    window.name = 'a';
    window.mine = window.setTimeout = () => 7;
}"""
EMPTY = [0, 0, "", False, False]
DATABASE = """() => new Promise((done) => {
    indexedDB.open("a").onsuccess = () => done();
})"""
KEPT = """async () => [
    (await indexedDB.databases()).length, (await caches.keys()).length,
    Math.abs(Date.now() - NOW) < 1e7, window.mine === 8, HOLDS,
]"""


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
    assert page.evaluate(HOLDS) == EMPTY
    assert page.evaluate("innerWidth") == 360
    assert page.context.cookies() == []
    assert len(heard) == 1


LASTING_CHANGES = {
    "clock": lambda page: page.clock.install(time=0),
    "clock of the context": lambda page: page.context.clock.set_fixed_time(0),
    "colours": lambda page: page.emulate_media(color_scheme="dark"),
    "script": lambda page: page.add_init_script("window.mine = 8"),
    "script of the context": lambda page: page.context.add_init_script("window.mine = 8"),
    "route": lambda page: page.route("**/*", lambda route: route.abort()),
    "listener": lambda page: page.on("request", lambda _: None),
    "database": lambda page: page.evaluate(DATABASE),
    "cache": lambda page: page.evaluate("() => caches.open('a').then(() => 0)"),
}


@pytest.mark.parametrize("name", LASTING_CHANGES)
def test_what_cannot_be_taken_back_closes_the_page(chromium, server, name):
    kept = KeptPage(chromium, f"{server.origin}/")
    kept.make_ready()
    page = kept.take({})
    page.goto(server.origin)
    LASTING_CHANGES[name](page)
    kept.clear()
    assert page.is_closed()
    kept.make_ready()
    new = kept.take({})
    new.goto(server.origin)
    text = KEPT.replace("NOW", str(int(time() * 1000))).replace("HOLDS", f"({HOLDS})()")
    assert new.evaluate(text) == [0, 0, True, False, EMPTY]


def test_a_page_that_was_at_two_sites_is_closed(chromium, server):
    kept = KeptPage(chromium, f"{server.origin}/")
    kept.make_ready()
    page = kept.take({})
    with StubServer(dict(server.pages)) as other:
        for stub in (other, server):
            page.goto(stub.origin)
    kept.clear()
    assert page.is_closed()


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
