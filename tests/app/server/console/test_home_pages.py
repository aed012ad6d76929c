import re
from fractions import Fraction

import pytest

from deniable.app.server.console.console import CONTENT_POLICY
from tools.console_server import PASSWORD, PEOPLE


def test_nobody_sees_the_log_in_page_which_leads_back(hospital):
    nobody = hospital.visitor("")
    shown = nobody.get("/console")
    assert (shown.status_code, shown.headers["www-authenticate"]) == (401, "Bearer")
    assert '<input type="hidden" name="after" value="/console">' in shown.text
    assert nobody.get("/").headers["location"] == "/console"
    assert nobody.get("/console/login").status_code == 200


@pytest.mark.parametrize("person", PEOPLE)
def test_everybody_logs_in_and_out(hospital, person):
    nobody = hospital.visitor("")
    given = {"name": person, "password": PASSWORD, "code": "", "after": "/console"}
    begun = nobody.post("/console/login", given)
    assert (begun.status_code, begun.headers["location"]) == (303, "/console")
    nobody.session = begun.cookies["__Host-deniable"]
    home = nobody.get("/console")
    assert home.status_code == 200
    assert f"{person} <small>{PEOPLE[person]}</small>" in home.text
    token = nobody.token()
    ended = nobody.post("/console/logout", {"form_token": token})
    assert ended.headers["location"] == "/console/login"
    assert nobody.get("/console").status_code == 401


@pytest.mark.parametrize(
    "after", ["//evil.example", "https://evil.example", "/console/../v1", "/console\\evil", ""]
)
def test_logging_in_leads_to_pages_of_the_console_only(hospital, after):
    given = {"name": "ann", "password": PASSWORD, "after": after}
    begun = hospital.visitor("").post("/console/login", given)
    assert begun.headers["location"] == "/console"


def test_a_session_that_has_ended_leads_back_to_the_page(hospital):
    nobody = hospital.visitor("")
    for seen, leads in (
        ("https://localhost/console/hospital/ask", "/console/hospital/ask"),
        ("https://localhost/console//evil.example", "/console"),
        ("", "/console"),
    ):
        sent = {"HX-Request": "true", "HX-Current-URL": seen}
        ended = nobody.post("/console/hospital/preview", {}, headers=sent)
        assert (ended.status_code, ended.headers["hx-redirect"]) == (401, leads)
    back = nobody.get("/console/hospital/ask")  # as the browser does then
    assert '<input type="hidden" name="after" value="/console/hospital/ask">' in back.text


def test_a_page_that_is_not_for_a_role_says_so(hospital):
    refused = hospital.visitor("audrey").get("/console/hospital/ask")
    assert refused.status_code == 403
    assert "Your role does not open this page." in refused.text
    older = hospital.visitor("ann").post("/console/hospital/rehearse", {"form_token": "0" * 32})
    assert older.status_code == 403
    assert "from before your last log-in" in older.text


def test_a_preview_that_is_refused_is_no_page_within_a_page(hospital):
    ann = hospital.visitor("ann")
    sent = {"form_token": "0" * 32}
    part = ann.post("/console/hospital/preview", sent, headers={"HX-Request": "true"})
    assert (part.status_code, "<html" in part.text) == (403, False)
    assert "from before your last log-in" in part.text
    assert "Nothing was spent" in part.text
    assert part.headers["content-security-policy"] == CONTENT_POLICY


def test_an_address_that_is_not_there_is_a_page_for_people(hospital):
    nobody = hospital.visitor("")
    by_hand = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    for path in ("/nowhere", "/s/no-survey", "/public/none"):
        shown = nobody.get(path, headers=by_hand)
        assert (shown.status_code, shown.headers["content-type"][:9]) == (404, "text/html")
        assert "There is nothing here for you." in shown.text
        assert "Back to the start" not in shown.text  # which is for those with an account
        assert shown.headers["content-security-policy"] == CONTENT_POLICY
    assert nobody.get("/nowhere").json()["status"] == 404  # for programs
    who = nobody.get("/who", headers=by_hand)
    assert (who.status_code, "www-authenticate" in who.headers) == (401, True)
    told = nobody.get("/v1/hospital/budget", headers=by_hand)
    assert (told.status_code, told.json()["type"]) == (401, "/problems/not-authenticated")


