"""Problem details (RFC 9457): what went wrong, and a page of this server that explains it.

`type` is the address of that page. `detail` is the sentence of the exception: before an engine
starts it may quote the question and the policy, which the asker knows. After that there is one
sentence with a reference number. Nothing else of a request is repeated.
"""

from typing import Any

from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from deniable import errors
from deniable.app.web.error_pages import error_pages, page_name
from deniable.app.web.survey.html_elements import element
from deniable.errors import DeniableError

MEDIA_TYPE = "application/problem+json"
DatabaseError = SQLAlchemyError  # of the ledger's store, if the ledger did not name it itself
STATUS: dict[type[DeniableError], int] = {
    errors.BudgetExhausted: 403,
    errors.AccessDenied: 403,
    errors.TooManyQuestions: 429,
    errors.QuestionPending: 409,
    errors.LedgerUnavailable: 503,
    errors.ServerUnavailable: 503,
    errors.LedgerBroken: 503,
    errors.EngineFailed: 502,
}
_REFUSED = 400  # any other error of ours: the request cannot be answered as it is
_HTTP = {
    401: ("not-authenticated", "A token is missing, or it is unknown, expired or revoked."),
    403: ("not-allowed", "Your role or token does not allow this, or another page asked."),
    404: ("not-found", "There is nothing here for you."),
    405: ("not-allowed-here", "This address does not take this method."),
    406: ("not-acceptable", "The answer has no such form. Forms: json, csv, arrow, parquet."),
    429: ("too-many-requests", "Too many requests came. Try again later."),
    413: ("too-large", "The body is larger than this server takes."),
}
LOGIN_REFUSED = (
    "login-refused",
    "The name, the password or the code is wrong, or nobody linked this log-in to a person.",
)
_FAILED = "failure", "Something failed on the server. The log has the reference."


class ServerFailure(HTTPException):
    """What nobody foresaw. The log has the reference; the request learns nothing else."""

    def __init__(self, reference: str) -> None:
        super().__init__(500)
        self.words = f"Something failed (reference {reference})."


def as_ours(problem: Exception) -> DeniableError:
    """An error of ours. One of a database means that the ledger cannot be used now; its own
    words may quote a statement."""
    if isinstance(problem, DeniableError):
        return problem
    return errors.LedgerUnavailable(
        "The ledger cannot be used now. Ask again later, with the same question id if you gave "
        "one: it has one charge and one outcome."
    )


def problem_of(problem: Exception) -> Response:
    """The response to a request that failed with this exception."""
    if isinstance(problem, DatabaseError):
        problem = as_ours(problem)
    if isinstance(problem, DeniableError):
        kind = type(problem)
        status = next(
            (STATUS[ancestor] for ancestor in kind.__mro__ if ancestor in STATUS), _REFUSED
        )
        after = {"Retry-After": "5"} if status in (429, 503) else {}
        return write_problem(status, page_name(kind.__name__), str(problem), after)
    if isinstance(problem, HTTPException):
        name, words = _name_http(problem)
        return write_problem(problem.status_code, name, words, dict(problem.headers or {}))
    raise TypeError(type(problem).__name__)


def tell_problem(problem: Exception) -> tuple[str, str]:
    """The title and the words of a problem, for a page.

    >>> tell_problem(errors.TooManyQuestions("Wait."))
    ('Too many questions', 'Wait.')
    """
    if isinstance(problem, HTTPException):
        name, words = _name_http(problem)
    else:
        name, words = page_name(type(problem).__name__), str(problem)
    return name.replace("-", " ").capitalize(), words


def _name_http(problem: HTTPException) -> tuple[str, str]:
    if isinstance(problem, ServerFailure):
        return _FAILED[0], problem.words
    return _HTTP.get(problem.status_code, ("refused", "This request is refused."))


def write_problem(
    status: int, name: str, detail: str, headers: dict[str, str] | None = None
) -> Response:
    """One problem as JSON. Amounts of time, bytes or rows are not part of it."""
    title = name.replace("-", " ").capitalize()
    document: dict[str, Any] = {"type": f"/problems/{name}", "title": title, "status": status}
    return JSONResponse(
        document | {"detail": detail},
        status_code=status,
        headers=headers,
        media_type=MEDIA_TYPE,
    )


def problem_pages() -> dict[str, tuple[str, ...]]:
    """All problems, by the names of their pages: a title and paragraphs that explain it."""
    ours: dict[str, tuple[str, ...]] = {
        name: (page.title, page.meaning, f"Cause: {page.cause}", f"Remedy: {page.remedy}")
        for name, page in error_pages().items()
    }
    http: dict[str, tuple[str, ...]] = {
        name: (name.replace("-", " ").capitalize(), words) for name, words in _HTTP.values()
    }
    http[LOGIN_REFUSED[0]] = ("Login refused", LOGIN_REFUSED[1])
    http["refused"] = ("Refused", "This request is refused.")
    http[_FAILED[0]] = ("Failure", _FAILED[1])
    return ours | http


def show_problem(_: Request, name: str) -> Response:
    """The page of one problem."""
    title, *paragraphs = problem_pages().get(name, ("",))
    if not title:
        raise HTTPException(404)
    body = element("h1", title) + "".join(element("p", words) for words in paragraphs)
    head = '<!doctype html><html lang="en"><meta charset="utf-8">'
    return HTMLResponse(f"{head}{element('title', title)}{body}</html>")
