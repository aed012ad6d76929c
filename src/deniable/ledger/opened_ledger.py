"""A journal opened as a ledger: its format, and the terms under which it may be used.

The first entry opens a ledger under the terms of its policy. A policy that was edited amends
them. `ChainedLedger` decides charges under the terms in force.
"""

import datetime
import secrets
from collections.abc import Callable
from typing import Any

from deniable.errors import LedgerBroken, LedgerUnavailable
from deniable.ledger.amendments import Gift, amendment
from deniable.ledger.current_state import Change, CurrentState
from deniable.ledger.journal import EMPTY, Body, Journal, JournalView
from deniable.ledger.ledger import Ledger
from deniable.ledger.questions import QuestionDesk
from deniable.ledger.replay import LedgerState, terms_after
from deniable.ledger.stores.ledger_formats import FORMAT, WITHOUT_SUMS
from deniable.ledger.stores.stored_rows import as_written
from deniable.ledger.terms import Terms

Clock = Callable[[], datetime.datetime]


def utc_now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


class OpenedLedger(Ledger):
    """A ledger that is open under the terms of a policy."""

    def __init__(
        self,
        terms: Terms,
        journal: Journal,
        *,
        ledger_id: str | None = None,
        because: str = "",
        read_only: bool = False,
        migrate: bool = False,
        clock: Clock = utc_now,
    ) -> None:
        self._journal, self._clock = journal, clock
        self._current, self._desk = CurrentState(journal), QuestionDesk(journal)
        birth = ledger_id or secrets.token_hex(16)  # so that no two ledgers are equal
        self._because = because.strip()
        self._birth = {"begun": birth} | ({"because": self._because} if self._because else {})
        self._terms: tuple[int, Terms] = -1, terms
        self._origin: tuple[str, str] | None = None
        self._refused = False  # whether the last request was refused
        self.given: tuple[Gift, ...] = ()  # what this opening gave away, with consent
        if not read_only:
            self._check_format(migrate=migrate)
        with journal.view() as view:
            is_open = self._is_open_under(view, terms)
            if read_only and not is_open:
                self._assume(view, terms)
        if not is_open and not read_only:
            rows = self._current.write(lambda view: self._open_or_amend(view, terms))
            gifts = [gift for row in rows for gift in row.read().get("gives", ())]
            self.given = tuple(map(Gift.from_json, gifts))
            with journal.view() as view:
                self._current_terms(view, self._state(view))

    def _check_format(self, *, migrate: bool) -> None:
        """Refuses to add entries to a ledger of an older format, or migrates it."""
        with self._journal.view() as view:
            state = self._state(view)
        if state.format < WITHOUT_SUMS and not migrate:
            raise LedgerUnavailable(
                f"This ledger has format {state.format}, and entries are added in formats "
                f"{WITHOUT_SUMS} and {FORMAT} only. Nothing was spent. Make a copy of it, then "
                "migrate it with   deniable ledger migrate"
            )
        if migrate:
            self.raise_format()

    def raise_format(self) -> None:
        """Brings the ledger to the format of this version. Earlier versions then refuse it."""
        with self._journal.view() as view:
            state = self._state(view)
        if state.format < FORMAT:
            self._current.write(self._migrate)

    def _migrate(self, view: JournalView) -> Change:
        state = self._state(view)
        if state.format == FORMAT:  # another process was first
            return (), state
        terms = terms_after(state.format, self._current_terms(view, state)).to_json()
        body = {"format": FORMAT, "kind": "migrated", "terms": terms, "time": self._time()}
        state.apply(view.anchor.number + 1, body)
        return (body,), state

    def _is_open_under(self, view: JournalView, terms: Terms) -> bool:
        """Whether the ledger was opened and has exactly these terms."""
        if view.anchor == EMPTY:
            return False
        current = self._current_terms(view, self._state(view))
        return current == terms.with_tables_of(current)

    def _assume(self, view: JournalView, terms: Terms) -> None:
        """Reads the ledger as if new terms were in force."""
        state = self._state(view)
        current = self._current_terms(view, state)
        amendment(current, terms, self._because)
        self._terms = state.terms, terms.with_tables_of(current)

    def _open_or_amend(self, view: JournalView, terms: Terms) -> Change:
        body: dict[str, Any] = {"terms": terms.to_json(), "time": self._time()}
        state = LedgerState()  # of a new ledger
        if view.anchor == EMPTY:
            if view.row(0) is not None:
                raise LedgerBroken("The ledger has entries but no head. Its anchor was lost.")
            body |= {"kind": "opened", "format": FORMAT, "key": self._journal.key.public}
            body |= self._birth
        else:
            state = self._state(view)
            current = self._current_terms(view, state)
            if current == terms.with_tables_of(current):  # another process was first
                return (), state
            body |= amendment(current, terms, self._because)
        state.apply(view.anchor.number + 1, body)
        return (body,), state

    def _state(self, view: JournalView) -> LedgerState:
        return self._current.at(view)

    def _current_terms(self, view: JournalView, state: LedgerState) -> Terms:
        """The terms in force, read from the ledger."""
        if self._terms[0] != state.terms:
            row = view.row(state.terms)
            if row is None:
                raise LedgerBroken("The entry that holds the ledger's terms is missing.")
            with as_written(f"Entry {state.terms}"):
                self._terms = state.terms, Terms.from_json(row.read()["terms"])
        return self._terms[1]

    def terms_entry(self) -> Body:
        """The entry that holds the terms in force: it opened the ledger, or amended it."""
        with self._journal.view() as view:
            row = view.row(self._state(view).terms)
            return {} if row is None else row.read()

    @property
    def origin(self) -> tuple[str, str]:
        if self._origin is None:
            with self._journal.view() as view:
                first = view.row(0)
            body: Body = {} if first is None else first.read()
            self._origin = str(body.get("begun", "")), str(body.get("because", ""))
        return self._origin

    @property
    def public_key(self) -> str:
        return self._journal.key.public

    def sign(self, message: bytes) -> str:
        return self._journal.key.sign(message)

    def close(self) -> None:
        self._journal.close()

    def _time(self) -> str:
        return self._clock().isoformat(timespec="seconds")
