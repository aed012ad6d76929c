"""The whole server: its gate, and one budget for one person however she comes."""

import pytest

from deniable.app.server.accounts.browser_sessions import COOKIE
from deniable.app.server.accounts.role_matrix import MATRIX
from tests.app.server.questions.asking import Asker, people_of, serving, write_hospital

OURS = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return write_hospital(tmp_path_factory.mktemp("whole"), epsilon=1)


@pytest.fixture(scope="module")
def client(place):
    with serving(place) as client:
        yield client


def test_a_person_has_one_budget_by_token_by_second_token_and_by_session(client, place):
    people = people_of(place.parent.parent)
    first, second = (Asker(client, people.new_token(name)) for name in ("ann", "Ann"))
    assert first.answer({"sql": "SELECT COUNT(*) AS n FROM visits", "epsilon": "1/2"})
    assert second.get("budget").json()["epsilon"] == "1/2"
    client.cookies.set(COOKIE, people.sessions.begin("ann"))
    try:
        assert client.get("/v1/hospital/budget").json()["epsilon"] == "1/2"
        entries = client.get("/v1/hospital/ledger/entries").json()
        assert {entry["analyst"] for entry in entries} == {"ann"}
        told = b'{"sql": "SELECT COUNT(*) AS n FROM staff", "epsilon": "1/4"}'
        foreign = client.post("/v1/hospital/releases", content=told)
        assert foreign.status_code == 403  # from no page of ours
        ours = client.post("/v1/hospital/releases", content=told, headers=OURS)
        assert ours.status_code == 202
    finally:
        client.cookies.clear()


def test_owners_and_auditors_read_any_answer_and_analysts_their_own(client, place):
    people = people_of(place.parent.parent)
    name = Asker(client, people.new_token("ann")).ask().json()["id"]
    Asker(client, people.new_token("ann")).wait(name)
    expected = {"owner": 200, "auditor": 200, "analyst": 404, "pollster": 403, "operator": 403}
    for role, status in expected.items():
        asker = Asker(client, people.new_token(f"a second {role}", role=role))
        assert asker.get(f"releases/{name}/certificate").status_code == status
        entries = asker.get("ledger/entries")
        if role in ("owner", "auditor"):
            assert {entry["analyst"] for entry in entries.json()} == {"ann"}
        elif role == "analyst":
            assert entries.json() == []


def test_every_route_of_the_server_denies_nobody(client):
    fill = {"policy": "hospital", "name": "x", "form": "csv", "provider": "x"}
    for (method, path), row in MATRIX.items():
        if "anyone" not in row:
            answer = client.request(method, path.format(**fill))
            assert answer.status_code in (401, 404), path  # 404: not served by default


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/metrics", "/debug"])
def test_nothing_is_told_about_the_server_unless_it_is_configured(client, place, path):
    token = people_of(place.parent.parent).new_token("olga", role="owner")
    answer = client.get(path, headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 404


def test_metrics_are_for_owners_and_operators(tmp_path):
    place = write_hospital(tmp_path, epsilon=1)
    with serving(place, metrics=True) as client:
        people = people_of(tmp_path)
        ann = Asker(client, people.new_token("ann"))
        ann.wait(ann.ask().json()["id"])
        for role, status in (("operator", 200), ("owner", 200), ("analyst", 403)):
            token = people.new_token(f"the {role}", role=role)
            answer = client.get("/metrics", headers={"Authorization": f"Bearer {token}"})
            assert answer.status_code == status
            if status == 200:
                assert answer.text.startswith("deniable_questions_taken_total 1\n")
        assert client.get("/metrics").status_code == 401
