import json
import secrets

import pytest

from deniable.surveys.questionnaire.manifest import read_manifest
from tests.app.server.console.conftest import open_hospital

LIST = "/console/surveys"
SURVEY = """
id = "{name}"
title = "Doping & <b>sport</b>"
who = "A club"
why = "To know."
epsilon = 2

[[questions]]
id = "doping"
kind = "yes-no"
text = "Did you?"
prefer_not_to_say = true
"""


def draft(polling, name):
    paul = polling.visitor("paul")
    kept = paul.submit(LIST, text=SURVEY.format(name=name))
    assert (kept.status_code, kept.headers["location"]) == (303, f"{LIST}/{name}")
    return paul


def send(polling, name, answer):
    content = polling.visitor("").get(f"/s/{name}/manifest.json").content
    report = read_manifest(content).write_report({"doping": answer}).decode()
    body = json.dumps({"report": report, "number": secrets.token_hex(16)})
    nobody = polling.visitor("")
    return nobody._send("POST", f"/s/{name}/report", content=body)


def test_a_survey_is_drafted_opened_taken_closed_and_read(polling):
    paul = draft(polling, "whole-way")
    shown = paul.get(f"{LIST}/whole-way").text
    assert "Open the survey" in shown
    assert "No one but the person sees the true answers" in shown
    nobody = polling.visitor("")
    assert nobody.get("/s/whole-way").status_code == 404
    assert paul.submit(f"{LIST}/whole-way", act="open", mode="open").status_code == 303
    page = nobody.get("/s/whole-way")
    assert page.status_code == 200
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert nobody.get("/s/whole-way/coins.js").status_code == 200
    for answer in (0, 1, 2):
        assert send(polling, "whole-way", answer).json() == {"status": "received"}
    assert "reports in whole batches</dt><dd>0<" in paul.get(f"{LIST}/whole-way").text
    assert "No batch of reports is there yet" in paul.get(f"{LIST}/whole-way/results").text
    paul.submit(f"{LIST}/whole-way", act="close")  # without a tick nothing ends
    assert send(polling, "whole-way", 1).status_code == 200
    paul.submit(f"{LIST}/whole-way", act="close", sure="on")
    assert send(polling, "whole-way", 1).status_code == 410
    shown = paul.get(f"{LIST}/whole-way").text
    assert "It has ended" in shown
    assert "<dd>4<" in shown
    results = paul.get(f"{LIST}/whole-way/results")
    assert "script-src" not in results.headers["content-security-policy"]
    assert "Did you?" in results.text
    offered = f"{LIST}/whole-way/results/results.csv"
    assert offered in results.text
    assert paul.get(offered).status_code == 200
    assert nobody.get("/s/whole-way/totals.json").json()["reports"] == 4


def test_what_has_begun_cannot_change(polling):
    paul = draft(polling, "begun")
    changed = SURVEY.format(name="begun").replace("Did you?", "Would you?")
    paul.submit(f"{LIST}/begun", act="save", text=changed)
    assert "Would you?" in (polling.surveys / "begun.toml").read_text()
    renamed = paul.submit(f"{LIST}/begun", act="save", text=SURVEY.format(name="other")).text
    assert "It cannot change" in renamed
    paul.submit(f"{LIST}/begun", act="open", mode="open")
    late = paul.submit(f"{LIST}/begun", act="save", text=SURVEY.format(name="begun")).text
    assert "cannot change any more" in late
    assert "Would you?" in (polling.surveys / "begun.toml").read_text()


def test_invitations_are_shown_once_and_let_one_report_in(polling):
    paul = draft(polling, "invited")
    paul.submit(f"{LIST}/invited", act="open", mode="token")
    shown = paul.submit(f"{LIST}/invited", act="invite", people="2").text
    links = [line for line in shown.split() if "/s/invited#" in line]
    assert len(links) == 2
    assert "/s/invited#" not in paul.get(f"{LIST}/invited").text
    token = links[0].partition("#")[2].split(".")[0].split(">")[-1]
    content = polling.visitor("").get("/s/invited/manifest.json").content
    report = read_manifest(content).write_report({"doping": 1}).decode()
    body = json.dumps({"report": report, "token": token})
    for _ in range(2):
        sent = polling.visitor("")._send("POST", "/s/invited/report", content=body)
        assert sent.json() == {"status": "received"}
    unknown = json.dumps({"report": report, "token": "0" * 32})
    assert (
        polling.visitor("")._send("POST", "/s/invited/report", content=unknown).status_code
        == 403
    )
    for people in ("x", "0", "9" * 5000):
        refused = paul.submit(f"{LIST}/invited", act="invite", people=people)
        assert (refused.status_code, "between 1 and" in refused.text) == (200, True)


def test_the_preview_can_be_framed_by_us_and_send_nothing(polling):
    paul = draft(polling, "framed")
    page = paul.get(f"{LIST}/framed")
    assert "frame-src 'self'" in page.headers["content-security-policy"]
    assert '<iframe src="/console/preview/framed"' in page.text
    preview = paul.get("/console/preview/framed")
    policy = preview.headers["content-security-policy"]
    assert "frame-ancestors 'self'" in policy
    assert "connect-src 'none'" in policy
    assert "connect-src 'self'" not in policy
    assert preview.headers["x-frame-options"] == "SAMEORIGIN"
    assert "REHEARSAL" in preview.text.upper()
    assert paul.get("/console/preview/framed/page.css").status_code == 200
    assert paul.get("/console/preview/framed/saved.html").status_code == 404


