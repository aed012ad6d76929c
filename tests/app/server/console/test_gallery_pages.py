import json
import re
from types import SimpleNamespace

import pytest

import deniable as dp
from deniable.app.server.accounts.identity import Person
from deniable.app.server.console import gallery_pages
from deniable.app.server.questions.question_queue import Job
from tests.app.server.console.test_answer_pages import ask

WARDS = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
COSTS = "SELECT AVG(cost) AS cost FROM visits"


@pytest.fixture(scope="module")
def addresses(hospital):
    """The addresses of an answer to ann and of one to ben."""
    return ask(hospital.visitor("ann"), WARDS, "0.1"), ask(
        hospital.visitor("ben"), COSTS, "0.1"
    )


def listed(page):
    return set(re.findall(r'href="(/console/hospital/releases/\w+)"', page.text))


def test_analysts_see_their_own_and_owners_and_auditors_all(hospital, addresses):
    ann, ben = addresses
    for person, theirs in (
        *(("ann", {ann}), ("ben", {ben}), ("olga", {ann, ben}), ("audrey", {ann, ben})),
    ):
        visitor = hospital.visitor(person)
        for address in theirs:
            visitor.get(address)  # waits for the answer
        page = visitor.get("/console/hospital/releases")
        assert listed(page) == theirs, person
        assert page.text.count(">certificate</a>") == len(theirs)


def test_words_find_questions(hospital, addresses):
    olga = hospital.visitor("olga")

    def search(words):
        return listed(olga.submit("/console/hospital/search", words=words))

    assert search("WARD count") == {addresses[0]}
    assert search("ben avg") == {addresses[1]}
    assert search("") == {*addresses}
    assert search("ben ward") == set()
    shown = olga.submit("/console/hospital/search", words='"><script>')
    assert "<script>" not in shown.text.replace("<script src=", "")


def test_every_price_is_that_of_its_certificate(hospital, addresses):
    olga = hospital.visitor("olga")
    cards = olga.get("/console/hospital/releases").text.split('<li class="card">')[1:]
    assert len(cards) == len(addresses)
    for card in cards:
        address = re.search(r'href="(/console/hospital/releases/\w+)"', card)[1]
        told = olga.get(address.replace("/console/", "/v1/") + ".json").content
        price = json.loads(told)["certificate"]["statement"]["loss"]["epsilon"]
        assert price == "1/10"
        key = dp.verify(told).certificate.fingerprint
        assert f"epsilon 0.1, signed by <code>{key}</code>" in card


def test_older_answers_come_by_a_button_and_are_found_by_words(
    hospital, addresses, monkeypatch
):
    monkeypatch.setattr(gallery_pages, "SHOWN", 1)
    olga = hospital.visitor("olga")
    first = olga.get("/console/hospital/releases")
    older = re.search(r'name="skip" value="([0-9]+)"', first.text)[1]
    second = olga.submit("/console/hospital/search", words="", skip=older)
    assert [len(listed(page)) for page in (first, second)] == [1, 1]
    assert listed(first) | listed(second) == {*addresses}
    assert 'name="skip"' in first.text
    assert 'name="skip"' not in second.text
    for address, words in zip(addresses, ("ward count", "avg cost"), strict=True):
        assert listed(olga.submit("/console/hospital/search", words=words)) == {address}
    monkeypatch.setattr(gallery_pages, "SEARCHED", 1)
    shares = [
        listed(olga.submit("/console/hospital/search", words="avg", skip=skip))
        for skip in ("0", "1")
    ]
    assert sorted(map(len, shares)) == [0, 1]  # one look finds it, the other says to go on
    for odd in ("-1", "x", "1e3", "9" * 30, "٣"):
        assert listed(olga.submit("/console/hospital/search", words="", skip=odd)) == listed(
            first
        )


class FailedQuestions:
    """A queue of failed questions, which only their askers may see."""

    def __init__(self, people):
        outcome = {"kind": "failed", "reference": "x"}
        self.jobs = [
            Job(
                f"{i}", "hospital", name, f"{i}", {"sql": "x"}, "", 0.0, 0.0, 1, outcome=outcome
            )
            for i, name in enumerate(people)
        ]

    def listed(self, policy, person, most, *, skip=0):
        return [job for job in self.jobs if person in (None, job.person)][skip : skip + most]


def look(people, skip=0, tables=("visits",)):
    """What the gallery shows an auditor: the numbers of the questions, and of its button."""
    served, audrey = (
        SimpleNamespace(name="hospital"),
        Person("audrey", "auditor", tables=tables),
    )
    queue = FailedQuestions(people)
    shown, older = gallery_pages.search(queue, served, audrey, "", everybody=True, skip=skip)
    return [int(answer.job.id) for answer in shown], older


def test_questions_that_are_hidden_are_not_counted(monkeypatch):
    monkeypatch.setattr(gallery_pages, "SHOWN", 2)
    people = ["ben", "audrey", "ben", "ben", "audrey", "ben", "audrey", "ben", "ben"]
    assert look(people) == ([1, 4], 2)
    assert look(people, skip=2) == ([6], None)
    assert look(["ben"] * 9) == ([], None)
    assert look(people, tables=None) == ([0, 1], 2)
    monkeypatch.setattr(gallery_pages, "SEARCHED", 1)
    assert look(people, skip=1) == ([4], 2)
    assert look(people, skip=2) == ([6], None)


def test_an_analyst_finds_no_older_answers_of_others(hospital, addresses, monkeypatch):
    monkeypatch.setattr(gallery_pages, "SHOWN", 1)
    ann = hospital.visitor("ann")
    assert listed(ann.get("/console/hospital/releases")) == {addresses[0]}
    assert listed(ann.submit("/console/hospital/search", words="", skip="1")) == set()
