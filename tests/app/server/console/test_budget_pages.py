import html
import json
import re
from fractions import Fraction

import pytest

import deniable as dp
from deniable.app.server.accounts.people import People
from deniable.app.server.accounts.server_database import ServerDatabase
from deniable.ledger import beginning
from deniable.ledger.beginning import grant_limit
from deniable.ledger.terms import Terms
from tests.app.server.console.conftest import open_hospital
from tests.app.server.console.test_answer_pages import ask


def text_of(page):
    return " ".join(html.unescape(re.sub("<[^>]+>", " ", page.text)).split())


@pytest.fixture(scope="module")
def spent(hospital):
    ann = hospital.visitor("ann")
    ann.get(ask(ann, "SELECT COUNT(*) AS n FROM visits", "0.3"))
    return ann


def test_questions_left_are_those_of_the_interface(hospital, spent):
    shown = text_of(spent.get("/console/hospital/budget"))
    left = spent.get("/v1/hospital/budget").json()["epsilon"]
    assert left == "7/10"
    assert "visits (0.7 left)" in shown
    for price, exact in (("0.01", "1/100"), ("0.1", "1/10"), ("0.5", "1/2")):
        told = {"sql": 'SELECT COUNT(*) FROM "visits"', "epsilon": exact}
        api = spent._send("POST", "/v1/hospital/explain", content=json.dumps(told)).json()
        margin = re.search(r"± ([\d,.]+) at", api["text"])[1]
        more = {1: "one more question"}.get(
            api["how_many"], f"{api['how_many']} more questions"
        )
        assert f"± {margin} {price} {more}" in shown


def test_the_own_budget_is_there_before_the_first_question(hospital):
    ben = hospital.visitor("ben")
    assert ben.get("/v1/hospital/ledger/entries").json() == []
    assert "ben analyst 0 of 1 spent" in text_of(ben.get("/console/hospital/budget"))
    for person in ("ann", "olga", "audrey"):  # nobody else is shown it
        shown = text_of(hospital.visitor(person).get("/console/hospital/budget"))
        assert "ben analyst" not in shown


def test_who_cannot_ask_is_not_told_what_can_be_asked(hospital):
    for person, asks in (("ann", True), ("olga", True), ("audrey", False)):
        shown = text_of(hospital.visitor(person).get("/console/hospital/budget"))
        assert ("Questions that you can still ask" in shown) is asks
        assert (f"{person} analyst" in shown) is asks


def test_who_spent_what_is_for_owners_and_auditors(hospital, spent):
    for person in ("olga", "audrey"):
        page = text_of(hospital.visitor(person).get("/console/hospital/budget"))
        assert "Who spent what" in page
        assert "ann analyst 0.3 of 1 spent" in page
    own = text_of(hospital.visitor("ben").get("/console/hospital/budget"))
    assert "ann" not in own.split()
    assert "What you spent Nothing yet" in own


def test_charges_are_those_of_the_ledger(hospital, spent):
    page = text_of(hospital.visitor("audrey").get("/console/hospital/budget"))
    for entry in hospital.visitor("audrey").get("/v1/hospital/ledger/entries").json():
        time = entry["time"][:16].replace("T", " ")
        assert f"{entry['number']} ann 0.3 visits {time}" in page


def test_a_request_shows_the_owner_how_the_ledger_grants_it(hospital, spent):
    reason = "<b>waiting times</b>"
    response = spent.submit("/console/hospital/budget", epsilon="2.5", reason=reason)
    assert response.status_code == 303
    owner = hospital.visitor("olga")
    page = owner.get("/console/hospital/budget")
    shown = text_of(page)
    assert f"ann asks for a limit of 2.5: {reason} open" in shown
    assert '[analysts."ann"] epsilon = 2.5 delta = 0.0000001' in shown
    assert (
        f"deniable ledger amend --policy {hospital.file} --because 'request 1 of ann'" in shown
    )
    assert "<b>waiting" not in page.text
    number = re.search(r"/requests/(\d+)", page.text)[1]
    there = f"/console/hospital/requests/{number}"
    for person in (spent, hospital.visitor("audrey")):
        assert person.submit(there, act="grant").status_code == 403
    assert owner.submit(there).status_code == 404  # neither yes nor no
    assert "asks for" not in text_of(hospital.visitor("ben").get("/console/hospital/budget"))
    owner.submit(there, act="decline")
    assert "declined" in text_of(spent.get("/console/hospital/budget"))
    assert spent.get("/v1/hospital/budget").json()["epsilon"] == "7/10"  # a wish grants nothing


