"""A ledger kept in a journal: decisions under its lock, sums that a replay finds again.

Every decision is made from the anchor's sums while the anchor is locked, and is durable before
`reserve` returns. After one refusal the next is first tried without the lock, on what is
committed: sums only grow, so what does not fit now will not fit behind the queue either.
"""

import datetime
import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from deniable.errors import BudgetExhausted, InvalidParameter, InvalidPolicy, LedgerBroken
from deniable.exact.rationals import Number, probability
from deniable.ledger import remaining
from deniable.ledger.accounts import NOTHING, Charge, Path
from deniable.ledger.charges import price
from deniable.ledger.entries import (
    answered,
    entries,
    part_of,
    recalled,
    told,
    who_received,
    written,
)
from deniable.ledger.journal import (
    EMPTY,
    Body,
    Decision,
    Journal,
    JournalView,
    MemoryJournal,
    Row,
    recall_key,
    reservation,
)
from deniable.ledger.ledger import (
    Entry,
    Gauge,
    Head,
    Ledger,
    Recalled,
    Remaining,
    VerifiedLedger,
    check_price,
    check_prices,
    exhausted,
    touches,
)
from deniable.ledger.replay import (
    FORMAT,
    State,
    beyond,
    granted_on,
    replayed,
)
from deniable.ledger.signing_keys import SigningKey
from deniable.ledger.terms import Terms
from deniable.policy.budget import Budget
from deniable.query.plan.plan import Plan

Clock = Callable[[], datetime.datetime]


def utc_now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


