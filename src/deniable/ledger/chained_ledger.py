"""A ledger on a journal: it decides under the journal's lock, and a replay can check its sums.

Every decision is made from the anchor's sums while the anchor is locked, and is durable before
`reserve` returns. After a refusal, the next request is first tried without the lock, on the
committed sums: sums only grow, so a request that does not fit now will not fit later either.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from deniable.errors import BudgetExhausted, InvalidParameter
from deniable.exact.rationals import Number, probability
from deniable.ledger.accounts import NOTHING, Charge, PartPath, compared_part
from deniable.ledger.charges import charge_for
from deniable.ledger.current_state import Change
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
    Body,
    JournalRow,
    JournalView,
)
from deniable.ledger.ledger import (
    Entry,
    FilterUsage,
    Head,
    RecalledAnswer,
    Remaining,
    VerifiedLedger,
    exhausted_error,
    touched_parts,
)
from deniable.ledger.opened_ledger import OpenedLedger
from deniable.ledger.prices import check_price, check_prices
from deniable.ledger.questions import (
    AskedQuestion,
    KeptAnswer,
    QuestionActs,
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
    LedgerState,
    first_over_limit,
    grant_day,
    replay_ledger,
)
from deniable.ledger.terms import Terms
from deniable.query.plan.plan import Plan


class ChainedLedger(OpenedLedger):
    """A ledger on any journal, under the terms that its entries fix."""

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
        compared_part(part)
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
    ) -> Change:
        """Charges plans, under the lock; with a `share`, their tight price at that delta."""
        state = self._state(view)
        terms = self._current_terms(view, state)
        charges = terms.charges(plans, facts["analyst"], share)
        touches = max(touched_parts(plan.neighbors) for plan in plans)
        body = reserved_body(
            charges, described, touches, share, {**facts, **more, "time": self._time()}
        )
        self._grant(state, terms, body, view.anchor.number, charges)
        return (body,), state

    def _append(self, decide: Callable[[JournalView], Change]) -> list[JournalRow]:
        """Appends the decision. A refusal need not wait for the lock."""
        if self._refused:
            with self._journal.view() as view:
                decide(view)
        try:
            rows = self._current.write(decide)
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
        part = compared_part(part_of(body)), body["touches"]
        left = least_remaining(before.accounts, terms, (over,), day, *part)
        pure = charges[over]["pure"] or NOTHING
        raise exhausted_error(Remaining(*pure), left, describe_account(over))

    def settle(self, entry: Entry, record: str | None = None) -> None:
        self._end(entry, {"kind": "settled"}, record)

    def fail(self, entry: Entry, reference: str) -> None:
        self._end(entry, {"kind": "failed", "reference": reference}, None)

    def _end(self, entry: Entry, how: dict[str, Any], record: str | None) -> None:
        self._current.write(
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
        compared_part(part)
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
                path = compared_part(part)
                state.accounts.charge(charges, path, touched_parts(plan.neighbors))
            elif not answer.paid:
                charges = dict.fromkeys(own, charge_for((plan,), terms.filters))
                state.accounts.charge(charges)
            if first_over_limit(state.accounts, terms, charges, day) is not None:
                return False
        return True

    def _repeat(
        self, view: JournalView, plan: Plan, answer: Body, analyst: str | None
    ) -> Change:
        """Charges only the analyst for an answer that was released before."""
        state = self._state(view)
        terms = self._current_terms(view, state)
        charge = charge_for((plan,), terms.filters)
        charges = dict.fromkeys(terms.analyst_account(analyst), charge)
        body = repeated_body(charges, plan, answer, analyst, self._time())
        self._grant(state, terms, body, view.anchor.number, charges)
        return (body,), state

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
        path = compared_part(part)
        return least_remaining(state.accounts, terms, accounts, day, path, touches)

    def how_many(
        self, plan: Plan, analyst: str | None = None, *, part: PartPath = ()
    ) -> int | None:
        with self._journal.view() as view:
            state = self._state(view)
            terms = self._current_terms(view, state)
        charge = charge_for((plan,), terms.filters)
        accounts = terms.accounts(plan.tables, analyst)
        request = state.accounts, terms, accounts, charge, self._clock().date()
        return count_grants(*request, compared_part(part), touched_parts(plan.neighbors))

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
        with self._journal.view() as view:
            checkpoint = view.checkpoint()
        return replay_ledger(*self._journal.read_all(), self.public_key, heads, checkpoint)
