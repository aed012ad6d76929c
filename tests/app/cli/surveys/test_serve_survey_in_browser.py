"""The real page and the real server: a blind pass, a second device, and a saved file."""

import csv
import json

import pytest

from tests.app.server.racing import free_port


@pytest.fixture
def invited(run, serve, folder):
    """Serves a survey with passes; the link of one invitation, and how to close and read."""
    port = free_port()
    origin = f"http://127.0.0.1:{port}"
    people = ["--people", "1", "--out", "i.csv", "--origin", origin]
    assert run("survey", "invite", "s.toml", *people)[0] == 0
    serve("--port", str(port))
    with (folder / "i.csv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)

    def close():
        said = run("survey", "close", "s.toml")[1]
        assert run("survey", "report", "s.toml", "--export", "x")[0] == 0
        return said, (folder / "x" / "reports.jsonl").read_text()

    return row["link"], origin, close


def answer(page):
    """Taps the first answers, sends, and lets the minute of the random delay pass."""
    page.click("[data-part=begin]")
    for question in ("a", "b"):
        page.click(f"fieldset[data-question={question}] label[data-option] >> nth=0")
    page.click("[data-part=send]")
    page.clock.fast_forward(61_000)
    page.wait_for_selector("[data-note=sent-sent]:visible")
    return json.loads(page.inner_text("[data-part=bytes]"))["report"]


@pytest.mark.needs("chromium")
def test_an_invitation_serves_one_device(invited, chromium):
    link, _, close = invited
    first, second = chromium.new_context(), chromium.new_context()
    page, other = first.new_page(), second.new_page()
    for each in (page, other):
        each.clock.install()
        each.goto(link)
        assert "#" not in each.url
    sent = answer(page)
    other.click("[data-part=begin]")
    other.wait_for_selector("[data-note=begin-used]:visible")
    page.reload()
    first.close()
    second.close()
    said, reports = close()
    assert "Closed, with 1 report." in said
    assert "Exchanged for a pass: 1 invitation." in said
    assert sent in reports


@pytest.mark.needs("chromium")
def test_a_saved_file_sends_to_the_server(invited, run, folder, chromium):
    link, origin, close = invited
    assert run("survey", "publish", "s.toml", "--out", "public")[0] == 0
    context = chromium.new_context()
    page = context.new_page()
    page.clock.install()
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(f"file://{folder / 'public' / 'page.html'}#{link.partition('#')[2]}")
    sent = answer(page)
    context.close()
    outside = {url for url in requests if not url.startswith("file://")}
    assert outside == {f"{origin}/s/s/exchange", f"{origin}/s/s/report"}
    assert sent in close()[1]


@pytest.mark.needs("chromium")
def test_the_page_offers_itself_as_a_file(invited, folder, chromium):
    link, origin, close = invited
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"{origin}/s/s")
    with page.expect_download() as download:
        page.click("footer a[download]")
    download.value.save_as(folder / "saved.html")
    page.clock.install()
    page.goto(f"file://{folder / 'saved.html'}#{link.partition('#')[2]}")
    sent = answer(page)
    context.close()
    assert sent in close()[1]


@pytest.mark.needs("chromium")
def test_a_page_that_is_open_when_the_survey_closes_says_so(invited, run, chromium):
    link, _, _ = invited
    context = chromium.new_context()
    page = context.new_page()
    page.clock.install()
    page.goto(link)
    page.click("[data-part=begin]")
    page.click("fieldset[data-question=a] label[data-option] >> nth=0")
    assert run("survey", "close", "s.toml")[0] == 0
    page.click("[data-part=send]")
    page.clock.fast_forward(61_000)
    page.wait_for_selector("[data-note=sent-refused]:visible")
    context.close()
