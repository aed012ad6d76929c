import pytest
from fastapi import APIRouter, Request
from fastapi.testclient import TestClient

from deniable.app.server.accounts.access_gate import AccessGate, check_routes
from deniable.app.server.accounts.browser_sessions import COOKIE
from deniable.app.server.accounts.people import ROLES
from deniable.app.server.accounts.role_matrix import MATRIX
from deniable.app.server.accounts.shared_limits import SharedLimits
from deniable.app.server.application import make_application

ORIGIN = "https://stats.clinic.example"
REFUSED = {"problem": "This request is refused."}
NOT_FOUND = {"problem": "There is nothing here."}


@pytest.fixture
def called():
    return []


@pytest.fixture
def client(identities, called):
    """A server with every route of the matrix, each of which notes who came through."""

    def note(request: Request):
        person = request.state.person
        called.append((person and person.name, request.state.reach))
        return "data"

    router = APIRouter()
    for method, path in MATRIX:
        router.add_api_route(path, note, methods=[method])
    gate = AccessGate(identities, origin=ORIGIN)
    with TestClient(
        make_application(router, https=True, gate=gate),
        base_url=ORIGIN,
        raise_server_exceptions=False,
    ) as client:
        yield client


def fill(path):
    return path.format(policy="hospital", provider="clinic", name="x", form="csv")


@pytest.mark.parametrize("role", ROLES)
def test_every_route_by_every_role(client, identities, called, role):
    token = identities.new_token(role, role=role)
    for (method, path), row in MATRIX.items():
        headers = {"Authorization": f"Bearer {token}"}
        answer = client.request(method, fill(path), headers=headers)
        reach = row.get("anyone") or row.get(role)
        if reach is None:
            assert (answer.status_code, answer.json()) == (403, REFUSED), (method, path)
            assert called == []
        else:
            assert answer.status_code == 200, (method, path)
            assert called.pop() == (None if reach == "anyone" else role, reach)


def test_nobody_gets_one_answer(client, identities, called):
    expired = identities.new_token("ann")
    identities.revoke(expired)
    answers = set()
    for header in (None, "", "Bearer x", f"Bearer {expired}", "Basic YTpi"):
        for (method, path), row in MATRIX.items():
            if "anyone" in row:
                continue
            headers = {} if header is None else {"Authorization": header}
            headers["Origin"] = ORIGIN
            answer = client.request(method, fill(path), headers=headers)
            answers.add((answer.status_code, answer.text, answer.headers["www-authenticate"]))
    assert answers == {(401, '{"problem":"This request is refused."}', "Bearer")}
    assert called == []


def test_a_foreign_policy_is_like_one_that_does_not_exist(client, identities, called):
    token = identities.new_token("ann", role="owner", policies=("school",))
    headers = {"Authorization": f"Bearer {token}"}
    answers = {
        client.request(method, fill(path), headers=headers).text
        for method, path in MATRIX
        if "{policy}" in path
    }
    assert answers == {client.get("/nowhere", headers=headers).text}
    assert called == []
    assert client.get("/v1/school/tables", headers=headers).status_code == 200


def test_a_read_only_token_spends_nothing(client, identities, called):
    token = identities.new_token("ann", role="owner", read_only=True)
    headers = {"Authorization": f"Bearer {token}"}
    assert client.post("/v1/hospital/explain", headers=headers).status_code == 200
    assert client.get("/v1/hospital/budget", headers=headers).status_code == 200
    called.clear()
    assert client.post("/v1/hospital/releases", headers=headers).status_code == 403
    assert called == []


