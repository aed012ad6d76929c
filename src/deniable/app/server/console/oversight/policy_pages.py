"""The policy: what is in force, and a draft with its mistakes, its changes and its gifts.

The page changes nothing. To put a draft in force, the owner saves it on the server's machine
and consents in the ledger: the page shows the exact command.
"""

import shlex
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

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

    def show_policy(self, request: Request, policy: str) -> Response:
        """The policy in force, with what it allows."""
        served, _ = self._console.enter(request, policy)
        return self._page(request, served, text=served.text)

    async def check(self, request: Request, policy: str) -> Response:
        """A draft, or its file to be saved. Nothing is changed."""
        served, _ = self._console.enter(request, policy)
        fields = await read_form(request)
        text = fields.get("draft", "").replace("\r\n", "\n")
        if fields.get("act") == "download":
            return _download(text, served.name)
        ledger: Any = served.session.ledger
        draft = await run_in_threadpool(
            check_draft,
            text,
            file=served.file,
            written=served.text,
            in_force=served.declared,
            ledger=ledger,
        )
        return await run_in_threadpool(self._page, request, served, text=text, draft=draft)

    def _page(
        self,
        request: Request,
        served: ServedPolicy,
        *,
        text: str,
        draft: CheckedDraft | None = None,
    ) -> Response:
        owner = request.state.person.role == "owner"
        whole = draft.whole if draft is not None else explain_budgets(served.declared)
        return self._console.show(
            request,
            "policy.html",
            title="Policy",
            policy=served.name,
            owner=owner,
            in_force=served.text.splitlines(),
            text=text,
            longest=LONGEST,
            draft=draft,
            findings=lint_policy(served.text, served.declared) if draft is None else (),
            whole=whole,
            command=f"deniable ledger amend --policy {shlex.quote(str(served.file))} "
            '--because "..."',
            hash=served.policy_hash,
        )


def _download(text: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}.toml"'}
    return Response(text, media_type="application/toml", headers=headers)
