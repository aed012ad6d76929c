"""At most one report for each pass, and none lost that was acknowledged."""

from starlette.testclient import TestClient

from tests.app.server import racing, surveying
from tests.app.server.surveying import blind, exchange_body, make_pass, report_body


def test_racing_clients_of_two_servers(tmp_path, store, size):
    clients = size(small=16, full=64, what="clients that race for the same passes")
    outcome = racing.run("race", tmp_path, store, clients=clients, passes=12)
    assert outcome["statuses"] == ["200"]
    assert [number // 64 for number in outcome["held"]] == list(range(12))


def test_kills_of_the_server(tmp_path, store, size):
    kills = size(small=3, full=200, what="kills of the server while clients send")
    passes = 60 + 15 * kills
    outcome = racing.run("kill", tmp_path, store, kills=kills, passes=passes)
    assert (outcome["client"], outcome["acknowledged"]) == (0, passes)
    assert outcome["held"] == list(range(passes))
    assert outcome["keys"] == 1
    assert set(outcome["sizes"]) == {50}


def test_reloads_and_a_second_device(tmp_path, monkeypatch):
    settings = "deniable.surveys.collect.store.database.SQLITE_SETTINGS"
    monkeypatch.setattr(settings, ("PRAGMA synchronous = OFF",))
    collection = surveying.open_survey(tmp_path, "pass")
    (token,) = collection.invite(1)
    first, second = (exchange_body(token, blind(collection)) for _ in range(2))
    ticket = {"pass": make_pass(collection)}
    with TestClient(surveying.application(collection)) as client:
        signatures = {client.post("/s/s/exchange", content=first).text for _ in range(100)}
        assert len(signatures) == 1
        assert {client.post("/s/s/exchange", content=second).status_code} == {403}
        for number in range(100):
            body = report_body(collection, number, **ticket)
            assert client.post("/s/s/report", content=body).status_code == 200
    assert surveying.collected(collection) == [0]
    collection.close()
