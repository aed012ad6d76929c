"""One changed byte of what a server sends is found, wherever it is."""

import json

import pytest
from starlette.testclient import TestClient

from deniable.app.cli.surveys import page_check, web_client
from deniable.app.cli.surveys.page_check import find_links
from deniable.app.server.application import make_application
from deniable.app.server.survey_pages import hash_pages, pages_of
from deniable.app.server.survey_routes import survey_router
from deniable.surveys.collect.collection import CollectionChoices, SurveyCollection
from deniable.surveys.questionnaire.questionnaire import loads
from tests.app.cli.surveys.conftest import TEXT
from tests.app.cli.surveys.test_simulated_people import Wire

TWO = TEXT.replace("epsilon", 'languages = ["en", "de"]\nepsilon')
for text in ("Test", "Have you?", "Which?", "x", "y"):
    TWO = TWO.replace(f'"{text}"', f'{{ en = "{text}", de = "{text}" }}')


CHOICES = CollectionChoices(mode="open", origin="https://survey.example.org")


class Forger(Wire):
    """A server that changes one of its answers."""

    origin = "http://127.0.0.1"
    target, change = None, None

    def get(self, path):
        page = super().get(path)
        return self.change(page) if path == self.target else page


@pytest.fixture
def check(run, folder, monkeypatch):
    """`check(target, change)`: checks a server with one changed answer, by all three ways."""
    collection = SurveyCollection(loads(TWO), folder / "f", CHOICES)
    collection.close()
    router = survey_router(collection, pages_of(collection), reports_per_hour=1)
    forger = Forger(TestClient(make_application(router, https=False)))
    monkeypatch.setattr(web_client, "WebClient", lambda url: forger)
    hashes = hash_pages(collection.manifest)
    (folder / "h.json").write_text(json.dumps(hashes))
    ways = {
        "own": ["--manifest-hash", hashes["manifest"]],
        "file": ["--hashes", "h.json"],
        "poster": ["--manifest-hash", hashes["manifest"], "--page-hash", hashes["page"]],
    }

    def judge(target=None, change=None):
        forger.target, forger.change = target, change
        return {
            name: run("survey", "check", "http://127.0.0.1/s/s", *way)[:2]
            for name, way in ways.items()
        }

    return judge


def edit(old, new):
    def change(page):
        assert old in page.body
        return type(page)(page.status, page.headers, page.body.replace(old, new, 1))

    return change


def tell(name, value):
    return lambda page: type(page)(page.status, {**page.headers, name: value}, page.body)


def test_an_honest_server(check):
    for status, said in check().values():
        assert status == 0
        assert "coins.js" in said
        assert "?language=de" in said
        assert "saved-de.html" in said


@pytest.mark.parametrize(
    ("target", "change", "words"),
    [
        ("/s/s", edit(b"Have you?", b"Have You?"), "The page was changed"),
        ("/s/s?language=de", edit(b"Have you?", b"Have You?"), "The page ?language=de"),
        ("/s/s/coins.js", edit(b"64", b"32"), "coins.js was changed"),
        ("/s/s/saved-de.html", edit(b"<main>", b"<main> "), "saved-de.html was changed"),
        ("/s/s/page.js", edit(b"use strict", b"Use strict"), "page.js was changed"),
        ("/s/s/page.css", edit(b"{", b" {"), "page.css was changed"),
        ("/s/s", tell("content-security-policy", "default-src *"), "Content-Security-Policy"),
    ],
)
def test_one_changed_byte_is_found(check, target, change, words):
    outcomes = check(target, change)
    assert {status for status, _ in outcomes.values()} == {1}
    assert words in outcomes["own"][1]
    assert words in outcomes["file"][1]
    assert "The page is another one" in outcomes["poster"][1]


@pytest.mark.parametrize(
    ("target", "change", "words"),
    [
        ("/s/s/manifest.json", edit(b'"epsilon":"2"', b'"epsilon":"3"'), "manifest is another"),
        ("/s/s", edit(b"</body>", b"<script src=//evil.example/x></script>"), "elsewhere"),
        ("/s/s", edit(b"</body>", b"<img src=http://127.0.0.1/other>"), "elsewhere"),
        ("/s/s", edit(b"<head>", b"<head><base href=https://evil.example>"), "elsewhere"),
        ("/s/s", tell("set-cookie", "a=b"), "set-cookie"),
        ("/s/s", tell("refresh", "0; url=https://evil.example"), "refresh"),
        ("/s/s", tell("link", "</x.js>; rel=preload"), "link"),
    ],
)
def test_what_no_survey_does_is_found(check, target, change, words):
    for status, said in check(target, change).values():
        assert status == 1
        assert words in said


def test_the_server_is_never_believed(run):
    status, _, problem = run("survey", "check", "http://127.0.0.1/s/s")
    assert status == 2
    assert "would prove nothing" in problem


def test_a_file_that_is_no_list_of_hashes(run, folder):
    (folder / "h.json").write_text("{}")
    status, _, problem = run("survey", "check", "http://127.0.0.1/s/s", "--hashes", "h.json")
    assert status == 2
    assert "h.json is not what" in problem


def test_links_are_found_in_every_element():
    page = "".join(
        f"<{tag} {name}=x></{tag}>"
        for tag, names in page_check._LINKS.items()
        for name in names
    )
    assert len(find_links(page)) == sum(map(len, page_check._LINKS.values()))