class ChainedLedger(Ledger):
    """A ledger on any journal, under the terms that its first entry fixed."""

    def __init__(self, terms: Terms, journal: Journal, *, clock: Clock = utc_now) -> None:
        self._journal, self._clock = journal, clock
        self._terms: tuple[int, Terms] = -1, terms
        self._refused = False  # whether the last one asked for was refused
        with journal.view() as view:
            settled = self._agreed(view, terms)
        if not settled:
            journal.append(lambda view: self._opening(view, terms))
            with journal.view() as view:
                self._known(view, self._state(view))

    def _agreed(self, view: JournalView, terms: Terms) -> bool:
        """Whether the ledger is open, under these very terms."""
        if view.anchor == EMPTY:
            return False
        known = self._known(view, self._state(view))
        return known == terms.after(known)

    def _opening(self, view: JournalView, terms: Terms) -> Decision:
        body: dict[str, Any] = {"terms": terms.to_json(), "time": self._time()}
        state = State()  # of a ledger that is opened now
        if view.anchor == EMPTY:
            if view.row(0) is not None:
                raise LedgerBroken("The ledger has entries but no head: its anchor was lost.")
            body |= {"kind": "opened", "format": FORMAT, "key": self._journal.key.public}
            body["begun"] = secrets.token_hex(16)  # no two ledgers are alike, if but by chance
        else:
            state = self._state(view)
            known = self._known(view, state)
            now = terms.after(known)
            if known == now:  # somebody else was first
                return (), state
            known.allow(terms)
            body |= {"kind": "amended", "terms": now.to_json()}
        state.apply(view.anchor.number + 1, body)
        return (body,), state.to_json()

    def _state(self, view: JournalView) -> State:
        return State.from_json(json.loads(view.anchor.state))

    def _known(self, view: JournalView, state: State) -> Terms:
        """The terms in force, as the ledger has them."""
        if self._terms[0] != state.terms:
            row = view.row(state.terms)
            if row is None:
                raise LedgerBroken("The entry that holds the ledger's terms is missing.")
            self._terms = state.terms, Terms.from_json(row.read()["terms"])
        return self._terms[1]

    def reserve_all(
        self,
        plans: Sequence[Plan],
        *,
        analyst: str | None = None,
        plan_hashes: Sequence[str] | None = None,
        version: str = "",
        part: Path = (),
        delta: Number | None = None,
    ) -> tuple[Entry, ...]:
        if not plans:
            raise InvalidParameter("There is nothing to reserve: the list of plans is empty.")
        check_prices(plans)
        hashes = [None] * len(plans) if plan_hashes is None else list(plan_hashes)
        body: dict[str, Any] = {
            "analyst": analyst,
            "kind": "reserved",
            "part": [list(one) for one in part],
            "plans": [told(*one) for one in zip(plans, hashes, strict=True)],
            "touches": max(touches(plan.neighbors) for plan in plans),
            "version": version,
        }
        share = None if delta is None else probability(delta, "delta")
        if share is not None:
            body["together"] = str(share)

        def decide(view: JournalView) -> Decision:
            state = self._state(view)
            terms = self._known(view, state)
            charges = _charges(plans, terms, analyst, share)
            made = body | {"charges": written(charges), "time": self._time()}
            self._grant(state, terms, made, view.anchor.number, charges)
            return (made,), state.to_json()

        return tuple(entries(self._decided(decide)[0]))

    def _decided(self, decide: Callable[[JournalView], Decision]) -> list[Row]:
        """Appends what is decided. A refusal need not wait for the lock."""
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
        self, state: State, terms: Terms, body: Body, last: int, charges: Mapping[str, Charge]
    ) -> None:
        """Takes an entry into the sums; refuses it if an account has no room for it."""
        before = state.copy()
        state.apply(last + 1, body)
        day = granted_on(body)
        over = beyond(state.accounts, terms, charges, day)
        if over is None:
            return
        part = part_of(body), body["touches"]
        left = remaining.left(before.accounts, terms, (over,), day, *part)
        pure = charges[over]["pure"] or NOTHING
        raise exhausted(Remaining(*pure), left, remaining.whose(over))

    def settle(self, entry: Entry, record: str | None = None) -> None:
        self._end(entry, {"kind": "settled"}, record)

    def failed(self, entry: Entry, reference: str) -> None:
        self._end(entry, {"kind": "failed", "reference": reference}, None)

    def _end(self, entry: Entry, how: dict[str, Any], record: str | None) -> None:
        def decide(view: JournalView) -> Decision:
            row = view.row(entry.number)
            reserved = {} if row is None else row.read()
            plans = reserved["plans"] if reserved.get("kind") == "reserved" else ()
            if not 0 <= entry.place < len(plans):
                raise InvalidParameter(f"This ledger has no entry {entry.number}.")
            ending = view.ending(reservation(entry.number, entry.place))
            if ending is not None:
                raise InvalidParameter(
                    f"Entry {entry.number} has already {ending.read()['kind']}."
                )
            body = how | {"of": entry.number, "place": entry.place, "time": self._time()}
            plan_hash = plans[entry.place]["plan"]
            if record is not None and plan_hash is not None:
                kept = {name: reserved[name] for name in ("analyst", "version")}
                body |= {"plan": plan_hash, "record": record} | kept
            return (body,), json.loads(view.anchor.state)

        self._journal.append(decide)

    def recall(
        self, plan: Plan, *, plan_hash: str, version: str = "", analyst: str | None = None
    ) -> Recalled | None:
        with self._journal.view() as view:
            found = answered(view, plan_hash, version)
            if found is None:
                return None
            row, received = found
            own = self._known(view, self._state(view)).analyst(analyst)
        answer = row.read()
        if own and analyst not in received:
            check_price(plan)
            self._decided(lambda view: self._repeat(view, plan, answer, own[0], analyst))
        return recalled(answer)

    def kept(self, plan_hash: str, version: str = "") -> Recalled | None:
        with self._journal.view() as view:
            found = answered(view, plan_hash, version)
        return None if found is None else recalled(found[0].read())

    def affords(
        self,
        asked: Sequence[tuple[Plan, str | None, str]],
        analyst: str | None = None,
        *,
        part: Path = (),
    ) -> bool:
        with self._journal.view() as view:
            state = self._state(view)
            terms = self._known(view, state)
            kept = [answered(view, plan_hash, version) for _, plan_hash, version in asked]
        day = self._clock().date()
        for (plan, _, _), found in zip(asked, kept, strict=True):
            charges: Mapping[str, Charge] = {}
            if found is None:
                charges = _charges((plan,), terms, analyst, None)
                state.accounts.charge(charges, part, touches(plan.neighbors))
            elif analyst not in found[1]:
                each = price((plan,), terms.filters)
                charges = dict.fromkeys(terms.analyst(analyst), each)
                state.accounts.charge(charges)
            if beyond(state.accounts, terms, charges, day) is not None:
                return False
        return True

    def _repeat(
        self, view: JournalView, plan: Plan, answer: Body, account: str, analyst: str | None
    ) -> Decision:
        """Charges an analyst, and nobody else, for an answer that was released before."""
        state = self._state(view)
        terms = self._known(view, state)
        rows = view.answers(recall_key(answer["plan"], answer["version"]))
        if analyst in who_received(answer, rows):
            return (), state.to_json()
        charges = {account: price((plan,), terms.filters)}
        body = {
            "analyst": analyst,
            "charges": written(charges),
            "kind": "repeated",
            "of": answer["of"],
            "part": [],
            "place": answer["place"],
            "plan": answer["plan"],
            "plans": [told(plan, answer["plan"])],
            "time": self._time(),
            "touches": 1,
            "version": answer["version"],
        }
        self._grant(state, terms, body, view.anchor.number, charges)
        return (body,), state.to_json()

    def left(
        self,
        analyst: str | None = None,
        *,
        tables: Sequence[str] | None = None,
        part: Path = (),
        touches: int = 1,
    ) -> Remaining:
        with self._journal.view() as view:
            state = self._state(view)
            terms = self._known(view, state)
        accounts = remaining.asked(terms, analyst, None if tables is None else tuple(tables))
        day = self._clock().date()
        return remaining.left(state.accounts, terms, accounts, day, part, touches)

    def how_many(
        self, plan: Plan, analyst: str | None = None, *, part: Path = ()
    ) -> int | None:
        with self._journal.view() as view:
            state = self._state(view)
            terms = self._known(view, state)
        charge = price((plan,), terms.filters)
        accounts = terms.accounts(plan.tables, analyst)
        asked = state.accounts, terms, accounts, charge, self._clock().date()
        return remaining.how_many(*asked, part, touches(plan.neighbors))

    def gauges(self) -> tuple[Gauge, ...]:
        with self._journal.view() as view:
            state = self._state(view)
            terms = self._known(view, state)
        return remaining.gauges(state.accounts, terms, self._clock().date())

    @property
    def entries(self) -> tuple[Entry, ...]:
        found: dict[str, Entry] = {}
        for row in self._journal.whole()[0]:
            for entry in entries(row):
                found[reservation(entry.number, entry.place)] = entry
            if row.ends is not None:
                body = row.read()
                how = {"state": body["kind"], "reference": body.get("reference")}
                found[row.ends] = replace(found[row.ends], **how)
        return tuple(found.values())

    @property
    def head(self) -> Head:
        with self._journal.view() as view:
            return view.anchor.head

    def verify(self, heads: Sequence[Head] = ()) -> VerifiedLedger:
        rows, anchor = self._journal.whole()
        return replayed(rows, anchor, self.public_key, heads)

    @property
    def public_key(self) -> str:
        return self._journal.key.public

    def sign(self, message: bytes) -> str:
        return self._journal.key.sign(message)

    def close(self) -> None:
        self._journal.close()

    def _time(self) -> str:
        return self._clock().isoformat(timespec="seconds")


