import logging
import socket
from urllib.parse import quote, urlsplit

import pytest
from fastapi import APIRouter
from fastapi.testclient import TestClient
from starlette.responses import HTMLResponse

from deniable.app.server.accounts.access_gate import AccessGate
from deniable.app.server.accounts.account_routes import account_router
from deniable.app.server.accounts.browser_sessions import COOKIE
from deniable.app.server.accounts.login_desk import LOGINS_PER_HOUR, LoginDesk
from deniable.app.server.accounts.oidc_providers import Provider
from deniable.app.server.accounts.shared_limits import SharedLimits
from deniable.app.server.application import make_application
from deniable.app.server.problem_details import problem_of
from deniable.errors import ServerUnavailable
from tests.app.server.accounts.provider import return_path, running_provider
from tests.app.server.hostile_addresses import ADDRESSES

ORIGIN = "https://stats.clinic.example"
RIGHT = "correct horse battery"
OURS = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture
def provider(clock):
    with running_provider(clock) as running:
        yield running


@pytest.fixture
def make_client(identities, passwords, provider):
    identities.people.add("Ann", role="analyst", password_hash=passwords.hash(RIGHT))
    identities.people.add("Olga", role="owner")
    identities.people.link("Ann", issuer=provider.issuer, subject="17")
    known = {"clinic": Provider("clinic", provider.issuer, "deniable", provider.secret)}

    def make():
        """A browser, at a worker of its own."""
        router = account_router(
            identities, origin=ORIGIN, providers=known, desk=LoginDesk(identities, passwords)
        )
        gate = AccessGate(identities, origin=ORIGIN)
        return TestClient(
            make_application(router, https=True, gate=gate),
            base_url=ORIGIN,
            follow_redirects=False,
        )

    return make


@pytest.fixture
def client(make_client):
    return make_client()


def log_in(client, password=RIGHT, **more):
    given = {"name": "ann", "password": password, **more}
    return client.post("/login", json=given, headers=OURS)


def test_logging_in_and_out(client, make_client):
    assert client.get("/who").status_code == 401
    answer = log_in(client)
    assert (answer.status_code, answer.json()) == (200, {"name": "Ann"})
    assert client.get("/who").json()["role"] == "analyst"
    session, other = client.cookies[COOKIE], make_client()
    other.cookies.set(COOKIE, session)
    assert other.get("/who").json()["name"] == "Ann"
    assert client.post("/logout", headers=OURS).status_code == 204
    assert other.get("/who").status_code == 401  # the same session, at another worker


def test_the_session_is_new_at_login_whatever_was_there(client, identities):
    planted = identities.sessions.begin("Ann")
    client.cookies.set(COOKIE, planted)
    cookie = log_in(client).headers["set-cookie"]
    new = cookie.partition("=")[2].partition(";")[0]
    assert new != planted
    assert identities.find_session(planted) is None
    assert identities.find_session(new).name == "Ann"
    assert {"Secure", "HttpOnly", "SameSite=Lax", "Path=/"} <= {*cookie.split("; ")}


def test_all_failures_are_one_answer(client):
    answers = set()
    for name in ("Ann", "Olga", "Eve"):
        given = {"name": name, "password": "incorrect horse"}
        answer = client.post("/login", json=given, headers=OURS)
        head = {key: value for key, value in answer.headers.items() if key != "date"}
        answers.add((answer.status_code, answer.text, str(sorted(head.items()))))
    assert [status for status, *_ in answers] == [401]


@pytest.mark.parametrize("name", ["Ann", "Eve"])
def test_the_eleventh_try_is_429(client, name):
    given = {"name": name, "password": "incorrect horse"}
    tries = [client.post("/login", json=given, headers=OURS) for _ in range(11)]
    assert [answer.status_code for answer in tries] == [401] * 10 + [429]


