"""The ledger for auditors: its charges, its head, a replay, and how to check it elsewhere."""

import threading
from dataclasses import asdict
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from deniable.app.cli.commands.ledger import entry_cells, parse_head
from deniable.app.server.accounts.identity import Person
from deniable.app.server.console.console import Console
from deniable.app.server.console.console_forms import read_form, read_whole
from deniable.app.server.console.page_routes import PageRoute
from deniable.app.server.questions.served_policy import ServedPolicy
from deniable.errors import DeniableError, TooManyQuestions
from deniable.exact.foreign_text import printable
from deniable.exact.suggestions import pluralize
from deniable.ledger.durable_ledger import verify_ledger
from deniable.ledger.entries import known_as
from deniable.ledger.ledger import Entry

LEDGER = "/console/{policy}/ledger"
_MOST = 50  # charges on a page
_HEADINGS = ("entry", "time (UTC)", "analyst", "about", "epsilon", "delta", "state")
_REPLAYING = threading.Lock()  # a replay reads the whole ledger: one at a time


class LedgerPages:
    """What is shown of a ledger. Nothing here writes to it."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def routes(self) -> list[PageRoute]:
        """The routes of these pages."""
        return [
            PageRoute("GET", LEDGER, self.show_ledger),
            PageRoute("POST", LEDGER, self.replay),
        ]

    async def show_ledger(self, request: Request, policy: str, before: str = "") -> Response:
        """The charges that are there for a person, the latest first."""
        number = read_whole(before, digits=15)
        return await self._console.work(request, self._page, request, policy, before=number)

    async def replay(self, request: Request, policy: str) -> Response:
        """Checks every entry with the public key only, and against an earlier head."""
        served, _ = self._console.enter(request, policy)
        fields = await read_form(request)
        head = fields.get("head", "").strip()
        try:
            verdict = await run_in_threadpool(_replay, served, head)
        except DeniableError as problem:
            return await self._console.work(
                request, self._page, request, policy, head=head, problem=str(problem)
            )
        return await self._console.work(
            request, self._page, request, policy, head=head, verdict=verdict
        )

    def _page(
        self,
        request: Request,
        policy: str,
        *,
        before: int = 0,
        head: str = "",
        problem: str = "",
        verdict: str = "",
    ) -> Response:
        served, person = self._console.enter(request, policy)
        ledger = served.session.ledger
        charges = [entry for entry in ledger.entries if _is_there(entry, request, served)]
        later = [entry for entry in reversed(charges) if not before or entry.number < before]
        entries = later[:_MOST]
        return self._console.show(
            request,
            "ledger.html",
            title="Ledger",
            policy=served.name,
            headings=_HEADINGS,
            charges=[_cells(entry) for entry in entries],
            older=entries[-1].number if len(later) > _MOST else 0,
            newest=not before,
            whose="" if request.state.reach == "any" else person.name,
            head_now=asdict(ledger.head),
            origin=ledger.origin,
            key=ledger.public_key,
            store=_store_name(served, person),
            head=head,
            problem=problem,
            verdict=verdict,
        )


def _is_there(entry: Entry, request: Request, served: ServedPolicy) -> bool:
    person: Person = request.state.person
    own = request.state.reach == "any" or known_as(entry.analyst) == known_as(person.name)
    return own and person.may_read(served.name, entry.tables)


def _cells(entry: Entry) -> list[str]:
    cells = [printable(cell) for cell in entry_cells(entry)]
    cells[1] = cells[1].replace("T", " ").removesuffix("Z")
    return cells


def _store_name(served: ServedPolicy, person: Person) -> str:
    """What stands for the ledger in a command: only its owner learns where it is."""
    where = str(served.session.policy.ledger)
    return where if person.role == "owner" and "://" not in where else "copy-of-the-ledger"


def _replay(served: ServedPolicy, head: str) -> str:
    """What a replay finds, in sentences; an error of ours if anything was changed."""
    heads = [parse_head(head.encode("utf-8", "replace"), "The text")] if head else []
    if not _REPLAYING.acquire(blocking=False):
        raise TooManyQuestions("Somebody else replays a ledger now. Try again in a minute.")
    try:
        ledger: Any = served.session.ledger
        verified = verify_ledger(
            str(served.session.policy.ledger), public_key=ledger.public_key, heads=heads
        )
    finally:
        _REPLAYING.release()
    earlier = f", and it contains {pluralize(len(heads), 'earlier head')}" if heads else ""
    return (
        f"The ledger is sound. All {verified.entries:,} entries were read again{earlier}. Its "
        f"head is entry {verified.head.number:,}."
    )