def test_a_session_is_a_person_and_a_bad_token_is_not_helped_by_it(client, identities, called):
    identities.people.add("ann", role="analyst")
    client.cookies.set(COOKIE, identities.sessions.begin("ann"))
    assert client.get("/v1/hospital/tables").status_code == 200
    assert called.pop() == ("ann", "any")
    bad = client.get("/v1/hospital/tables", headers={"Authorization": "Bearer x"})
    assert bad.status_code == 401


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ({"Sec-Fetch-Site": "same-origin"}, True),
        ({"Origin": ORIGIN}, True),
        ({"Sec-Fetch-Site": "same-origin", "Origin": ORIGIN}, True),
        ({}, False),
        ({"Sec-Fetch-Site": "cross-site"}, False),
        ({"Sec-Fetch-Site": "same-site"}, False),
        ({"Sec-Fetch-Site": "none"}, False),
        ({"Sec-Fetch-Site": "cross-site", "Origin": ORIGIN}, False),
        ({"Origin": "https://evil.example"}, False),
        ({"Origin": "null"}, False),
        ({"Origin": ORIGIN + ".evil.example"}, False),
        ({"Origin": "http://stats.clinic.example"}, False),
        ({"Host": "evil.example", "Origin": "https://evil.example"}, False),
    ],
)
def test_other_origins_change_nothing(client, identities, called, headers, allowed):
    identities.people.add("ann", role="owner")
    client.cookies.set(COOKIE, identities.sessions.begin("ann"))
    owners = {"owner", "anyone"}
    unsafe = [pair for pair, row in MATRIX.items() if pair[0] != "GET" and owners & {*row}]
    assert len(unsafe) >= 4
    for method, path in unsafe:
        answer = client.request(method, fill(path), headers=headers)
        assert answer.status_code == (200 if allowed else 403), path
    assert len(called) == (len(unsafe) if allowed else 0)


def test_a_token_needs_no_origin(client, identities):
    token = identities.new_token("ann")
    headers = {"Authorization": f"Bearer {token}", "Origin": "https://notebook.example"}
    assert client.post("/v1/hospital/releases", headers=headers).status_code == 200


def test_a_route_without_a_row_does_not_start(identities):
    gate = AccessGate(identities, origin=ORIGIN)
    router = APIRouter()
    router.add_api_route("/v1/{policy}/rows", lambda: None, methods=["GET"])
    with pytest.raises(AssertionError, match="without a row in the role matrix: GET /v1"):
        make_application(router, https=True, gate=gate)
    outer = APIRouter()
    outer.include_router(router)
    with pytest.raises(AssertionError, match="without a row"):
        check_routes([outer])


def test_a_route_that_comes_in_later_is_denied(identities):
    gate = AccessGate(identities, origin=ORIGIN)
    application = make_application(https=True, gate=gate)
    application.add_api_route("/rows", lambda: "data", methods=["GET"])
    token = identities.new_token("ann", role="owner")
    with TestClient(application) as client:
        answer = client.get("/rows", headers={"Authorization": f"Bearer {token}"})
    assert (answer.status_code, answer.json()) == (404, NOT_FOUND)


def test_requests_of_a_person_are_limited_by_all_tokens_and_sessions_together(identities):
    limits = SharedLimits(
        identities.people.database, "requests", 3, seconds=60, clock=lambda: 6e4 + 20
    )
    router = APIRouter()
    router.add_api_route("/who", lambda: "data", methods=["GET"])
    gate = AccessGate(identities, origin=ORIGIN, requests=limits)
    tokens = [identities.new_token("ann") for _ in range(2)]
    session = identities.sessions.begin("ann")
    another = {"Authorization": f"Bearer {identities.new_token('bob')}"}
    with TestClient(make_application(router, https=True, gate=gate), base_url=ORIGIN) as client:
        credentials = [{"Authorization": f"Bearer {token}"} for token in tokens]
        credentials += [{"Cookie": f"{COOKIE}={session}"}, credentials[0]]
        answers = [client.get("/who", headers=headers) for headers in credentials]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
        assert answers[-1].headers["retry-after"] == "40"
        assert client.get("/who", headers=another).status_code == 200
        assert client.get("/who").status_code == 401  # nobody counts for anybody