class MemoryLedger(ChainedLedger):
    """A ledger that lives as long as the process.

    >>> ledger = MemoryLedger(epsilon=1, delta=1e-6)
    >>> print(ledger.remaining)
    epsilon 1, delta 1e-06
    """

    def __init__(
        self,
        epsilon: Number | None = None,
        delta: Number = 0,
        *,
        terms: Terms | None = None,
        clock: Clock = utc_now,
    ) -> None:
        if terms is None:
            terms = Terms.within(_budget(epsilon, delta))
        super().__init__(terms, MemoryJournal(SigningKey.new()), clock=clock)


def _budget(epsilon: Number | None, delta: Number) -> Budget:
    if epsilon is None:
        raise InvalidParameter("A ledger needs a budget: `epsilon`, or the terms of a policy.")
    try:
        return Budget(epsilon, delta)
    except InvalidPolicy as problem:
        raise InvalidParameter(str(problem)) from None


def _charges(
    plans: Sequence[Plan], terms: Terms, analyst: str | None, delta: Fraction | None
) -> dict[str, Charge]:
    """What plans charge together to each account; with a `delta`, their tight price."""
    accounts = {read: terms.accounts(read, analyst) for read in {one.tables for one in plans}}
    concerned: dict[str, list[Plan]] = {}
    for plan in plans:
        for account in accounts[plan.tables]:
            concerned.setdefault(account, []).append(plan)
    whole = price(plans, terms.filters, delta)
    return {
        account: whole if len(some) == len(plans) else price(some, terms.filters, delta)
        for account, some in concerned.items()
    }
