import logging

import pytest
from fastapi import APIRouter, Request
from starlette.testclient import TestClient

import deniable as dp
from deniable.app.server.application import LARGEST_BODY, LOG, make_application
from deniable.app.server.security_headers import HEADERS, HTTPS_ONLY

PROBLEMS = {
    "closed": (dp.CollectionClosed("secret words"), 410),
    "refused": (dp.InvitationRefused("secret words"), 403),
    "data": (dp.InvalidData("secret words"), 400),
    "store": (dp.CollectionUnavailable("secret words"), 503),
    "ours": (dp.InvalidParameter("secret words"), 500),
    "bug": (ZeroDivisionError("secret words"), 500),
}


@pytest.fixture
def client():
    router = APIRouter()

    @router.post("/fail/{name}")
    async def fail(name: str):
        raise PROBLEMS[name][0]

    @router.post("/echo")
    async def echo(request: Request):
        return {"length": len(await request.body())}

    with TestClient(make_application(router, https=True)) as opened:
        yield opened


@pytest.mark.parametrize("name", PROBLEMS)
def test_an_error_is_one_fixed_sentence(client, name, caplog):
    LOG.propagate = True
    with caplog.at_level(logging.ERROR):
        answer = client.post(f"/fail/{name}")
    assert answer.status_code == PROBLEMS[name][1]
    assert "secret words" not in answer.text
    assert "secret words" not in caplog.text
    if answer.status_code == 500:
        reference = answer.json()["problem"].partition("reference ")[2].rstrip(").")
        assert f"{reference}: {type(PROBLEMS[name][0]).__name__}" in caplog.text


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 404),
        ("GET", "/docs", 404),
        ("GET", "/redoc", 404),
        ("GET", "/openapi.json", 404),
        ("GET", "/echo", 405),
        ("GET", "/echo/", 404),  # no redirect to an address that the request names
        ("POST", "/echo", 200),
        ("POST", "/fail/bug", 500),
        ("POST", "/fail/closed", 410),
    ],
)
def test_every_response_has_the_headers(client, method, path, status):
    answer = client.request(method, path)
    assert answer.status_code == status
    expected = HEADERS | dict([HTTPS_ONLY])
    assert {name: answer.headers[name] for name in expected} == expected


@pytest.mark.parametrize("declared", [True, False])
def test_a_large_body_is_refused_with_headers(client, declared):
    def chunks():
        for _ in range(LARGEST_BODY // 1024 + 1):
            yield bytes(1024)

    whole = client.post("/echo", content=bytes(LARGEST_BODY))
    assert whole.json() == {"length": LARGEST_BODY}
    answer = client.post("/echo", content=bytes(LARGEST_BODY + 1) if declared else chunks())
    assert answer.status_code == 413
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_plain_http_sends_no_promise_of_https():
    with TestClient(make_application(https=False)) as client:
        assert HTTPS_ONLY[0] not in client.get("/").headers


def test_the_end_is_told():
    told = []
    with TestClient(make_application(https=False, at_end=lambda: told.append("end"))):
        assert told == []
    assert told == ["end"]
