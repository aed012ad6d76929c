import json

import pytest

from tests.app.server.questions.asking import Asker, people_of, serving, write_hospital


@pytest.fixture
def place(tmp_path):
    return write_hospital(tmp_path, epsilon=1)


def test_a_line_says_who_and_which_route_and_no_value(place, capsys):
    with serving(place, log_requests=True) as client:
        people = people_of(place.parent.parent)
        token = people.new_token("ann")
        ann = Asker(client, token)
        sql = {"sql": "SELECT COUNT(*) AS canary FROM visits", "epsilon": "1/2"}
        name = ann.ask(sql).json()["id"]
        ann.wait(name)
        ann.get("budget?canary=1")
        client.get("/canary")
        client.get("/health")
        refused = client.get("/v1/hospital/budget", headers={"Authorization": "Bearer canary"})
        assert refused.status_code == 401
    written = capsys.readouterr().err
    lines = [json.loads(line) for line in written.splitlines()]
    assert {tuple(line) for line in lines} == {("time", "method", "route", "status", "person")}
    entries = [
        (line["method"], line["route"], line["status"], line["person"]) for line in lines
    ]
    assert ("POST", "/v1/{policy}/releases", 202, "ann") in entries
    assert ("GET", "/v1/{policy}/releases/{name}", 200, "ann") in entries
    assert ("GET", "/v1/{policy}/budget", 200, "ann") in entries
    assert ("GET", "/v1/{policy}/budget", 401, None) in entries
    assert ("GET", None, 404, None) in entries
    assert ("GET", "/health", 200, None) in entries
    for secret in ("canary", token, name, "SELECT", "1/2", "127.0.0.1", "testclient"):
        assert secret not in written


def test_without_the_option_nothing_is_written(place, capsys):
    with serving(place) as client:
        client.get("/health")
        assert client.get("/ready").json() == {"ready": True}
    assert capsys.readouterr().err == ""
