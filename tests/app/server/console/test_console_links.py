"""Every link of every page leads somewhere, for each person who sees it."""

import html
import re

import pytest

from tests.app.server.console.conftest import open_hospital
from tests.app.server.console.test_answer_pages import COUNTS, ask
from tools.console_server import PEOPLE


@pytest.fixture(scope="module")
def console(tmp_path_factory):
    """A console with an answer of ann, and its address."""
    folder = tmp_path_factory.mktemp("links")
    with open_hospital(folder, surveys=folder / "surveys") as hospital:
        yield hospital, ask(hospital.visitor("ann"), COUNTS, "0.2")


def links_of(page):
    """The addresses of this server that a page leads to."""
    addresses = re.findall(r'(?:href|src)="(/[^"#]*)', page.text)
    return {html.unescape(address) for address in addresses}


@pytest.mark.parametrize("person", [*PEOPLE, ""])
def test_every_link_leads_somewhere(console, person):
    hospital, _ = console
    visitor = hospital.visitor(person)
    waiting, seen = {"/console" if person else "/console/login"}, {}
    while waiting:
        address = waiting.pop()
        page = visitor.get(address)
        seen[address] = page.status_code
        if "text/html" in page.headers["content-type"] and address.startswith("/console"):
            waiting |= links_of(page) - set(seen)
    wrong = {address: status for address, status in seen.items() if status != 200}
    if not person:
        assert wrong.pop("/console") == 401  # which shows the page to log in on
    assert wrong == {}
    assert len(seen) >= (15 if person in ("olga", "ann", "audrey") else 4)


def test_an_auditor_is_offered_nothing_to_ask(console):
    hospital, answer = console
    audrey = hospital.visitor("audrey")
    for path in (answer, "/console/hospital/releases", "/console/hospital/calculator"):
        page = audrey.get(path)
        assert page.status_code == 200
        assert "/ask" not in page.text
    assert "/ask" in hospital.visitor("ann").get(answer).text
