"""The gate in front of every route: who asks, and whether the role matrix allows it.

Nobody gets 401. A policy that a token does not open, and a route without a row, is answered as
one that does not exist. A role that a route is not for gets 403, whether or not there is
anything behind the address. A request that carries a session's cookie and
changes something must come from our own pages: the browser says so in `Sec-Fetch-Site` or
`Origin`. A token is sent by a program on purpose, so it needs no such proof.
"""

from collections.abc import Iterable, Sequence

from fastapi import APIRouter, Request
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute

from deniable.app.server.accounts.browser_sessions import COOKIE
from deniable.app.server.accounts.identity import Identities, Person
from deniable.app.server.accounts.role_matrix import ANYONE, MATRIX, is_free, reach
from deniable.app.server.accounts.shared_limits import SharedLimits

_SAFE = ("GET", "HEAD")


class AccessGate:
    """Called before every route. Leaves the person in `request.state.person`, and how far the
    person reaches ("any" or "own") in `request.state.reach`. `requests`: how often a person may
    ask for anything, by all tokens and sessions together.
    """

    def __init__(
        self, identities: Identities, *, origin: str, requests: SharedLimits | None = None
    ) -> None:
        self._identities, self._origin = identities, origin.rstrip("/")
        self._requests = requests

    def __call__(self, request: Request) -> None:
        """Refuses, or says who asks."""
        path = getattr(request.scope.get("route"), "path", "")
        for_anyone = reach(request.method, path, None) == ANYONE
        by_browser = "authorization" not in request.headers
        if (
            request.method not in _SAFE
            and by_browser
            and (for_anyone or COOKIE in request.cookies)
        ):
            self._refuse_other_origins(request)
        if for_anyone:
            request.state.person, request.state.reach = None, ANYONE
            return
        person = self._identify(request)
        if person is None:
            raise HTTPException(401, headers={"WWW-Authenticate": "Bearer"})
        if self._requests is not None and not self._requests.allow(person.name):
            wait = str(self._requests.wait(person.name))
            raise HTTPException(429, headers={"Retry-After": wait})
        policy = request.path_params.get("policy")
        if (request.method, path) not in MATRIX or not (
            policy is None or person.may_use(policy)
        ):
            raise HTTPException(404)
        allowed = reach(request.method, path, person.role)
        if allowed is None or (person.read_only and not is_free(request.method, path)):
            raise HTTPException(403)
        request.state.person, request.state.reach = person, allowed

    def _identify(self, request: Request) -> Person | None:
        """The person of the token; of the cookie only if there is no token."""
        header = request.headers.get("authorization")
        if header is not None:
            return self._identities.authenticate(header)
        return self._identities.find_session(request.cookies.get(COOKIE, ""))

    def _refuse_other_origins(self, request: Request) -> None:
        """A browser names the origin of a page; without `origin` in the settings, only that
        it is ours."""
        site, origin = (request.headers.get(name) for name in ("sec-fetch-site", "origin"))
        if site != "same-origin" and (site is not None or origin != self._origin):
            raise HTTPException(403)


def check_routes(routers: Sequence[APIRouter]) -> None:
    """Refuses routes without a row in the matrix.

    >>> router = APIRouter()
    >>> router.add_api_route("/rows", lambda: None, methods=["GET"])
    >>> check_routes([router])
    Traceback (most recent call last):
    AssertionError: Routes without a row in the role matrix: GET /rows
    """
    pairs = {pair for router in routers for pair in _pairs(router.routes)}
    if missing := sorted(pairs - MATRIX.keys()):
        words = ", ".join(" ".join(pair) for pair in missing)
        raise AssertionError(f"Routes without a row in the role matrix: {words}")


def _pairs(routes: Iterable[BaseRoute]) -> Iterable[tuple[str, str]]:
    for route in routes:
        if isinstance(route, APIRoute):
            yield from ((method, route.path) for method in route.methods or ())
        else:  # a mount or another router would hide its routes from the matrix
            yield "any method of", type(route).__name__
