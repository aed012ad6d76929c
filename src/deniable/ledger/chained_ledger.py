"""A ledger on a journal: it decides under the journal's lock, and a replay can check its sums.

Every decision is made from the anchor's sums while the anchor is locked, and is durable before
`reserve` returns. After a refusal, the next request is first tried without the lock, on the
committed sums: sums only grow, so a request that does not fit now will not fit later either.
"""

import datetime
import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from deniable.errors import BudgetExhausted, InvalidParameter, LedgerBroken
from deniable.exact.rationals import Number, probability
from deniable.ledger.accounts import NOTHING, Charge, PartPath
from deniable.ledger.amendments import amendment
from deniable.ledger.charges import charge_for
from deniable.ledger.entries import (
    charges_to_json,
    find_answer,
    part_of,
    plan_to_json,
    read_entries,
    recalled_answer,
    recipients,
)
from deniable.ledger.journal import (
    EMPTY,
    Body,
    Decision,
    Journal,
    JournalRow,
    JournalView,
    recall_key,
    reservation_id,
)
from deniable.ledger.ledger import (
    Entry,
    FilterUsage,
    Head,
    Ledger,
    RecalledAnswer,
    Remaining,
    VerifiedLedger,
    check_price,
    check_prices,
    exhausted_error,
    touched_parts,
)
from deniable.ledger.remaining import (
    count_grants,
    describe_account,
    filter_usages,
    least_remaining,
    limiting_accounts,
)
from deniable.ledger.replay import (
    FORMAT,
    LedgerState,
    first_over_limit,
    grant_day,
    replay_ledger,
)
from deniable.ledger.terms import Terms
from deniable.query.plan.plan import Plan

Clock = Callable[[], datetime.datetime]


def utc_now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