@pytest.mark.parametrize(
    "name", ["../hospital/deniable", "..%2Fhospital%2Fdeniable", "a.toml", "A", "x" * 65, "%00"]
)
def test_no_name_leads_out_of_the_folder(polling, name):
    paul = polling.visitor("paul")
    for path in (f"{LIST}/{name}", f"/console/preview/{name}", f"/s/{name}"):
        assert paul.get(path).status_code in (404, 400)
    refused = paul.submit(LIST, text=SURVEY.format(name=name.replace("%", "")))
    assert refused.status_code == 200
    assert 'role="alert"' in refused.text


def test_faults_are_told_and_a_broken_draft_is_not_opened(polling):
    paul = draft(polling, "faulty")
    broken = paul.submit(f"{LIST}/faulty", act="save", text="id = 1").text
    assert 'role="alert"' in broken
    assert polling.visitor("").get("/s/faulty").status_code == 404
    leaking = SURVEY.format(name="faulty") + "skip = true\n"
    assert 'role="alert"' in paul.submit(f"{LIST}/faulty", act="save", text=leaking).text
    assert paul.submit(f"{LIST}/faulty", act="open", mode="<b>").status_code == 200


def test_what_is_opened_is_what_is_shown(polling):
    """A text that was typed and not saved is neither lost nor taken for the saved one."""
    paul = draft(polling, "shown")
    address, typed = f"{LIST}/shown", SURVEY.format(name="shown").replace("Did you?", "Do you?")
    for told in ({"text": typed}, {"text": typed + "[[questions"}):
        page = paul.submit(address, act="open", mode="open", **told).text
        assert "Save and check it before you open it" in page
        assert "Do you?" in page
        assert "This text is not saved." in page
        assert "Open the survey" not in page
        assert polling.visitor("").get("/s/shown").status_code == 404
    wrong = paul.submit(address, act="save", text=typed + "[[questions").text
    assert "Do you?" in wrong
    assert "No fault was found" not in wrong
    assert "Open the survey" not in wrong
    assert paul.submit(address, act="save", text=typed).status_code == 303
    told = {"mode": "open", "text": typed.replace("\n", "\r\n")}  # as browsers send it
    assert paul.submit(address, act="open", **told).status_code == 303
    assert "Do you?" in polling.visitor("").get("/s/shown").text


def test_reports_come_from_our_own_page_only(polling):
    paul = draft(polling, "origin")
    paul.submit(f"{LIST}/origin", act="open", mode="open")
    away = {"Sec-Fetch-Site": "cross-site"}
    sent = polling.visitor("")._send("POST", "/s/origin/report", content="{}", headers=away)
    assert sent.status_code == 403


@pytest.mark.parametrize("person", ["ann", "audrey", "otto"])
def test_other_roles_have_no_surveys(polling, person):
    visitor = polling.visitor(person)
    assert visitor.get(LIST).status_code == 403
    assert visitor.submit(LIST, text=SURVEY.format(name="no")).status_code == 403
    assert polling.visitor("olga").get(LIST).status_code == 200


def test_texts_of_a_survey_stay_texts(polling):
    paul = draft(polling, "escaped")
    for path in (f"{LIST}/escaped", "/console/preview/escaped"):
        assert "<b>sport</b>" not in paul.get(path).text


def test_a_pollster_finds_surveys_once_at_home(polling):
    home = polling.visitor("paul").get("/console").text
    assert home.count('href="/console/surveys"') == 1
    assert "hospital" not in home  # a policy without a page for this role


def test_an_owner_finds_the_way_back_from_surveys(polling):
    """The menu of the only policy is there; a pollster has no page about it."""
    draft(polling, "with-menu")
    for path in (LIST, f"{LIST}/with-menu"):
        owned = polling.visitor("olga").get(path).text
        assert 'href="/console/hospital/budget"' in owned
        current = "page" if path == LIST else "true"
        assert f'<a href="{LIST}" aria-current="{current}">' in owned
        assert "hospital" not in polling.visitor("paul").get(path).text


def test_only_ways_that_this_server_knows_are_offered(polling, tmp_path):
    known = draft(polling, "known").get(f"{LIST}/known").text
    assert [f'value="{mode}"' in known for mode in ("open", "token", "pass")] == [True] * 3
    with open_hospital(tmp_path, surveys=tmp_path / "surveys") as hospital:  # without --origin
        paul = draft(hospital, "unknown")
        shown = paul.get(f"{LIST}/unknown").text
        assert [f'value="{mode}"' in shown for mode in ("open", "token", "pass")] == [
            *(True, False, False)
        ]
        assert "--origin" in shown
        refused = paul.submit(f"{LIST}/unknown", act="open", mode="pass").text
        assert "the server must know its own address" in refused
