import json
import re
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from tests.app.server.racing import free_port


def fetch(url):
    parts = urlsplit(url)
    connection = HTTPConnection(parts.netloc)
    connection.request("GET", parts.path)
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, body


def test_a_survey_from_its_first_page_to_its_results(run, serve, folder):
    told = serve("--rehearsal")
    assert told.keys() == {"Survey", "Results", "Manifest"}
    status, page = fetch(told["Survey"])
    assert status == 200
    assert told["Manifest"] in page
    assert "REHEARSAL" in page
    status, results = fetch(told["Results"])
    assert status == 200
    assert "No batch of reports is there yet." in results
    status, said, _ = run(
        "survey", "simulate", "s.toml", "--people", "120", "--send", told["Survey"]
    )
    assert status == 0
    assert "120 made-up people" in said
    status, results = fetch(told["Results"])
    assert "REHEARSAL" in results
    assert "<strong>50</strong> reports" in results
    assert fetch(f"{told['Results']}/manifest.json")[1].startswith("{")
    status, said, _ = run("survey", "close", "s.toml", "--rehearsal")
    assert (status, said.splitlines()[0]) == (0, "Closed, with 120 reports.")
    assert "<strong>120</strong> reports" in fetch(told["Results"])[1]
    refused = run("survey", "simulate", "s.toml", "--people", "1", "--send", told["Survey"])
    assert refused[0] == 2
    assert "closed" in refused[2]


def test_made_up_people_with_blind_passes(run, serve, folder):
    port = free_port()
    origin = ["--origin", f"http://127.0.0.1:{port}", "--rehearsal"]
    people = ["--people", "5", "--out", "i.csv"]
    assert run("survey", "invite", "s.toml", *people, *origin)[0] == 0
    told = serve("--rehearsal", "--port", str(port))
    sending = ["--people", "5", "--send", told["Survey"], "--invitations", "i.csv"]
    assert run("survey", "simulate", "s.toml", *sending)[0] == 0
    said = run("survey", "close", "s.toml", "--rehearsal")[1]
    assert "Closed, with 5 reports." in said
    assert "Exchanged for a pass: 5 invitations." in said


def test_hashes_are_printed_for_a_poster(run):
    status, said, _ = run("survey", "serve", "s.toml", "--print-hashes")
    assert status == 0
    hashes = json.loads(said)
    assert hashes.keys() == {"manifest", "page", "files", "policy"}
    assert re.fullmatch("[0-9a-f]{64}", hashes["page"])
    again = json.loads(run("survey", "serve", "s.toml", "--print-hashes")[1])
    assert again == hashes


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--host", "0.0.0.0"], "this machine only"),
        (["--host", "0.0.0.0", "--mode", "pass"], "this machine only"),
        (["--origin", "http://survey.example.org"], "plain http"),
        (["--origin", "https://a.b"], "--behind-proxy"),
        (["--origin", "https://a.b/", "--behind-proxy"], "no / at its end"),
        (["--certificate", "c.pem"], "both"),
        (["--mode", "blind"], "--mode must be one of open, token, pass"),
    ],
)
def test_what_cannot_be_served(run, folder, options, words):
    status, _, problem = run("survey", "serve", "s.toml", *options)
    assert status == 2
    assert words in problem
    assert not (folder / "s.collected").exists()


def test_a_questionnaire_that_leaks_is_not_served(run, folder):
    text = (folder / "s.toml").read_text()
    leaking = text + '[[questions]]\nid="c"\nkind="text"\ntext="Tell us more"\n'
    (folder / "s.toml").write_text(leaking)
    status, _, problem = run("survey", "serve", "s.toml", "--print-hashes")
    assert status == 2
    assert "lint" in problem


def test_a_page_that_cannot_be_made_begins_no_survey(run, folder):
    text = (folder / "s.toml").read_text()
    crosswise = 'text = "Have you?"\ndesign = { crosswise = "1/4" }'
    (folder / "s.toml").write_text(text.replace('text = "Have you?"', crosswise))
    status, _, problem = run("survey", "serve", "s.toml", "--print-hashes")
    assert status == 2
    assert "for paper" in problem
    assert not (folder / "s.collected" / "manifest.json").exists()


def test_a_survey_is_closed_though_its_questionnaire_changed(run, folder):
    assert run("survey", "serve", "s.toml", "--print-hashes")[0] == 0
    (folder / "s.toml").write_text((folder / "s.toml").read_text().replace("Have", "Had"))
    assert run("survey", "serve", "s.toml", "--print-hashes")[0] == 2
    assert run("survey", "close", "s.toml")[0] == 0


def test_without_a_proxy_a_warning_is_printed(run, folder, monkeypatch):
    monkeypatch.setattr("deniable.app.cli.surveys.serve_survey._serve", lambda *_: None)
    https = ["--certificate", "c.pem", "--key", "k.pem"]
    key = ["--sealing-key", "elsewhere/s.key"]
    status, _, warning = run("survey", "serve", "s.toml", *https, *key)
    assert status == 0
    assert "one address may hold 64 connections" in warning
    assert (folder / "elsewhere" / "s.key").exists()


def test_a_survey_that_has_not_begun_is_not_closed(run):
    status, _, problem = run("survey", "close", "s.toml")
    assert status == 2
    assert "has not begun" in problem


def test_closing_tells_what_is_published(run, folder):
    run(
        "survey",
        "invite",
        "s.toml",
        "--people",
        "3",
        "--out",
        "i.csv",
        "--origin",
        "https://a.b",
    )
    status, said, _ = run("survey", "close", "s.toml")
    assert status == 0
    assert "Given out: 3 invitations; accepted: 0 reports." in said
    assert "Exchanged for a pass: 0 invitations." in said
    assert "deniable survey report s.toml\n" in said