class ChainedLedger(Ledger):
    """A ledger on any journal, under the terms that its entries fix."""

    def __init__(
        self,
        terms: Terms,
        journal: Journal,
        *,
        ledger_id: str | None = None,
        because: str = "",
        read_only: bool = False,
        clock: Clock = utc_now,
    ) -> None:
        self._journal, self._clock = journal, clock
        birth = ledger_id or secrets.token_hex(16)  # so that no two ledgers are equal
        self._because = because.strip()
        self._birth = {"begun": birth} | ({"because": self._because} if self._because else {})
        self._terms: tuple[int, Terms] = -1, terms
        self._origin: tuple[str, str] | None = None
        self._refused = False  # whether the last request was refused
        with journal.view() as view:
            is_open = self._is_open_under(view, terms)
            if read_only and not is_open:
                self._assume(view, terms)
        if not is_open and not read_only:
            journal.append(lambda view: self._open_or_amend(view, terms))
            with journal.view() as view:
                self._current_terms(view, self._state(view))

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

    def _open_or_amend(self, view: JournalView, terms: Terms) -> Decision:
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
        return (body,), state.to_json()

    def _state(self, view: JournalView) -> LedgerState:
        return LedgerState.from_json(json.loads(view.anchor.state))

    def _current_terms(self, view: JournalView, state: LedgerState) -> Terms:
        """The terms in force, read from the ledger."""
        if self._terms[0] != state.terms:
            row = view.row(state.terms)
            if row is None:
                raise LedgerBroken("The entry that holds the ledger's terms is missing.")
            self._terms = state.terms, Terms.from_json(row.read()["terms"])
        return self._terms[1]

    def terms_entry(self) -> Body:
        """The entry that holds the terms in force: it opened the ledger, or amended it."""
        with self._journal.view() as view:
            row = view.row(self._state(view).terms)
            return {} if row is None else row.read()

    def reserve_all(
        self,
        plans: Sequence[Plan],
        *,
        analyst: str | None = None,
        plan_hashes: Sequence[str] | None = None,
        version: str = "",
        part: PartPath = (),
        delta: Number | None = None,
    ) -> tuple[Entry, ...]:
        if not plans:
            raise InvalidParameter("`plans` is empty: there is nothing to reserve.")
        check_prices(plans)
        hashes = [None] * len(plans) if plan_hashes is None else list(plan_hashes)
        body: dict[str, Any] = {
            "analyst": analyst,
            "kind": "reserved",
            "part": [list(step) for step in part],
            "plans": [plan_to_json(*pair) for pair in zip(plans, hashes, strict=True)],
            "touches": max(touched_parts(plan.neighbors) for plan in plans),
            "version": version,
        }
        share = None if delta is None else probability(delta, "delta")
        if share is not None:
            body["together"] = str(share)

        def decide(view: JournalView) -> Decision:
            state = self._state(view)
            terms = self._current_terms(view, state)
            charges = terms.charges(plans, analyst, share)
            entry = body | {"charges": charges_to_json(charges), "time": self._time()}
            self._grant(state, terms, entry, view.anchor.number, charges)
            return (entry,), state.to_json()

        return tuple(read_entries(self._append(decide)[0]))

    def _append(self, decide: Callable[[JournalView], Decision]) -> list[JournalRow]:
        """Appends the decision. A refusal need not wait for the lock."""
        if self._refused:
            with self._journal.view() as view:
                decide(view)
        try:
            rows = self._journal.append(decide)
        except BudgetExhausted:
            self._refused = True
            raise
        self._refused = False
        return rows

    def _grant(
        self,
        state: LedgerState,
        terms: Terms,
        body: Body,
        last: int,
        charges: Mapping[str, Charge],
    ) -> None:
        """Adds an entry to the sums; refuses it if an account has no room for it."""
        before = state.copy()
        state.apply(last + 1, body)
        day = grant_day(body)
        over = first_over_limit(state.accounts, terms, charges, day)
        if over is None:
            return
        part = part_of(body), body["touches"]
        left = least_remaining(before.accounts, terms, (over,), day, *part)
        pure = charges[over]["pure"] or NOTHING
        raise exhausted_error(Remaining(*pure), left, describe_account(over))

    def settle(self, entry: Entry, record: str | None = None) -> None:
        self._end(entry, {"kind": "settled"}, record)

    def fail(self, entry: Entry, reference: str) -> None:
        self._end(entry, {"kind": "failed", "reference": reference}, None)

    def _end(self, entry: Entry, how: dict[str, Any], record: str | None) -> None:
        def decide(view: JournalView) -> Decision:
            row = view.row(entry.number)
            reserved = {} if row is None else row.read()
            plans = reserved["plans"] if reserved.get("kind") == "reserved" else ()
            if not 0 <= entry.place < len(plans):
                raise InvalidParameter(f"This ledger has no entry {entry.number}.")
            ending = view.ending(reservation_id(entry.number, entry.place))
            if ending is not None:
                raise InvalidParameter(
                    f"Entry {entry.number} is already {ending.read()['kind']}."
                )
            body = how | {"of": entry.number, "place": entry.place, "time": self._time()}
            plan_hash = plans[entry.place]["plan"]
            if record is not None and plan_hash is not None:
                request = {name: reserved[name] for name in ("analyst", "version")}
                body |= {"plan": plan_hash, "record": record} | request
            return (body,), json.loads(view.anchor.state)

        self._journal.append(decide)

    def recall(
        self, plan: Plan, *, plan_hash: str, version: str = "", analyst: str | None = None
    ) -> RecalledAnswer | None:
        with self._journal.view() as view:
            stored = find_answer(view, plan_hash, version)
            if stored is None:
                return None
            row, received = stored
            own = self._current_terms(view, self._state(view)).analyst_account(analyst)
        answer = row.read()
        if own and analyst not in received:
            check_price(plan)
            self._append(lambda view: self._repeat(view, plan, answer, own[0], analyst))
        return recalled_answer(answer)

    def stored_answer(self, plan_hash: str, version: str = "") -> RecalledAnswer | None:
        with self._journal.view() as view:
            stored = find_answer(view, plan_hash, version)
        return None if stored is None else recalled_answer(stored[0].read())

    def affords(
        self,
        requests: Sequence[tuple[Plan, str | None, str]],
        analyst: str | None = None,
        *,
        part: PartPath = (),
    ) -> bool:
        with self._journal.view() as view:
            state = self._state(view)
            terms = self._current_terms(view, state)
            answers = [find_answer(view, *request[1:]) for request in requests]
        day = self._clock().date()
        for (plan, _, _), answer in zip(requests, answers, strict=True):
            charges: Mapping[str, Charge] = {}
            if answer is None:
                charges = terms.charges((plan,), analyst)
                state.accounts.charge(charges, part, touched_parts(plan.neighbors))
            elif analyst not in answer[1]:
                charge = charge_for((plan,), terms.filters)
                charges = dict.fromkeys(terms.analyst_account(analyst), charge)
                state.accounts.charge(charges)
            if first_over_limit(state.accounts, terms, charges, day) is not None:
                return False
        return True

    def _repeat(
        self, view: JournalView, plan: Plan, answer: Body, account: str, analyst: str | None
    ) -> Decision:
        """Charges only the analyst for an answer that was released before."""
        state = self._state(view)
        terms = self._current_terms(view, state)
        rows = view.answers(recall_key(answer["plan"], answer["version"]))
        if analyst in recipients(answer, rows):
            return (), state.to_json()
        charges = {account: charge_for((plan,), terms.filters)}
        body = {
            "analyst": analyst,
            "charges": charges_to_json(charges),
            "kind": "repeated",
            "of": answer["of"],
            "part": [],
            "place": answer["place"],
            "plan": answer["plan"],
            "plans": [plan_to_json(plan, answer["plan"])],
            "time": self._time(),
            "touches": 1,
            "version": answer["version"],
        }
        self._grant(state, terms, body, view.anchor.number, charges)
        return (body,), state.to_json()

    def remaining_for(
        self,
        analyst: str | None = None,
        *,
        tables: Sequence[str] | None = None,
        part: PartPath = (),
        touches: int = 1,
    ) -> Remaining:
        with self._journal.view() as view:
            state = self._state(view)
            terms = self._current_terms(view, state)
        names = None if tables is None else tuple(tables)
        accounts = limiting_accounts(terms, analyst, names)
        day = self._clock().date()
        return least_remaining(state.accounts, terms, accounts, day, part, touches)

    def how_many(
        self, plan: Plan, analyst: str | None = None, *, part: PartPath = ()
    ) -> int | None:
        with self._journal.view() as view:
            state = self._state(view)
            terms = self._current_terms(view, state)
        charge = charge_for((plan,), terms.filters)
        accounts = terms.accounts(plan.tables, analyst)
        request = state.accounts, terms, accounts, charge, self._clock().date()
        return count_grants(*request, part, touched_parts(plan.neighbors))

    def filter_usages(self) -> tuple[FilterUsage, ...]:
        with self._journal.view() as view:
            state = self._state(view)
            terms = self._current_terms(view, state)
        return filter_usages(state.accounts, terms, self._clock().date())

    @property
    def entries(self) -> tuple[Entry, ...]:
        entries: dict[str, Entry] = {}
        for row in self._journal.read_all()[0]:
            for entry in read_entries(row):
                entries[reservation_id(entry.number, entry.place)] = entry
            if row.ends is not None:
                body = row.read()
                how = {"state": body["kind"], "reference": body.get("reference")}
                entries[row.ends] = replace(entries[row.ends], **how)
        return tuple(entries.values())

    @property
    def head(self) -> Head:
        with self._journal.view() as view:
            return view.anchor.head

    def verify(self, heads: Sequence[Head] = ()) -> VerifiedLedger:
        rows, anchor = self._journal.read_all()
        return replay_ledger(rows, anchor, self.public_key, heads)

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