def test_a_wrong_password_is_one_answer_and_names_nobody(hospital):
    texts = set()
    for name in ("ann", "nobody at all"):
        given = {"name": name, "password": "wrong horse battery"}
        refused = hospital.visitor("").post("/console/login", given)
        assert refused.status_code == 401
        texts.add(refused.text.replace(name, "NAME"))
    assert len(texts) == 1
    assert 'role="alert"' in texts.pop()


def test_a_form_from_elsewhere_changes_nothing(hospital):
    ann = hospital.visitor("ann")
    token = ann.token()
    assert ann.post("/console/logout", {}).status_code == 403
    assert ann.post("/console/logout", {"form_token": "0" * 32}).status_code == 403
    other = hospital.visitor("ben").token()
    assert ann.post("/console/logout", {"form_token": other}).status_code == 403
    away = {"Sec-Fetch-Site": "cross-site"}
    fields = {"form_token": token}
    assert ann.post("/console/logout", fields, headers=away).status_code == 403
    assert ann.get("/console").status_code == 200


def test_pages_load_nothing_from_elsewhere_and_are_not_stored(hospital):
    ann = hospital.visitor("ann")
    for path in ("/console", "/console/login", "/console/nowhere/ask"):
        shown = ann.get(path)
        assert shown.headers["content-security-policy"] == CONTENT_POLICY
        assert shown.headers["cache-control"] == "no-store"
    assert "unsafe" not in CONTENT_POLICY
    style = ann.get("/console-files/console.css")
    assert style.headers["content-type"].startswith("text/css")
    assert ann.get("/console-files/console.py").status_code == 404


def test_home_says_what_is_left_as_the_interface_does(hospital):
    for person, asks in (("ann", True), ("olga", True), ("audrey", False), ("otto", False)):
        visitor = hospital.visitor(person)
        home = visitor.get("/console").text
        assert ("left." in home) == asks
        if asks:
            left = Fraction(visitor.get("/v1/hospital/budget").json()["epsilon"])
            assert f"You have epsilon {left} left." in home


def test_a_failure_is_a_page_for_people_and_a_problem_for_programs(hospital, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError("secret words")

    monkeypatch.setattr("deniable.app.server.console.budget_pages._left", fail)
    shown = hospital.visitor("ann").get("/console/hospital/budget")
    assert shown.status_code == 500
    assert shown.headers["content-type"].startswith("text/html")
    assert re.search(r"Something failed \(reference [0-9a-f]{8}\)\.", shown.text)
    assert "Log out" in shown.text  # the menu is there
    assert shown.headers["cache-control"] == "no-store"
    monkeypatch.setattr("deniable.app.server.questions.question_routes.describe_head", fail)
    told = hospital.visitor("ann").get("/v1/hospital/ledger/head")
    assert told.status_code == 500
    assert told.json()["type"] == "/problems/failure"
    monkeypatch.setattr("deniable.app.server.console.console.render", fail)
    bare = hospital.visitor("ann").get("/console/hospital/budget")  # the page fails as well
    assert bare.status_code == 500
    assert bare.json()["type"] == "/problems/failure"
    for answer in (shown, told, bare):
        assert "secret" not in answer.text


def test_a_script_that_logs_in_gets_a_part_of_the_page_or_an_address(hospital):
    """So Back asks nobody to send a name and a password again."""
    from_script = {"HX-Request": "true", "HX-Current-URL": "https://localhost/console/login"}
    given = {"name": "olga", "after": "/console/hospital/budget"}
    for password, status, leads_to in (
        ("a guess", 401, None),
        (PASSWORD, 204, "/console/hospital/budget"),
    ):
        fields = given | {"password": password}
        told = hospital.visitor("").post("/console/login", fields, headers=from_script)
        assert told.status_code == status
        assert told.headers.get("HX-Redirect") == leads_to
        assert ("Set-Cookie" in told.headers) == (leads_to is not None)
