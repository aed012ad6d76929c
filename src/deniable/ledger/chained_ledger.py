"""A ledger on a journal: it decides under the journal's lock, and a replay can check its sums.

Every decision is made from the anchor's sums while the anchor is locked, and is durable before
`reserve` returns. After a refusal, the next request is first tried without the lock, on the
committed sums: sums only grow, so a request that does not fit now will not fit later either.
"""

import datetime
import json
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from deniable.errors import BudgetExhausted, InvalidParameter, LedgerBroken
from deniable.exact.rationals import Number, probability
from deniable.ledger.accounts import NOTHING, Charge, PartPath
from deniable.ledger.amendments import amendment
from deniable.ledger.charges import charge_for
from deniable.ledger.entries import (
    list_charges,
    part_of,
    part_to_json,
    plan_to_json,
    read_entries,
    recalled_answer,
    repeated_body,
    reserved_body,
)
from deniable.ledger.journal import (
    EMPTY,
    Body,
    Decision,
    Journal,
    JournalRow,
    JournalView,
)
from deniable.ledger.ledger import (
    Entry,
    FilterUsage,
    Head,
    Ledger,
    RecalledAnswer,
    Remaining,
    VerifiedLedger,
    exhausted_error,
    touched_parts,
)
from deniable.ledger.prices import check_price, check_prices
from deniable.ledger.questions import (
    AskedQuestion,
    KeptAnswer,
    QuestionActs,
    QuestionDesk,
    end_reservation,
    look_up,
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
        self._desk = QuestionDesk(journal)
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
        share = None if delta is None else probability(delta, "delta")
        hashes = [None] * len(plans) if plan_hashes is None else list(plan_hashes)
        facts = {"analyst": analyst, "version": version, "part": part_to_json(part)}
        described = [plan_to_json(*pair) for pair in zip(plans, hashes, strict=True)]
        rows = self._append(
            lambda view: self._reserve(view, plans, described, facts, {}, share)
        )
        return tuple(read_entries(rows[0]))

    def _reserve(
        self,
        view: JournalView,
        plans: Sequence[Plan],
        described: Sequence[Body],
        facts: Body,
        more: Body,
        share: Fraction | None = None,
    ) -> Decision:
        """Charges plans, under the lock; with a `share`, their tight price at that delta."""
        state = self._state(view)
        terms = self._current_terms(view, state)
        charges = terms.charges(plans, facts["analyst"], share)
        touches = max(touched_parts(plan.neighbors) for plan in plans)
        body = reserved_body(
            charges, described, touches, share, {**facts, **more, "time": self._time()}
        )
        self._grant(state, terms, body, view.anchor.number, charges)
        return (body,), state.to_json()

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
        self._journal.append(
            lambda view: end_reservation(view, entry, how | {"time": self._time()}, record)
        )

    @contextmanager
    def ask(
        self,
        plan: Plan,
        *,
        plan_hash: str,
        version: str = "",
        analyst: str | None = None,
        part: PartPath = (),
        fresh: bool = False,
        question_id: str | None = None,
    ) -> Iterator[Entry | RecalledAnswer]:
        asked = AskedQuestion(plan_hash, version, analyst, fresh, question_id)
        described = (plan_to_json(plan, plan_hash),)
        facts: Body = {"analyst": analyst, "version": version, "part": part_to_json(part)}
        acts = QuestionActs(
            has_account=lambda view: self._has_account(view, analyst),
            reserve=lambda view, more: self._reserve(view, (plan,), described, facts, more),
            repeat=lambda view, answer: self._repeat(view, plan, answer, analyst),
            check=lambda: check_price(plan),
            append=self._append,
            time=self._time,
        )
        with self._desk.ask(asked, acts) as found:
            yield found

    def _has_account(self, view: JournalView, analyst: str | None) -> bool:
        terms = self._current_terms(view, self._state(view))
        return bool(terms.analyst_account(analyst))

    def recall(
        self, *, plan_hash: str, version: str = "", analyst: str | None = None
    ) -> RecalledAnswer | None:
        with self._journal.view() as view:
            asked = AskedQuestion(plan_hash, version, analyst)
            found = look_up(view, asked, has_account=self._has_account(view, analyst))
        if not isinstance(found, KeptAnswer) or not found.paid:
            return None
        return recalled_answer(found.body)

    def stored_answer(self, plan_hash: str, version: str = "") -> RecalledAnswer | None:
        with self._journal.view() as view:
            found = look_up(view, AskedQuestion(plan_hash, version, None), has_account=False)
        return recalled_answer(found.body) if isinstance(found, KeptAnswer) else None

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
            own = terms.analyst_account(analyst)
            asked = [
                AskedQuestion(name or "", version, analyst) for _, name, version in requests
            ]
            answers = [look_up(view, one, has_account=bool(own)) for one in asked]
        day = self._clock().date()
        for (plan, _, _), answer in zip(requests, answers, strict=True):
            charges: Mapping[str, Charge] = {}
            if not isinstance(answer, KeptAnswer):
                charges = terms.charges((plan,), analyst)
                state.accounts.charge(charges, part, touched_parts(plan.neighbors))
            elif not answer.paid:
                charges = dict.fromkeys(own, charge_for((plan,), terms.filters))
                state.accounts.charge(charges)
            if first_over_limit(state.accounts, terms, charges, day) is not None:
                return False
        return True

    def _repeat(
        self, view: JournalView, plan: Plan, answer: Body, analyst: str | None
    ) -> Decision:
        """Charges only the analyst for an answer that was released before."""
        state = self._state(view)
        terms = self._current_terms(view, state)
        charge = charge_for((plan,), terms.filters)
        charges = dict.fromkeys(terms.analyst_account(analyst), charge)
        body = repeated_body(charges, plan, answer, analyst, self._time())
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
        return list_charges(self._journal.read_all()[0])

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
