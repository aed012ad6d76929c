"""Surveys of a server with accounts, in a real browser: drafted, taken and read."""

import json

import pytest

from tests.app.server.console.test_console_in_browser import PAYLOADS, watched
from tests.app.web.axe import violations
from tests.app.web.survey.surveys_to_take import answer, begin, send
from tools.console_screens import enter
from tools.console_server import serve_console, write_small_hospital

pytestmark = pytest.mark.needs("chromium")
HEADINGS = ("title", "who", "why")
DOPING = """
id = "doping"
title = "Doping"
who = "A club"
why = "To know."
epsilon = 2
[[questions]]
id = "doped"
kind = "yes-no"
text = "Did you?"
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serve_console(write_small_hospital(tmp_path_factory.mktemp("polled"))) as server:
        yield server


def keep(page, server, text):
    page.goto(f"{server.url}/console/surveys")
    page.get_by_label("Questionnaire").fill(text)
    page.get_by_role("button", name="Keep the draft").click()
    page.wait_for_selector(".phone")


def test_a_pollster_drafts_and_people_answer_and_the_pollster_reads(chromium, server):
    page, alarms = watched(chromium, server)
    enter(page, server.url, "paul")
    page.goto(f"{server.url}/console/surveys")
    page.get_by_label("Questionnaire").fill("id = 1")
    page.get_by_role("button", name="Keep the draft").click()
    page.wait_for_selector("main > .bad")
    page.goto(f"{server.url}/console")
    page.go_back()  # and no form to send again
    page.wait_for_selector("[name=text]")
    keep(page, server, DOPING)
    phone = page.frame_locator("iframe")
    phone.get_by_role("heading", name="Doping").wait_for()
    phone.get_by_text("REHEARSAL").wait_for()
    page.get_by_label("Questionnaire").fill(DOPING.replace("Did you?", "Have you?"))
    page.get_by_role("button", name="Open the survey").click()
    page.locator("main > .bad", has_text="Save and check it").wait_for()
    page.get_by_label("Questionnaire").fill(DOPING)
    page.get_by_role("button", name="Save and check").click()
    page.get_by_role("button", name="Open the survey").click()
    page.wait_for_selector("#taken")
    page.get_by_role("link", name="All surveys").click()
    page.wait_for_url("**/surveys")
    page.go_back()  # and no form to send again
    page.wait_for_selector("#taken")
    person, person_alarms = watched(chromium, server)
    person.goto(f"{server.url}/s/doping")
    begin(person)
    answer(person, doped=1)
    with person.expect_response("**/s/doping/report") as sent:
        send(person)
    assert sent.value.status == 200
    page.get_by_label("Yes, end it").check()
    page.get_by_role("button", name="Close the survey").click()
    page.wait_for_selector("text=It has ended")
    page.get_by_role("link", name="Results").click()
    page.locator("main", has_text="Did you?").wait_for()
    assert violations(page) == []
    assert alarms == person_alarms == []


def test_the_preview_sends_nothing(chromium, server):
    page, alarms = watched(chromium, server)
    enter(page, server.url, "paul")
    keep(page, server, DOPING.replace('"doping"', '"framed"', 1))
    posted = []
    page.on("request", lambda request: request.method == "POST" and posted.append(request.url))
    page.goto(f"{server.url}/console/preview/framed")
    begin(page)
    answer(page, doped=1)
    with page.expect_console_message(lambda said: "Content Security Policy" in said.text):
        page.get_by_role("button", name="Add chance and send").click()
    assert {text.split()[0] for text in page.evaluate("window.violations")} == {"connect-src"}
    assert posted == []
    assert alarms == []


def hostile_survey():
    """A questionnaire with all payloads: 40 in each question, and as its texts."""
    texts = [text.replace("\n", " ") for text in PAYLOADS]
    assert len(set(texts)) == len(texts) >= 200
    lines = ['id = "hostile"', "epsilon = 9"]
    lines += [f"{name} = {json.dumps(texts[place])}" for place, name in enumerate(HEADINGS)]
    for number, first in enumerate(range(0, len(texts), 40)):
        options = json.dumps(texts[first : first + 40])
        lines += ["[[questions]]", f'id = "q{number}"', 'kind = "single-choice"']
        lines += [f"text = {json.dumps(texts[number + 3])}", f"options = {options}"]
    return "\n".join(lines)


def test_hostile_texts_of_a_survey_run_nowhere(chromium, server):
    page, alarms = watched(chromium, server)
    page.add_init_script("window.hits = []; window.hit = (n) => window.hits.push(n);")
    enter(page, server.url, "paul")
    keep(page, server, hostile_survey())
    told = [page.evaluate("[window.hits, window.violations]")]
    frame = page.wait_for_selector("iframe").content_frame()
    frame.wait_for_url("**/preview/hostile")
    told.append(frame.evaluate("[window.hits, window.violations]"))
    page.get_by_role("button", name="Open the survey").click()
    page.wait_for_selector("#taken")
    for path in ("/console/surveys", "/s/hostile", "/console/surveys/hostile/results"):
        page.goto(f"{server.url}{path}")
        told.append(page.evaluate("[window.hits, window.violations]"))
    assert told == [[[], []]] * 5
    assert alarms == []


def test_all_of_it_works_without_javascript_but_taking_a_survey(chromium, server):
    page = chromium.new_context(java_script_enabled=False).new_page()
    enter(page, server.url, "olga")
    keep(page, server, DOPING.replace('"doping"', '"plain"', 1))
    page.get_by_label("Questionnaire").fill(DOPING.replace('"doping"', '"plain"', 1) + "# a")
    page.get_by_role("button", name="Save and check").click()
    page.get_by_role("button", name="Open the survey").click()
    page.locator("main", has_text="People can take it").wait_for()
    page.goto(f"{server.home}/policy")
    page.get_by_role("button", name="Check the draft").click()
    page.locator("main", has_text="The draft is the policy in force").wait_for()
    page.goto(f"{server.home}/ledger")
    page.get_by_role("button", name="Replay the ledger").click()
    page.locator("main", has_text="The ledger is sound").wait_for()
    page.goto(f"{server.home}/rehearse")
    page.get_by_role("button", name="Rehearse: free").click()
    page.locator("main", has_text="describe no real person").wait_for()
