"""Real people's ways through the real server: blind passes, and a page that was saved."""

import csv
import socket

import pytest

from tests.app.web.survey.surveys_to_take import answer, begin, open_page, send

pytestmark = pytest.mark.needs("chromium")


@pytest.fixture
def port():
    """A port that was free a moment ago: links must name it before the server has it."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return str(free.getsockname()[1])


@pytest.fixture
def links(run, serve, folder, port):
    """The links of two invited people. The server runs."""
    words = ["--people", "2", "--out", "i.csv", "--origin", f"http://127.0.0.1:{port}"]
    status, _, problem = run("survey", "invite", "s.toml", *words)
    assert status == 0, problem
    serve("--port", port)
    with (folder / "i.csv").open(encoding="utf-8", newline="") as opened:
        return [row["link"] for row in csv.DictReader(opened)]


def take(browser, link):
    """A person answers. The clock of the browser goes on until the report has left."""
    context = browser.new_context()
    page = context.new_page()
    page.clock.install()
    page.goto(link)
    begin(page)
    answer(page, a=1)
    page.click("[data-part=send]")
    page.clock.fast_forward(60_000)
    page.wait_for_selector("[data-part=receipt]:not([hidden])")
    return context


def test_each_invitation_gives_one_report(chromium, links, run):
    first = take(chromium, links[0])
    again = first.new_page()
    again.goto(links[0])
    again.wait_for_selector("[data-note=sent-before]:not([hidden])")  # the same device
    other = open_page(chromium, links[0])
    other.click("[data-part=begin]:enabled")
    other.wait_for_selector("[data-note=begin-used]:not([hidden])")  # another device
    take(chromium, links[1])
    status, said, _ = run("survey", "close", "s.toml")
    assert status == 0
    assert "Closed, with 2 reports." in said


def test_after_closing_the_page_says_so(chromium, links, run):
    page = open_page(chromium, links[0])
    begin(page)
    answer(page, a=1)
    assert run("survey", "close", "s.toml")[0] == 0
    page.evaluate("() => { systemBits = () => 0n; }")  # leaves at once
    page.click("[data-part=send]")
    page.wait_for_selector("[data-note=sent-refused]:not([hidden])")


def test_a_saved_page_sends_its_report_to_the_server(chromium, run, serve, folder, port):
    serve("--mode", "open", "--origin", f"http://127.0.0.1:{port}", "--port", port)
    page = open_page(chromium, f"http://127.0.0.1:{port}/s/s")
    with page.expect_download() as download:
        page.click("footer a[download]")
    download.value.save_as(folder / "saved.html")
    saved = open_page(chromium, (folder / "saved.html").as_uri())
    begin(saved)
    answer(saved, a=0, b=1)
    send(saved)
    assert saved.messages == []
    status, said, _ = run("survey", "close", "s.toml")
    assert (status, "Closed, with 1 report" in said) == (0, True)
