import pytest

import deniable as dp
from deniable.app.cli.surveys import simulated_people
from deniable.app.cli.surveys.simulated_people import send_simulated
from deniable.app.cli.surveys.web_client import WebAnswer
from deniable.surveys.collect.collection import CollectionChoices, SurveyCollection
from deniable.surveys.questionnaire.questionnaire import load
from tests.app.server import surveying


class Wire:
    """A client whose requests reach an application in this process."""

    def __init__(self, client):
        self._client, self.path, self.sent = client, "/s/s", []

    def get(self, path):
        return self._answer(self._client.get(path))

    def post(self, path, body):
        self.sent.append((path, body))
        return self._answer(self._client.post(path, content=body))

    def _answer(self, response):
        return WebAnswer(response.status_code, dict(response.headers), response.content)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


@pytest.fixture
def rehearse(folder, monkeypatch):
    """Begins a survey, and connects made-up people to it."""
    from starlette.testclient import TestClient

    opened = []

    def begin(mode, *, rehearsal=True):
        survey = load(folder / "s.toml")
        choices = CollectionChoices(
            mode=mode, rehearsal=rehearsal, origin="https://survey.example.org"
        )
        collection = SurveyCollection(survey, folder / "f", choices)
        wire = Wire(TestClient(surveying.application(collection)))
        monkeypatch.setattr(simulated_people, "WebClient", lambda url: wire)
        opened.append(collection)
        return survey, collection, wire

    yield begin
    for collection in opened:
        collection.close()


def write_links(folder, collection, count):
    from deniable.app.cli.surveys.invite_people import invitation_link

    tokens = collection.invite(count)
    links = [invitation_link(collection.manifest, token) for token in tokens]
    (folder / "i.csv").write_text("link\n" + "\n".join(links) + "\n")
    return folder / "i.csv"


@pytest.mark.parametrize("mode", ["token", "pass"])
def test_everybody_uses_an_invitation(rehearse, folder, mode):
    survey, collection, _ = rehearse(mode)
    links = write_links(folder, collection, 6)
    send_simulated(survey, 5, "url", links)
    collection.store.close_survey()
    totals = collection.totals()
    assert (totals.reports, totals.accepted) == (5, 5)
    assert totals.exchanged == (5 if mode == "pass" else 0)


def test_an_invitation_serves_once(rehearse, folder):
    survey, collection, _ = rehearse("pass")
    links = write_links(folder, collection, 1)
    send_simulated(survey, 1, "url", links)
    with pytest.raises(dp.InvalidData, match="used already"):
        send_simulated(survey, 1, "url", links)


def test_without_invitations_nothing_is_sent(rehearse, folder):
    survey, collection, wire = rehearse("pass")
    with pytest.raises(dp.InvalidParameter, match="need invitations"):
        send_simulated(survey, 5, "url", None)
    with pytest.raises(dp.InvalidParameter, match="as many invitations"):
        send_simulated(survey, 5, "url", write_links(folder, collection, 4))
    assert wire.sent == []


def test_a_real_survey_takes_no_made_up_people(rehearse):
    survey, _, wire = rehearse("open", rehearsal=False)
    with pytest.raises(dp.InvalidParameter, match="not a rehearsal"):
        send_simulated(survey, 5, "url", None)
    assert wire.sent == []


def test_another_questionnaire_is_refused(rehearse, folder):
    _, _, wire = rehearse("open")
    other = (folder / "s.toml").read_text().replace("Have you?", "Will you?")
    (folder / "t.toml").write_text(other)
    with pytest.raises(dp.InvalidParameter, match="not the one of this questionnaire"):
        send_simulated(load(folder / "t.toml"), 5, "url", None)
    assert wire.sent == []


def test_an_option_is_missing(run):
    for options in ([], ["--out", "r.jsonl", "--send", "http://127.0.0.1:1/s/s"]):
        status, _, problem = run("survey", "simulate", "s.toml", "--people", "3", *options)
        assert status == 2
        assert "either --out" in problem