@pytest.mark.parametrize(
    ("path", "loaded_as", "status"),
    [
        ("/login/nobody", {}, 404),
        ("/login/nobody/return", {}, 404),
        ("/login/clinic", {"Sec-Fetch-Dest": "image"}, 403),
        ("/login/clinic/return", {"Sec-Fetch-Dest": "iframe"}, 403),
    ],
)
def test_what_a_foreign_page_loads_is_no_try(client, path, loaded_as, status):
    tries = {client.get(path, headers=loaded_as).status_code for _ in range(LOGINS_PER_HOUR)}
    assert tries == {status}
    assert log_in(client).status_code == 200
    opened = client.get("/login/clinic", headers={"Sec-Fetch-Dest": "document"})
    assert opened.status_code == 303


def test_after_too_many_tries_the_true_time_to_wait_is_said(identities, passwords):
    limits = SharedLimits(
        identities.people.database, "logins", 1, seconds=3600, clock=lambda: 36_000 + 3500
    )
    desk = LoginDesk(identities, passwords, limits)
    router = account_router(identities, origin=ORIGIN, desk=desk)
    gate = AccessGate(identities, origin=ORIGIN)
    with TestClient(
        make_application(router, https=True, gate=gate), base_url=ORIGIN
    ) as visitor:
        assert log_in(visitor).status_code == 401
        refusal = log_in(visitor)
    assert (refusal.status_code, refusal.headers["retry-after"]) == (429, "100")


class AwayLimits:
    def allow(self, who):
        raise ServerUnavailable("'/srv/server.sqlite' cannot be used now (SQLITE_BUSY).")


@pytest.mark.parametrize("accepted", ["*/*", "text/html"])
def test_visitors_are_not_told_what_is_away(identities, caplog, accepted):
    """Who is signed in is told, and the log has it."""
    token = identities.new_token("olga", role="owner")
    router = account_router(
        identities, origin=ORIGIN, desk=LoginDesk(identities, limits=AwayLimits())
    )
    fails = APIRouter()
    fails.add_api_route("/who", lambda: AwayLimits().allow("olga"), methods=["GET"])
    application = make_application(
        fails,
        router,
        https=True,
        gate=AccessGate(identities, origin=ORIGIN),
        problem_of=problem_of,
        page_of=lambda _, problem: (
            HTMLResponse(str(problem), 503) if "html" in accepted else None
        ),
    )
    with TestClient(application, base_url=ORIGIN) as visitor:
        answer = visitor.post("/login", json={}, headers=OURS | {"Accept": accepted})
        signed_in = visitor.get("/who", headers={"Authorization": f"Bearer {token}"})
    assert (answer.status_code, signed_in.status_code) == (503, 503)
    assert "cannot be done now" in answer.text
    assert "sqlite" not in answer.text.lower()
    assert "/srv/server.sqlite" in caplog.text
    assert "/srv/server.sqlite" in signed_in.text


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'{"name": "Ann"}',
        b'{"name": 1, "password": "x"}',
        b"\xff",
        b"[" * 9999,
    ],
)
def test_other_bodies_are_refused_without_an_echo(client, body):
    answer = client.post("/login", content=body, headers=OURS)
    assert answer.status_code == 400
    assert "Ann" not in answer.text


