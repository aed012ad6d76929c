"""The application: limits, headers and errors that hold for every route of every router.

A body is limited before a route sees it. Every response has the security headers, errors
included. Each kind of error of ours is answered with one fixed sentence. Anything else is one
sentence with a reference number, under which the log has the kind of the failure and the place
in our code. The log holds no address, no body, no message and no time finer than a day; only
what visitors are not told of a database or a provider that is away.
"""

import asyncio
import logging
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from deniable.app.server.security_headers import SecurityHeaders
from deniable.errors import (
    CollectionClosed,
    CollectionUnavailable,
    DeniableError,
    InvalidData,
    InvitationRefused,
    MissingExtra,
    ServerUnavailable,
)

try:
    from fastapi import APIRouter, Depends, FastAPI
    from starlette.exceptions import HTTPException
    from starlette.middleware.body_limit import RequestBodyLimitMiddleware
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response

    from deniable.app.server.declared_lengths import DeclaredLengths
    from deniable.app.server.problem_details import DatabaseError, ServerFailure
except ModuleNotFoundError:
    raise MissingExtra(
        "A server needs the packages fastapi and uvicorn. Install them with   "
        "pip install 'deniable[server]'"
    ) from None

from deniable.app.server.accounts.access_gate import AccessGate, check_routes
from deniable.app.server.accounts.request_places import RequestPlaces

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.types import Scope

LARGEST_BODY = 64 * 1024
LOG = logging.getLogger("deniable.server")

AWAY = "This cannot be done now. Try again later."
_ANSWERS: Sequence[tuple[type[DeniableError], int, str]] = (
    (CollectionClosed, 410, "This survey has closed."),
    (InvitationRefused, 403, "This invitation is unknown, or was used already."),
    (InvalidData, 400, "This is not a message that the survey's page sends."),
    (ServerUnavailable, 503, AWAY),
    (CollectionUnavailable, 503, "The survey cannot store reports now. Try again later."),
)
_REFUSALS = {
    404: "There is nothing here.",
    405: "This cannot be done here.",
    429: "Too many reports came from this address. Try again later.",
}


def make_application(
    *routers: APIRouter,
    https: bool,
    at_end: Callable[[], None] | None = None,
    gate: AccessGate | None = None,
    problem_of: Callable[[Exception], Response] | None = None,
    page_of: Callable[[Request, Exception], Response | None] | None = None,
) -> FastAPI:
    """An application of these routers. `at_end` is called when the server stops. `problem_of`
    writes what is answered to requests that fail, if it is not the survey's one sentence;
    `page_of` what people see of it, for requests that want a page.

    With a `gate`, every route needs a row in the role matrix, and is for few requests at once.

    >>> [route.path for route in make_application(https=True).routes]
    []
    """

    if gate is not None:
        check_routes(routers)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> "AsyncIterator[None]":
        yield
        if at_end is not None:
            at_end()

    application = FastAPI(
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        dependencies=[] if gate is None else [Depends(gate), Depends(RequestPlaces())],
        lifespan=lifespan,
        exception_handlers=_handlers(problem_of, page_of),
    )
    for router in routers:
        application.include_router(router)
    application.add_middleware(RequestBodyLimitMiddleware, max_body_size=LARGEST_BODY)
    if problem_of is not None:
        application.add_middleware(DeclaredLengths, most=LARGEST_BODY, problem_of=problem_of)
    application.add_middleware(
        SecurityHeaders, https=https, on_failure=_on_failure(problem_of, page_of)
    )
    return application


def _handlers(
    problem_of: Callable[[Exception], Response] | None,
    page_of: Callable[[Request, Exception], Response | None] | None,
) -> dict[Any, Any]:
    if problem_of is None:
        return {HTTPException: _answer_refusal, DeniableError: answer_ours}

    async def answer_problem(request: Request, problem: Exception) -> Response:
        problem = _for_visitors(request, problem)
        page = None if page_of is None else page_of(request, problem)
        return page or problem_of(problem)

    kinds = (HTTPException, DeniableError, DatabaseError)
    return dict.fromkeys(kinds, answer_problem)


def _for_visitors(request: Request, problem: Exception) -> Exception:
    """What is told of a problem. Where something is, and in which state, is for people who
    are signed in; others get one sentence, and the log has the rest."""
    if not isinstance(problem, ServerUnavailable) or getattr(request.state, "person", None):
        return problem
    LOG.error("unavailable: %s", problem)
    return ServerUnavailable(AWAY)


def _on_failure(
    problem_of: Callable[[Exception], Response] | None,
    page_of: Callable[[Request, Exception], Response | None] | None,
) -> "Callable[[Scope, Exception], Response]":
    """What answers a request that nobody's handler caught: a page where one was asked for."""

    def answer(scope: "Scope", problem: Exception) -> Response:
        if problem_of is None:
            return answer_failure(problem)
        failure = ServerFailure(log_failure(problem))
        try:
            page = None if page_of is None else page_of(Request(scope), failure)
        except Exception as another:  # the page may be what fails
            log_failure(another)
            page = None
        return page or problem_of(failure)

    return answer


def log_failure(problem: Exception) -> str:
    """The reference under which the log has a failure's kind, and its place in our code."""
    reference = secrets.token_hex(4)
    trace, place = problem.__traceback__, "?"
    while trace is not None:
        place = f"{trace.tb_frame.f_globals.get('__name__')}:{trace.tb_lineno}"
        trace = trace.tb_next
    LOG.error("failure %s: %s in %s", reference, type(problem).__name__, place)
    return reference


def answer_failure(problem: Exception) -> Response:
    """One sentence for whatever went wrong, with a number for the log."""
    return _problem(500, ServerFailure(log_failure(problem)).words)


async def _answer_refusal(_: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    words = _REFUSALS.get(problem.status_code, "This request is refused.")
    return _problem(problem.status_code, words, problem.headers)


async def answer_ours(_: Request, problem: Exception) -> Response:
    """One fixed sentence for each kind of error of ours, as pages of surveys get it."""
    for kind, status, words in _ANSWERS:
        if isinstance(problem, kind):
            if status == 503:
                LOG.error("unavailable: %s", type(problem).__name__)
            return _problem(status, words)
    return answer_failure(problem)


def _problem(status: int, words: str, headers: Mapping[str, str] | None = None) -> Response:
    """The answer to a request that failed. Any page may read it: it holds nothing private."""
    readable = {"Access-Control-Allow-Origin": "*", **(headers or {})}
    return JSONResponse({"problem": words}, status_code=status, headers=readable)


async def run_apart(act: Callable[[], object]) -> None:
    """Runs work in a thread, after a response was sent. A failure is logged, not answered."""
    try:
        await asyncio.to_thread(act)
    except Exception as problem:
        log_failure(problem)
