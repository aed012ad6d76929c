"""The truth leaves no trace: in no request, no storage, no address, no document."""

import json
import re

import pytest

from deniable.app.web.survey.page import build_page, read_file
from tests.app.web.survey.stub_server import StubServer
from tests.app.web.survey.surveys_to_take import (
    ALL_KINDS,
    DOPED,
    EVERYTHING,
    TICKED,
    answer,
    begin,
    manifest_of,
    open_page,
    read_reports,
    send,
)

pytestmark = pytest.mark.needs("chromium")

TRACES = """() => [
    document.documentElement.outerHTML, location.href, document.cookie, history.length,
    JSON.stringify(localStorage), JSON.stringify(sessionStorage), window.name,
    JSON.stringify([...document.querySelectorAll("input")].map((x) => [x.value, x.checked])),
]"""


@pytest.fixture
def survey():
    return manifest_of(ALL_KINDS)


@pytest.fixture
def server(survey):
    with StubServer.of_survey(survey) as stub:
        yield stub


def take(chromium, server, seed, truths):
    """All that anyone could see of a person: every request, and what the device keeps."""
    server.requests.clear()
    page = open_page(chromium, server.address, seed=seed)
    begin(page)
    answer(page, **truths)
    send(page)
    seen = page.evaluate(TRACES)
    page.context.close()
    return sorted(
        (m, path, tuple(h.items()), body) for m, path, h, body in server.requests
    ), seen


WEAK = (
    DOPED
    + """
odds = 1.1
[[questions]]
id = "pay"
kind = "number"
text = "Pay?"
low = 0
high = 9000
odds = 1.1
[[questions]]
id = "means"
kind = "multiple-choice"
text = "Which?"
options = ["A", "B", "C"]
odds = 1.1
"""
)


def test_two_truths_are_indistinguishable_when_the_coins_agree(chromium):
    """Requests byte for byte, storage, cookies, address and document: nothing differs."""
    manifest = manifest_of(WEAK)
    with StubServer.of_survey(manifest) as server:
        first = take(chromium, server, 42, {"doped": 0, "pay": "7319", "means": [0]})
        (report,) = read_reports(server, manifest)
        second = take(chromium, server, 42, {"doped": 1, "pay": "12", "means": [1, 2]})
        assert read_reports(server, manifest) == [report]  # the coins agree
    assert first == second
    assert "7319" not in json.dumps([str(part) for part in first])


def test_other_coins_do_make_a_difference(chromium):
    """So the comparison above sees what is sent."""
    manifest = manifest_of(WEAK)
    with StubServer.of_survey(manifest) as server:
        truths = {"doped": 0, "pay": "7319", "means": [0]}
        assert take(chromium, server, 5, truths) != take(chromium, server, 6, truths)


def test_every_report_has_the_same_length(chromium, server, survey):
    lengths = set()
    others = {"doped": 2, "sport": 0, "country": 3, "supplier": [], "means": [], "age": []}
    for truths in (EVERYTHING, {**EVERYTHING, **others, "pay": "0", "hours": "0"}):
        page = open_page(chromium, server.address)
        begin(page)
        answer(page, **truths)
        send(page)
    lengths = {len(body) for body in server.sent()}
    assert len(server.sent()) == 2
    assert len(lengths) == 1


TYPED = (
    "() => [...document.querySelectorAll('[data-question] input[type=text]')].map(x => x.value)"
)


def leave_and_return(page, how):
    if how == "reload":
        page.reload()
        return
    page.goto("about:blank")
    page.go_back()
    page.wait_for_selector("[data-part=begin]:enabled", state="attached")


@pytest.mark.parametrize("how", ["back", "reload"])
def test_nothing_is_ticked_after_back_or_reload(chromium, server, how):
    page = open_page(chromium, server.address)
    begin(page)
    answer(page, **EVERYTHING)
    assert page.evaluate(TICKED) > 5
    leave_and_return(page, how)
    assert page.evaluate(TICKED) == 0
    assert set(page.evaluate(TYPED)) == {""}
    assert (
        page.evaluate("() => JSON.stringify(localStorage) + JSON.stringify(sessionStorage)")
        == "{}{}"
    )


def restores_ticks(chromium, server):
    """Whether the browser gives ticks back. It saves them beside its other work, so now and
    then the way back is quicker and finds nothing saved."""
    page = open_page(chromium, server.address)
    begin(page)
    answer(page, **EVERYTHING)
    leave_and_return(page, "back")
    ticked = page.evaluate(TICKED)
    page.context.close()
    return ticked > 0


def test_without_autocomplete_off_the_browser_gives_answers_back(chromium, survey):
    """The danger is real: this browser restores the ticks of a page that does not forbid it."""
    with StubServer.of_survey(survey) as server:
        path = f"/s/{survey.survey}"
        plain = (
            read_file("page.js")
            .decode()
            .replace('addEventListener("pagehide", forgetAnswers);', "")
        )
        plain = plain.replace(
            '"use strict";', '"use strict"; addEventListener("unload", () => 0);', 1
        )
        text = server.pages[path].decode().replace('autocomplete="off"', "")
        server.pages[path] = re.sub(r' integrity="[^"]*"', "", text).encode()
        server.pages[f"{path}/page.js"] = plain.encode()
        assert any(restores_ticks(chromium, server) for _ in range(20))


def test_after_sending_a_reload_asks_nothing_more(chromium):
    with StubServer.of_survey(manifest_of()) as server:
        page = open_page(chromium, server.address)
        begin(page)
        answer(page, doped=1)
        send(page)
        page.reload()
        page.wait_for_selector("[data-note=sent-before]:not([hidden])")
        assert page.locator("[data-question]").count() == 0
        assert len(server.sent()) == 1


def test_no_request_goes_elsewhere(chromium):
    with StubServer.of_survey(manifest_of()) as server:
        page = open_page(chromium, server.address)
        begin(page)
        answer(page, doped=1)
        send(page)
        assert len(page.addresses) == 7  # the page, a style, four scripts, the report
        assert all(url.startswith(f"{server.origin}/s/doping") for url in page.addresses)
        assert page.context.cookies() == []


def test_a_saved_file_sends_to_its_survey_and_nowhere_else(chromium, server, survey, tmp_path):
    file = tmp_path / "survey.html"
    file.write_bytes(build_page(survey, origin=server.origin, saved=True))
    page = open_page(chromium, file.as_uri())
    begin(page)
    answer(page, **EVERYTHING)
    send(page)
    assert page.addresses == [file.as_uri(), f"{server.origin}/s/doping/report"]
    assert page.messages == []
    assert len(read_reports(server, survey)) == 1
