import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from deniable.app.server.security_headers import HEADERS, SecurityHeaders


def answer(request):
    return PlainTextResponse("x", headers={"Content-Security-Policy": "img-src data:"})


def test_a_page_may_say_otherwise_for_itself():
    app = SecurityHeaders(Starlette(routes=[Route("/", answer)]), https=False, on_failure=None)
    headers = TestClient(app).get("/").headers
    assert headers.get_list("content-security-policy") == ["img-src data:"]
    rest = {name: value for name, value in HEADERS.items() if "policy" not in name[:25]}
    assert rest.items() <= dict(headers).items()


def test_a_failure_after_the_start_is_not_answered_twice():
    async def broken(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ZeroDivisionError

    app = SecurityHeaders(broken, https=False, on_failure=pytest.fail)
    with pytest.raises(ZeroDivisionError):
        TestClient(app).get("/")