@pytest.mark.parametrize(
    "fields",
    [
        {"epsilon": "-1", "reason": "x"},
        {"epsilon": "0", "reason": "x"},
        {"epsilon": "0.000", "reason": "x"},
        {"epsilon": "7/3", "reason": "x"},  # a policy cannot state it
        {"epsilon": "1", "reason": "x"},  # as much as there is
        {"epsilon": "2", "reason": ""},
        {"epsilon": "2", "reason": "x" * 501},
        {"epsilon": "9" * 5000, "reason": "x"},
        {"reason": "x"},
    ],
)
def test_a_request_without_a_number_or_a_reason_is_refused(spent, fields):
    refused = spent.submit("/console/hospital/budget", **fields)
    assert refused.status_code == 400
    assert 'role="alert"' in refused.text
    kept = f'name="epsilon" value="{fields.get("epsilon", "")}"'
    assert kept in refused.text  # what was typed is not lost


def test_a_person_cannot_fill_the_owners_list(hospital):
    ben = hospital.visitor("ben")
    statuses = [
        ben.submit("/console/hospital/budget", epsilon="2", reason="more").status_code
        for _ in range(6)
    ]
    assert statuses == [303] * 5 + [400]


@pytest.fixture
def requested(tmp_path):
    """A request of ann's, and where the owner decides on it."""
    with open_hospital(tmp_path) as hospital:
        ann = hospital.visitor("ann")
        ann.submit("/console/hospital/budget", epsilon="2.5", reason="a study")
        page = hospital.visitor("olga").get("/console/hospital/budget").text
        yield hospital, re.search(r'"(/console/hospital/requests/\d+)"', page)[1], page


def last_terms(hospital):
    """The last entry of the ledger that changed its terms."""
    from deniable.ledger.durable_ledger import open_ledger
    from deniable.policy import load

    return open_ledger(load(str(hospital.file)), read_only=True).terms_entry()


def test_the_owner_grants_by_a_click(requested):
    """The limit holds at once and after the next start, and is an entry with its reason."""
    hospital, there, _ = requested
    ann, olga = hospital.visitor("ann"), hospital.visitor("olga")
    before = hospital.file.read_text()
    assert olga.submit(there, act="grant").status_code == 303
    assert "asks for a limit of 2.5: a study granted" in text_of(
        olga.get("/console/hospital/budget")
    )
    assert ann.get("/v1/hospital/budget").json()["epsilon"] == "5/2"
    assert hospital.visitor("ben").get("/v1/hospital/budget").json()["epsilon"] == "1"
    added = hospital.file.read_text().removeprefix(before.rstrip())
    assert added.split() == [
        '[analysts."ann"]',
        "epsilon",
        "=",
        "2.5",
        "delta",
        "=",
        "0.0000001",
    ]
    entry = last_terms(hospital)
    assert entry["because"] == "request 1 of ann: a study (olga)"
    assert [(gift["to"], gift["epsilon"]) for gift in entry["gives"]] == [
        ("analyst:ann", "3/2")
    ]
    assert '[analysts."ann"]' in html.unescape(olga.get("/console/hospital/policy").text)


def test_a_second_grant_raises_the_same_line(requested):
    hospital, there, _ = requested
    ann, olga = hospital.visitor("ann"), hospital.visitor("olga")
    olga.submit(there, act="grant")
    ann.submit("/console/hospital/budget", epsilon="2.75", reason="another")
    assert olga.submit(there.replace("/1", "/2"), act="grant").status_code == 303
    assert hospital.file.read_text().count("[analysts.") == 2
    assert ann.get("/v1/hospital/budget").json()["epsilon"] == "11/4"


def test_what_was_decided_is_not_decided_again(requested):
    """A page that is older than a larger grant, or than a no, changes nothing."""
    hospital, there, _ = requested
    ann, olga = hospital.visitor("ann"), hospital.visitor("olga")
    for epsilon in ("3", "3.5"):
        ann.submit("/console/hospital/budget", epsilon=epsilon, reason="more")
    olga.submit(there.replace("/1", "/2"), act="grant")
    olga.submit(there.replace("/1", "/3"), act="decline")
    written = hospital.file.read_text()
    for number in (1, 2, 3):
        late = olga.submit(there.replace("/1", f"/{number}"), act="grant")
        assert late.status_code == 400
        assert f"Request {number} is not open any more." in text_of(late)
    assert hospital.file.read_text() == written
    assert ann.get("/v1/hospital/budget").json()["epsilon"] == "3"


