"""The console's door: log in, log out, the policies, and the files of the pages."""

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from deniable.app.server.accounts.browser_sessions import COOKIE, ended_cookie
from deniable.app.server.accounts.identity import Person
from deniable.app.server.accounts.role_matrix import reach
from deniable.app.server.console.console import HOME, Console, go_to, lead_to, safe_address
from deniable.app.server.console.console_forms import read_fields, read_form
from deniable.app.server.console.console_menu import menu_for
from deniable.app.server.console.page_routes import PageRoute
from deniable.app.server.problem_details import LOGIN_REFUSED
from deniable.app.web.console.console_files import ADDRESS, console_files
from deniable.ledger.ledger import format_down

_KEPT = "public, max-age=31536000, immutable"


class HomePages:
    """What is there before a policy is chosen."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def routes(self) -> list[PageRoute]:
        """The routes of these pages."""
        return [
            PageRoute("GET", "/", self.show_door),
            PageRoute("GET", HOME, self.show_home),
            PageRoute("GET", f"{HOME}/login", self.show_login),
            PageRoute("POST", f"{HOME}/login", self.log_in),
            PageRoute("POST", f"{HOME}/logout", self.log_out),
            PageRoute("GET", f"{ADDRESS}/{{name}}", self.show_file),
        ]

    def show_door(self) -> Response:
        """The server's own address leads to the console."""
        return go_to(HOME)

    def show_home(self, request: Request) -> Response:
        """The policies that are there for a person."""
        person: Person = request.state.person
        listed = [self._describe(name, person) for name in self._console.policies_of(person)]
        surveys = reach("GET", "/console/surveys", person.role) is not None
        if surveys:  # a policy without a page would say so, and nothing else
            listed = [policy for policy in listed if policy["pages"]]
        title = "Your data" if listed else "Welcome"
        return self._console.show(
            request, "home.html", title=title, policies=listed, surveys=surveys
        )

    def show_login(self, request: Request) -> Response:
        """The page to log in on."""
        return self._console.show_login(request)

    async def log_in(self, request: Request) -> Response:
        """A session for a name, a password and maybe a code. One answer to all failures."""
        fields = await read_fields(request)
        after = fields.get("after", "")
        names = ("name", "password", "code")
        credentials = [fields.get(name, "") for name in names]
        try:
            await run_in_threadpool(self._console.desk.limit, request)
            begun = await self._console.desk.log_in(request, *credentials)
        except HTTPException as problem:
            seconds = int((problem.headers or {}).get("Retry-After", "0"))
            words = f"Too many tries. Try again in {max(1, -(-seconds // 60))} min."
            return self._console.show_login(
                request,
                status=problem.status_code,
                problem=words,
                name=credentials[0],
                after=safe_address(after),
                headers={k.lower(): v for k, v in (problem.headers or {}).items()},
            )
        if begun is None:
            return self._console.show_login(
                request,
                status=401,
                problem=LOGIN_REFUSED[1],
                name=credentials[0],
                after=safe_address(after),
            )
        response = lead_to(request, safe_address(after))
        response.headers["Set-Cookie"] = begun[1]
        return response

    async def log_out(self, request: Request) -> Response:
        """Ends the session, for all workers at once."""
        await read_form(request)
        await run_in_threadpool(self._console.desk.end, request.cookies.get(COOKIE, ""))
        response = go_to(f"{HOME}/login")
        response.headers["Set-Cookie"] = ended_cookie()
        return response

    def show_file(self, name: str) -> Response:
        """A file that pages load. It holds nothing private, so browsers may keep it."""
        file = console_files().get(name)
        if file is None:
            raise HTTPException(404)
        headers = {"Cache-Control": _KEPT}
        return Response(file.content, media_type=file.media_type, headers=headers)

    def _describe(self, name: str, person: Person) -> dict[str, Any]:
        pages = menu_for(person.role, name, "")
        own = [page for page in pages if page.address.startswith(f"{HOME}/{name}/")]
        left = ""
        if reach("GET", "/console/{policy}/ask", person.role) is not None:
            session = self._console.server.policies[name].session_for(person.name)
            left = format_down(session.remaining.epsilon)
        return {"name": name, "pages": own, "left": left}
