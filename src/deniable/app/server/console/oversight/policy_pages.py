"""The policy: what is in force, and a draft with its mistakes, its changes and its gifts.

The page changes nothing. To put a draft in force, the owner saves it on the server's machine
and consents in the ledger: the page shows the exact command.
"""

import shlex
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from deniable.app.server.accounts.identity import Person
from deniable.app.server.console.console import Console
from deniable.app.server.console.console_forms import read_form
from deniable.app.server.console.oversight.policy_drafts import (
    CheckedDraft,
    check_draft,
    explain_budgets,
)
from deniable.app.server.console.page_routes import PageRoute
from deniable.app.server.questions.served_policy import ServedPolicy
from deniable.policy.policy_lint import lint_policy
from deniable.policy.toml_lines import lines_without

POLICY = "/console/{policy}/policy"
LONGEST = 48 * 1024  # of a draft; the body of a request is limited as well


class PolicyPages:
    """What is shown of a policy."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def routes(self) -> list[PageRoute]:
        """The routes of these pages."""
        return [
            PageRoute("GET", POLICY, self.show_policy),
            PageRoute("POST", POLICY, self.check),
        ]

    async def show_policy(self, request: Request, policy: str) -> Response:
        """The policy in force, with what it allows."""
        served, _ = self._console.enter(request, policy)

        def show() -> Response:
            served.reread()
            return self._page(request, served, text=served.text)

        return await self._console.work(request, show)

    async def check(self, request: Request, policy: str) -> Response:
        """A draft, or its file to be saved. Nothing is changed."""
        served, person = self._console.enter(request, policy)
        if not served.is_open_to(person):  # the comparison shows every line
            raise HTTPException(404)
        await self._console.work(request, served.reread)
        fields = await read_form(request)
        text = fields.get("draft", "").replace("\r\n", "\n")
        if fields.get("act") == "download":
            return _download(text, served.name)
        ledger: Any = served.session.ledger
        draft = await self._console.work(
            request,
            check_draft,
            text,
            file=served.file,
            written=served.text,
            in_force=served.declared,
            ledger=ledger,
        )
        return await self._console.work(
            request, self._page, request, served, text=text, draft=draft
        )

    def _page(
        self,
        request: Request,
        served: ServedPolicy,
        *,
        text: str,
        draft: CheckedDraft | None = None,
    ) -> Response:
        person: Person = request.state.person
        sees_all = served.is_open_to(person)
        policy = served.declared if sees_all else served.policy_for(person)
        whole = draft.whole if draft is not None else explain_budgets(policy)
        return self._console.show(
            request,
            "policy.html",
            title="Policy",
            policy=served.name,
            owner=person.role == "owner" and sees_all,
            in_force=_lines_for(served, person),
            sees_all=sees_all,
            text=text,
            longest=LONGEST,
            draft=draft,
            findings=lint_policy(served.text, policy) if draft is None and sees_all else (),
            whole=whole,
            command=f"deniable ledger amend --policy {shlex.quote(str(served.file))} "
            '--because "..."',
            hash=served.policy_hash,
        )


def _lines_for(served: ServedPolicy, person: Person) -> list[tuple[int, str]]:
    """The lines about the tables of a person. Where the ledger lies is for its owner alone."""
    policy = served.policy_for(person)
    named = {"tables": policy.tables, "units": policy.units}
    own = {part: {name.casefold() for name in names} for part, names in named.items()}

    def is_hidden(path: tuple[str, ...]) -> bool:
        if path[0] == "ledger":
            return path[1:2] in (("store",), ("key",))
        return path[0] in own and len(path) > 1 and path[1].casefold() not in own[path[0]]

    return lines_without(served.text, is_hidden)


def _download(text: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}.toml"'}
    return Response(text, media_type="application/toml", headers=headers)