def test_a_grant_consents_to_nothing_else(requested):
    """An edit of the file that nobody consented to stays out, and the file as it was."""
    hospital, there, _ = requested
    edited = hospital.file.read_text().replace(
        '[analysts."*"]', '[analysts."ben"]\nepsilon = 3\n[analysts."*"]'
    )
    hospital.file.write_text(edited)
    refused = hospital.visitor("olga").submit(there, act="grant")
    assert refused.status_code == 400
    assert "is not the one in force" in text_of(refused)
    assert hospital.file.read_text() == edited
    for name in ("ann", "ben"):
        budget = hospital.visitor(name).get("/v1/hospital/budget").json()
        assert budget["epsilon"] == "1"


@pytest.mark.parametrize("name", ["*", "\uff0a"])  # both are compared as *
def test_who_is_called_like_all_analysts_is_granted_nothing(requested, name):
    hospital, _, _ = requested
    before = hospital.file.read_text()
    with pytest.raises(dp.InvalidPolicy, match="stands for all analysts"):
        grant_limit(
            hospital.file,
            name,
            Fraction(3),
            because="a study",
            in_force=Terms.from_json(last_terms(hospital)["terms"]),
        )
    assert hospital.file.read_text() == before


def test_an_owner_with_some_tables_grants_nothing(requested):
    hospital, there, _ = requested
    people = People(ServerDatabase(hospital.file.parent.parent / "server.sqlite"))
    people.grant("olga", tables=["other"])
    before = hospital.file.read_text()
    assert hospital.visitor("olga").submit(there, act="grant").status_code == 403
    assert hospital.file.read_text() == before


def test_the_lines_and_the_command_grant_what_was_requested(requested):
    """What the owner is told to write is a policy that the ledger takes."""
    from deniable.ledger.beginning import amend_ledger

    hospital, _, page = requested
    told = html.unescape(re.search(r"<pre tabindex=\"0\">(.*?)</pre>", page, re.S)[1])
    lines, command = told.split("\n\n")
    assert command.split()[:3] == ["deniable", "ledger", "amend"]
    hospital.file.write_text(f"{hospital.file.read_text()}\n{lines}\n")
    (gift,) = amend_ledger(hospital.file, because="request 1 of ann")
    assert "ann" in str(gift)


def edit_at(monkeypatch, name, file):
    """Somebody saves the policy by hand in the moment before `name` of a grant runs."""
    act = getattr(beginning, name)

    def edit_first(*given, **how):
        file.write_text(file.read_text() + "# by hand\n")
        return act(*given, **how)

    monkeypatch.setattr(beginning, name, edit_first)


@pytest.mark.parametrize("moment", ["load", "with_analyst_limit"])
def test_an_edit_in_the_moment_of_a_grant_is_kept(requested, monkeypatch, moment):
    hospital, there, _ = requested
    before = hospital.file.read_text()
    edit_at(monkeypatch, moment, hospital.file)
    refused = hospital.visitor("olga").submit(there, act="grant")
    monkeypatch.undo()
    assert refused.status_code == 400
    assert "was edited just now. Nothing was granted" in text_of(refused)
    assert hospital.file.read_text() == before + "# by hand\n"
    assert hospital.visitor("ann").get("/v1/hospital/budget").json()["epsilon"] == "1"
    assert hospital.visitor("olga").submit(there, act="grant").status_code == 303


def test_a_grant_does_not_put_an_edit_in_force_that_was_saved_after_its_line(
    requested, monkeypatch
):
    hospital, there, _ = requested
    edit_at(monkeypatch, "amend_ledger", hospital.file)
    refused = hospital.visitor("olga").submit(there, act="grant")
    assert refused.status_code == 400
    assert "was edited just now. Nothing was granted" in text_of(refused)
    assert hospital.file.read_text().endswith("# by hand\n")
    assert hospital.visitor("ann").get("/v1/hospital/budget").json()["epsilon"] == "1"


def test_an_edit_is_kept_when_the_ledger_refuses_a_grant(requested, monkeypatch):
    hospital, there, _ = requested

    def refuse(path, because, only_if):
        raise dp.LedgerUnavailable("The ledger is away.")

    monkeypatch.setattr(beginning, "amend_ledger", refuse)
    edit_at(monkeypatch, "amend_ledger", hospital.file)
    assert hospital.visitor("olga").submit(there, act="grant").status_code == 400
    assert hospital.file.read_text().endswith("# by hand\n")
