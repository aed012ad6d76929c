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
def test_reloads_on_two_devices(invited, chromium, size):
    """Reloads before Begin, after it, while the report waits, and after it was sent. The second
    device tries all the time."""
    reloads = size(small=1, full=25, what="reloads at each of four moments on two devices")
    link, _, close = invited
    contexts = chromium.new_context(), chromium.new_context()
    page, other = (context.new_page() for context in contexts)
    sent = {"exchange": [], "report": []}
    for each in (page, other):
        each.clock.install()
        each.on(
            "request",
            lambda request: sent.get(request.url.rpartition("/")[2], []).append(
                request.post_data
            ),
        )
        each.goto(link)
        assert "#" not in each.url

    def again(shown, *, on=page, open_link=False):
        for _ in range(reloads):
            if open_link:
                on.goto(link)
            on.reload()
            on.wait_for_selector(f"{shown}:visible")

    again("[data-part=begin]:enabled")
    again("[data-part=begin]:enabled", on=other)
    page.click("[data-part=begin]")
    page.wait_for_selector("[data-step=questions]:visible")
    again("[data-part=begin]:enabled")
    for _ in range(reloads):
        other.reload()
        other.click("[data-part=begin]:enabled")
        other.wait_for_selector("[data-note=begin-used]:visible")
    page.click("[data-part=begin]")
    for question in ("a", "b"):
        page.click(f"fieldset[data-question={question}] label[data-option] >> nth=0")
    page.click("[data-part=send]")
    again("[data-note=sent-waiting]")
    page.clock.fast_forward(61_000)
    page.wait_for_selector("[data-note=sent-sent]:visible")
    again("[data-note=sent-before]")
    again("[data-note=sent-before]", open_link=True)
    again("[data-part=begin]:enabled", on=other, open_link=True)
    for context in contexts:
        context.close()
    assert len({*sent["exchange"]}) == 2  # one for each device
    (body,) = sent["report"]
    said, reports = close()
    assert "Closed, with 1 report." in said
    assert "Exchanged for a pass: 1 invitation." in said
    assert json.loads(body)["report"] in reports


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
def test_an_invitation_is_pasted_into_a_saved_page(invited, run, folder, chromium):
    """People who save the page have no link with an invitation that leads to their file."""
    link, _, close = invited
    assert run("survey", "publish", "s.toml", "--out", "public")[0] == 0
    context = chromium.new_context()
    page = context.new_page()
    page.clock.install()
    page.goto(f"file://{folder / 'public' / 'page.html'}")
    page.fill("[data-part=pasted]:visible", "not an invitation")
    page.click("[data-part=take]")
    page.fill("[data-part=pasted]:visible", link)
    page.click("[data-part=take]")
    sent = answer(page)
    assert link.partition("#")[2] not in page.content()
    assert page.input_value("[data-part=pasted]") == ""
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
