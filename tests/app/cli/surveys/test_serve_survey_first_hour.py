"""The first hour of a pollster, from an empty folder to a table with intervals."""

import re

import pytest

from tests.app.cli.surveys.test_serve_survey import fetch


def answer_by_hand(browser, url):
    """One person begins, taps the first answer to each question that is shown, and sends."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(url)
    page.click("[data-part=begin]")
    for question in page.query_selector_all("fieldset[data-question]"):
        if question.is_visible():
            question.query_selector("label[data-option]").click()
    page.click("[data-part=send]")
    page.wait_for_selector("[data-note=sent-sent]:visible")
    sent = page.inner_text("[data-part=bytes]")
    context.close()
    return sent


@pytest.mark.needs("chromium")
def test_the_first_hour(run, serve, folder, chromium, size):
    by_hand = size(small=3, full=10, what="people who answer by hand in the first hour")
    made_up = size(small=100, full=200, what="made-up people in the first hour")
    everybody = by_hand + made_up
    (folder / "s.toml").unlink()
    assert run("survey", "new", "s.toml")[0] == 0
    assert run("survey", "lint", "s.toml")[:2] == (0, "Nothing found.\n")
    status, said, _ = run("survey", "plan", "s.toml", "--people", "5000")
    assert status == 0
    assert "people" in said
    told = serve("--rehearsal")
    receipts = [answer_by_hand(chromium, told["Survey"]) for _ in range(by_hand)]
    assert all(told["Manifest"] in sent for sent in receipts)
    sending = ["--people", str(made_up), "--send", told["Survey"]]
    assert run("survey", "simulate", "s.toml", *sending)[0] == 0
    shown = re.search(r"<strong>([0-9]+)</strong> reports", fetch(told["Results"])[1])
    assert shown[1] == str((everybody - 50) // 50 * 50)  # whole batches; fifty or more wait
    status, said, _ = run("survey", "close", "s.toml", "--rehearsal")
    assert status == 0
    assert f"Closed, with {everybody} reports." in said
    words = said.strip().splitlines()[-1].split("deniable ")[1].split()
    status, said, problem = run(*words)
    assert status == 0, problem
    told_words = " ".join(said.split())
    assert f"{everybody} reports REHEARSAL" in told_words
    assert "Have you used a forbidden substance this year?" in told_words
    assert " to " in told_words  # intervals
    assert "REHEARSAL" in fetch(told["Results"])[1]