def test_a_login_from_another_page_is_refused(client):
    given = {"name": "ann", "password": RIGHT}
    answer = client.post("/login", json=given, headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_logging_in_elsewhere(client, provider, identities):
    planted = identities.sessions.begin("Ann")
    client.cookies.set(COOKIE, planted)
    away = client.get("/login/clinic")
    assert away.status_code == 303
    back = client.get(return_path("clinic", provider.authorize(away.headers["location"])))
    assert (back.status_code, back.headers["location"]) == (303, "/console")
    assert identities.find_session(planted) is None
    assert client.get("/who").json()["name"] == "Ann"


def test_an_answer_in_another_browser_is_refused(client, make_client, provider):
    away = client.get("/login/clinic")
    path = return_path("clinic", provider.authorize(away.headers["location"]))
    victim = make_client()
    refused = victim.get(path)
    assert (refused.status_code, refused.headers.get("set-cookie")) == (401, None)
    assert client.get(path).status_code == 401


def test_a_parameter_twice_is_refused(client, provider):
    away = client.get("/login/clinic")
    path = return_path("clinic", provider.authorize(away.headers["location"]))
    assert client.get(f"{path}&iss=https%3A%2F%2Fevil.example").status_code == 401
    assert provider.seen == []


def test_the_way_back_depends_on_the_configuration_and_not_on_the_request(client):
    forged = {"Host": "evil.example", "X-Forwarded-Host": "evil.example"}
    away = client.get("/login/clinic", headers=forged)
    assert "redirect_uri=https%3A%2F%2Fstats.clinic.example%2F" in away.headers["location"]
    assert "evil" not in away.headers["location"]


def test_an_unknown_provider_is_not_there(client):
    assert client.get("/login/other").status_code == 404


def test_a_provider_that_is_away_is_503(client, provider):
    provider.document["issuer"] = "https://evil.example"
    answer = client.get("/login/clinic")
    assert answer.status_code == 503
    assert "evil" not in answer.text


def test_the_owner_sees_everybody_and_others_do_not(client, identities):
    owner, ann = (identities.new_token(name, role=None) for name in ("Olga", "Ann"))
    seen = client.get("/people", headers={"Authorization": f"Bearer {owner}"})
    assert [person["name"] for person in seen.json()] == ["Ann", "Olga"]
    assert "argon2" not in seen.text
    refused = client.get("/people", headers={"Authorization": f"Bearer {ann}"})
    assert refused.status_code == 403


def test_secrets_are_in_no_answer_log_or_url(client, identities, caplog, dump):
    caplog.set_level(logging.DEBUG)
    token = identities.new_token("Ann", role=None)
    session = log_in(client).cookies[COOKIE]
    client.cookies.clear()
    texts = [
        client.get("/who", headers={"Authorization": f"Bearer {token}"}),
        client.get("/nowhere", headers={"Authorization": f"Bearer {token}"}),
        client.post("/login", content=f'{{"password": "{RIGHT}"', headers=OURS),
    ]
    stored = dump()
    for secret in (token, session, RIGHT):
        assert not any(secret in answer.text + str(answer.headers) for answer in texts)
        assert secret not in caplog.text
        assert secret not in stored


@pytest.mark.parametrize("url", ADDRESSES[::3])
def test_no_address_of_a_visitor_is_ever_opened(client, provider, monkeypatch, url):
    opened = []
    connect = socket.socket.connect
    monkeypatch.setattr(
        socket.socket, "connect", lambda *given: opened.append(given[1]) or connect(*given)
    )
    away = client.get("/login/clinic").headers["location"]
    client.get(return_path("clinic", provider.authorize(away) | {"iss": url}))
    known = urlsplit(provider.issuer).port
    assert {there[1] for there in opened if isinstance(there, tuple)} <= {known}
    opened.clear()
    answer = {"code": url, "state": url, "iss": url, "redirect_uri": url, "issuer": url}
    client.get(return_path("clinic", answer))
    client.get(f"/login/{quote(url, safe='')}")
    client.get(return_path(quote(url, safe=""), answer))
    given = {"name": url, "password": url, "code": url}
    client.post("/login", json=given, headers=OURS | {"Referer": quote(url)})
    assert [there for there in opened if isinstance(there, tuple)] == []


def test_looking_changes_nothing(client, identities, dump):
    token = identities.new_token("Olga", role=None)
    before = dump()
    for path in ("/who", "/people", "/login/other", "/login/clinic/return?state=x", "/x"):
        client.get(path, headers={"Authorization": f"Bearer {token}"})
    assert dump() == before


def test_every_answer_is_private(client):
    for answer in (client.get("/who"), log_in(client), client.get("/who"), client.get("/x")):
        assert answer.headers["cache-control"] == "no-store"
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["referrer-policy"] == "no-referrer"
