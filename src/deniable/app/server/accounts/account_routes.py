"""The routes of people: log in, log out, who am I, and the owner's list of everybody."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response

from deniable.app.server.accounts.browser_sessions import COOKIE, ended_cookie
from deniable.app.server.accounts.identity import Identities
from deniable.app.server.accounts.login_desk import LoginDesk
from deniable.app.server.accounts.oidc_login import LOGIN_COOKIE, OidcLogin
from deniable.app.server.accounts.oidc_providers import Provider
from deniable.app.server.problem_details import LOGIN_REFUSED, write_problem
from deniable.errors import InvalidData
from deniable.exact.foreign_text import read_json

_LOGIN_ATTRIBUTES = "Path=/; Secure; HttpOnly; SameSite=Lax"


def account_router(
    identities: Identities,
    *,
    origin: str,
    providers: Mapping[str, Provider] | None = None,
    desk: LoginDesk | None = None,
) -> APIRouter:
    """The routes of people, for use behind an `AccessGate`."""
    router = APIRouter()
    routes = _AccountRoutes(
        identities,
        desk or LoginDesk(identities),
        OidcLogin(identities.people, providers or {}, origin=origin),
    )
    router.add_api_route("/login", routes.log_in, methods=["POST"])
    router.add_api_route("/login/{provider}", routes.send_away, methods=["GET"])
    router.add_api_route("/login/{provider}/return", routes.come_back, methods=["GET"])
    router.add_api_route("/logout", routes.log_out, methods=["POST"])
    router.add_api_route("/who", routes.show_person, methods=["GET"])
    router.add_api_route("/people", routes.list_people, methods=["GET"])
    return router


class _AccountRoutes:
    """What each route answers. Those without `async` run in a thread."""

    def __init__(self, identities: Identities, desk: LoginDesk, elsewhere: OidcLogin) -> None:
        self._identities, self._desk, self._elsewhere = identities, desk, elsewhere

    async def log_in(self, request: Request) -> Response:
        """A session for a name, a password and maybe a code. One answer to all failures."""
        await run_in_threadpool(self._desk.limit, request)
        login = _read_login(await request.body())
        begun = await self._desk.log_in(request, *login)
        if begun is None:
            return _refuse()
        name, cookie = begun
        return JSONResponse({"name": name}, headers={"Set-Cookie": cookie})

    def send_away(self, provider: str, request: Request) -> Response:
        """To the provider, with a cookie that ties the answer to this browser."""
        self._count(request, provider)
        begun = self._elsewhere.begin(provider)
        if begun is None:
            raise HTTPException(404)
        url, browser = begun
        cookie = f"{LOGIN_COOKIE}={browser}; {_LOGIN_ATTRIBUTES}; Max-Age=600"
        return RedirectResponse(url, status_code=303, headers={"Set-Cookie": cookie})

    def come_back(self, provider: str, request: Request) -> Response:
        """From the provider. The session is new, whatever the browser brings."""
        self._count(request, provider)
        answer = dict(request.query_params.multi_items())
        if len(answer) != len(request.query_params.multi_items()):
            return _refuse()
        browser = request.cookies.get(LOGIN_COOKIE, "")
        person = self._elsewhere.finish(provider, answer, browser=browser)
        if person is None:
            return _refuse()
        cookie = self._desk.begin(request, person)
        response = RedirectResponse("/console", status_code=303)  # away from the code's URL
        response.headers.append("Set-Cookie", cookie)
        response.headers.append(
            "Set-Cookie", f"{LOGIN_COOKIE}=; {_LOGIN_ATTRIBUTES}; Max-Age=0"
        )
        return response

    def _count(self, request: Request, provider: str) -> None:
        """Counts a log-in elsewhere. What a foreign page loads as an image or a frame does not
        count: it would lock an office out."""
        if not self._elsewhere.knows(provider):
            raise HTTPException(404)
        if request.headers.get("sec-fetch-dest", "document") != "document":
            raise HTTPException(403)
        self._desk.limit(request)

    def log_out(self, request: Request) -> Response:
        """Ends the session, for all workers at once."""
        self._desk.end(request.cookies.get(COOKIE, ""))
        return Response(status_code=204, headers={"Set-Cookie": ended_cookie()})

    def show_person(self, request: Request) -> Response:
        """Who asks, and what the token opens."""
        return JSONResponse(asdict(request.state.person))

    def list_people(self) -> Response:
        """Everybody, for the owner; no secret is among it."""
        accounts = self._identities.people.listed()
        return JSONResponse([asdict(account) for account in accounts])


def _refuse() -> Response:
    """The one answer to every log-in that fails."""
    return write_problem(401, *LOGIN_REFUSED)


def _read_login(body: bytes) -> tuple[str, str, str]:
    """The name, the password and the code of a log-in."""
    try:
        login: Any = read_json(body)
    except ValueError:
        login = None
    fields = {"name", "password"}
    if (
        not isinstance(login, dict)
        or not fields <= login.keys() <= fields | {"code"}
        or not all(isinstance(value, str) for value in login.values())
    ):
        raise InvalidData("A log-in is a name and a password, and maybe a code.")
    return login["name"], login["password"], login.get("code", "")
