"""What all pages of the console share: who looks, the frame of a page, and its headers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from deniable.app.server.accounts.identity import Person
from deniable.app.server.accounts.login_desk import LoginDesk
from deniable.app.server.accounts.role_matrix import reach
from deniable.app.server.children.turns import Found, Given
from deniable.app.server.console.budget_requests import BudgetRequests
from deniable.app.server.console.console_forms import form_token
from deniable.app.server.console.console_menu import menu_for
from deniable.app.server.console.public_links import PublicLinks
from deniable.app.server.problem_details import problem_of, tell_problem
from deniable.app.server.questions.question_routes import QuestionServer
from deniable.app.server.questions.served_policy import ServedPolicy
from deniable.app.server.surveys.survey_desk import SurveyDesk
from deniable.app.web.console.console_templates import render

HOME = "/console"
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_KEPT = ("www-authenticate", "retry-after", "allow")  # headers of a problem
_FORBIDDEN = (
    "Your role does not open this page. Or the form that was sent is from before your last "
    "log-in: go back, load its page again, and send it again."
)


@dataclass(frozen=True, slots=True)
class Console:
    """The server as its pages see it."""

    server: QuestionServer
    desk: LoginDesk
    links: PublicLinks
    requests: BudgetRequests
    providers: tuple[str, ...] = ()  # names of log-ins elsewhere
    surveys: SurveyDesk | None = None  # None: this server has no surveys

    def enter(self, request: Request, policy: str) -> tuple[ServedPolicy, Person]:
        """The policy that a page is about, and who looks; the gate has let the person in."""
        person: Person = request.state.person
        served = self.server.policies.get(policy)
        if served is None or not person.may_use(policy):
            raise HTTPException(404)
        return served, person

    async def work(
        self,
        request: Request,
        act: Callable[Given, Found],
        *arguments: Given.args,
        **how: Given.kwargs,
    ) -> Found:
        """Makes a page, or a part of it, when it is this person's turn."""
        return await self.server.read(request, act, *arguments, **how)

    def policies_of(self, person: Person) -> list[str]:
        """The names of the policies that are there for a person."""
        return [name for name in self.server.policies if person.may_use(name)]

    def show(
        self, request: Request, template: str, *, title: str, status: int = 200, **values: Any
    ) -> Response:
        """A whole page, with the menu of the policy that its address names."""
        page = self._frame(request)
        return html(render(template, page=page, title=title, **values), status)

    def show_part(self, request: Request, template: str, **values: Any) -> Response:
        """A part of a page that is shown already."""
        return html(render(template, token=form_token(request), **values))

    def show_problem(self, request: Request, problem: Exception) -> Response | None:
        """The page of a request that failed; None for requests that are not for pages."""
        if not _is_for_page(request):
            return None
        response = problem_of(problem)
        if response.status_code == 401 and request.url.path.startswith(HOME):
            return self.show_login(request, status=401, headers=dict(response.headers))
        title, words = tell_problem(problem)
        if isinstance(problem, HTTPException) and response.status_code == 403:
            words = _FORBIDDEN
        if "hx-request" in request.headers and request.url.path.endswith("/preview"):
            return html(
                render("preview.html", problem=words, preview=None), response.status_code
            )
        values = {"page": self._frame(request), "title": title, "words": words}
        page = html(render("message.html", **values), response.status_code)
        page.headers.update({k: v for k, v in response.headers.items() if k in _KEPT})
        return page

    def show_login(
        self,
        request: Request,
        *,
        status: int = 200,
        problem: str = "",
        name: str = "",
        after: str = "",
        headers: dict[str, str] | None = None,
    ) -> Response:
        """The page to log in on, at whatever address: it leads back to there."""
        path = request.url.path
        back = after or (path if request.method == "GET" and status == 401 else HOME)
        text = render(
            "login.html",
            page=None,
            title="Log in",
            problem=problem,
            name=name,
            after=back,
            providers=self.providers,
        )
        response = html(text, status)
        response.headers.update({k: v for k, v in (headers or {}).items() if k in _KEPT})
        if "hx-request" in request.headers and not problem:
            # A part of a page cannot hold a whole one: the page itself is loaded again.
            page = urlsplit(request.headers.get("hx-current-url", "")).path
            response.headers["HX-Redirect"] = safe_address(page)
        return response

    def _frame(self, request: Request) -> dict[str, Any] | None:
        person: Person | None = getattr(request.state, "person", None)
        if person is None:
            return None
        own = self.policies_of(person)
        policy = str(request.path_params.get("policy", ""))
        reads = reach("GET", "/console/{policy}/releases", person.role) is not None
        if not policy and request.url.path != HOME and len(own) == 1 and reads:
            policy = own[0]  # a page about none, such as surveys, has the menu of the only one
        known = policy in own
        return {
            "person": person,
            "policy": policy if known else "",
            "policies": own,
            "menu": menu_for(person.role, policy, request.url.path) if known else [],
            "asks": reach("GET", "/console/{policy}/ask", person.role) is not None,
            "token": form_token(request),
        }


def _is_for_page(request: Request) -> bool:
    """Whether a person waits for an answer: on our pages, or at an address typed by hand."""
    path, accepted = request.url.path, request.headers.get("accept", "")
    by_hand = request.method == "GET" and "text/html" in accepted
    return path.startswith((HOME, "/public")) or (by_hand and not path.startswith("/v1/"))


def html(text: str, status: int = 200) -> Response:
    """A page with the content policy of the console."""
    return HTMLResponse(
        text, status_code=status, headers={"Content-Security-Policy": CONTENT_POLICY}
    )


def go_to(address: str) -> Response:
    """Sends a browser to another page, after a form."""
    return RedirectResponse(address, status_code=303)


def lead_to(request: Request, address: str) -> Response:
    """The same for a form that a script may have sent, as a page of its own in either case."""
    if "hx-request" in request.headers:
        return Response(status_code=204, headers={"HX-Redirect": address})
    return go_to(address)


def safe_address(after: str) -> str:
    """An address of the console to go to after logging in; home for anything else.

    >>> told = ("/console/hospital/ask", "//evil.example", "/console\\\\evil")
    >>> [safe_address(after) for after in told]
    ['/console/hospital/ask', '/console', '/console']
    """
    parts = after.split("/")
    safe = parts[:2] == ["", "console"] and all(
        part and part.isascii() and part.replace("-", "").replace("_", "").isalnum()
        for part in parts[1:]
    )
    return after if safe else HOME
