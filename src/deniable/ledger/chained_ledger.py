"""A ledger on a journal: it decides under the journal's lock, and a replay can check its sums.

Every decision is made from the anchor's sums while the anchor is locked, and is durable before
`reserve` returns. After a refusal, the next request is first tried without the lock, on the
committed sums: sums only grow, so a request that does not fit now will not fit later either.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Unpack

from deniable.errors import BudgetExhausted, InvalidParameter, Unsupported
from deniable.exact.rationals import Number, probability
from deniable.ledger.accounts import NOTHING, Charge, PartPath, compared_part
from deniable.ledger.charges import Priced, charge_for, check_price, check_prices
from deniable.ledger.current_state import Change
from deniable.ledger.entries import (
    charges_to_json,
    end_reservation,
    list_charges,
    part_of,
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
    lookup_keys,
)
from deniable.ledger.ledger import (
    AskedRun,
    Entry,
    FilterUsage,
    Head,
    Ledger,
    RecalledAnswer,
    Remaining,
    VerifiedLedger,
    touched_parts,
)
from deniable.ledger.opened_ledger import OpenedLedger
from deniable.ledger.questions import AskedQuestion, KeptAnswer, QuestionActs, look_up
from deniable.ledger.remaining import (
    count_grants,
    describe_account,
    exhausted_error,
    filter_usages,
    least_remaining,
    limiting_accounts,
)
from deniable.ledger.replay import (
    LedgerState,
    accounts_over_limit,
    grant_day,
    verify_journal,
)
from deniable.ledger.run_requests import RunRequest, tables_of_run
from deniable.ledger.runs import LedgerRun, StreamRun
from deniable.ledger.terms import Terms
from deniable.privacy import Loss
from deniable.privacy.neighbors import Neighbors, neighboring
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
        described = [plan_to_json(*pair) for pair in zip(plans, hashes, strict=True)]
        touches = max(touched_parts(plan.neighbors) for plan in plans)
        body = reserved_body(described, analyst, version, part, touches, share)
        rows = self._append(
            lambda view: self._charge(
                view, body, lambda terms: terms.charges(plans, analyst, share)
            )
        )
        return tuple(read_entries(rows[0]))

    def _charge(
        self, view: JournalView, body: Body, charges_of: Callable[[Terms], Mapping[str, Charge]]
    ) -> Change:
        """Adds charges to an entry, under the lock, and the entry to the sums."""
        state = self._state(view)
        terms = self._current_terms(view, state)
        charges = charges_of(terms)
        entry = {**body, "charges": charges_to_json(charges), "time": self._time()}
        self._grant(state, terms, entry, view.anchor.number, charges)
        return (entry,), state

    def _terms_now(self, view: JournalView) -> Terms:
        return self._current_terms(view, self._state(view))

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
        full = accounts_over_limit(state.accounts, terms, charges, day)
        if not full:
            return
        part = compared_part(part_of(body)), body["touches"]
        rooms = {
            account: least_remaining(before.accounts, terms, (account,), day, *part)
            for account in full
        }
        over, left = min(rooms.items(), key=lambda room: room[1].epsilon)  # the tightest
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
        plan: Plan | RunRequest,
        *,
        plan_hash: str,
        version: str = "",
        analyst: str | None = None,
        part: PartPath = (),
        fresh: bool = False,
        question_id: str | None = None,
        prepare: Callable[[], object] = lambda: None,
    ) -> Iterator[Entry | RecalledAnswer]:
        question = AskedQuestion(plan_hash, version, analyst, fresh, question_id)
        compared_part(part)
        body = _reserved(plan, plan_hash, analyst, version, part)

        def reserve(view: JournalView, more: Body) -> Change:
            return self._charge(
                view, {**body, **more}, lambda terms: _all(plan, terms, analyst)
            )

        def repeat(view: JournalView, answer: Body) -> Change:
            entry = repeated_body(plan, answer, analyst)
            return self._charge(view, entry, lambda terms: _own(plan, terms, analyst))

        acts = QuestionActs(
            check=plan.check if isinstance(plan, RunRequest) else lambda: check_price(plan),
            prepare=prepare,
            has_account=lambda view: self._has_account(view, analyst),
            reserve=reserve,
            repeat=repeat,
            append=self._append,
            time=self._time,
        )
        with self._desk.ask(question, acts) as outcome:
            yield outcome

    def _has_account(self, view: JournalView, analyst: str | None) -> bool:
        return bool(self._terms_now(view).analyst_account(analyst))

    def recall(
        self, *, plan_hash: str, version: str = "", analyst: str | None = None
    ) -> RecalledAnswer | None:
        with self._journal.view() as view:
            question = AskedQuestion(plan_hash, version, analyst)
            finding = look_up(view, question, has_account=self._has_account(view, analyst))
        if not isinstance(finding, KeptAnswer) or not finding.paid:
            return None
        return recalled_answer(finding.body)

    def reserve_run(
        self,
        loss: Loss,
        *,
        tables: Sequence[str] | None = None,
        delta: Number | None = None,
        filters: Sequence[str] | None = None,
        neighbors: Neighbors = "replace",
        analyst: str | None = None,
        version: str = "",
        part: PartPath = (),
    ) -> LedgerRun:
        with self._journal.view() as view:
            terms = self._terms_now(view)
        private = [name for name, unit in terms.tables.items() if unit is not None]
        request = RunRequest.of_loss(
            loss,
            tables=tables_of_run(tables, private),
            neighbors=neighboring(neighbors),
            delta=delta,
            filters=filters,
        )
        request.check()
        compared_part(part)
        body = _reserved(request, None, analyst, version, part)
        rows = self._append(
            lambda view: self._charge(view, body, lambda terms: _all(request, terms, analyst))
        )
        return self._open_run(next(read_entries(rows[0])), request)

    @contextmanager
    def ask_run(
        self, plans: Sequence[Plan], **arguments: Unpack[AskedRun]
    ) -> Iterator[LedgerRun | RecalledAnswer]:
        with self._journal.view() as view:
            request = RunRequest.of_plans(plans, self._terms_now(view).filters)
        with self.ask(request, **arguments) as outcome:
            yield self._open_run(outcome, request) if isinstance(outcome, Entry) else outcome

    def _open_run(self, entry: Entry, request: RunRequest) -> LedgerRun:
        return LedgerRun(entry, request.to_json(), self._append, self._terms_now, self._time)

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
        return verify_journal(self._journal, heads)


def _reserved(
    plan: Priced, plan_hash: str | None, analyst: str | None, version: str, part: PartPath
) -> dict[str, Any]:
    """The entry that reserves a plan or a run, without its charges."""
    described = (plan_to_json(plan, plan_hash),)
    body = reserved_body(described, analyst, version, part, touched_parts(plan.neighbors))
    return body | {"run": plan.to_json()} if isinstance(plan, RunRequest) else body


def _all(plan: Priced, terms: Terms, analyst: str | None) -> dict[str, Charge]:
    """What a plan or a run charges to units, tables and the analyst."""
    return dict.fromkeys(terms.accounts(plan.tables, analyst), _charge(plan, terms))


def _own(plan: Priced, terms: Terms, analyst: str | None) -> dict[str, Charge]:
    """What an answer that others paid for charges to the analyst."""
    return dict.fromkeys(terms.analyst_account(analyst), _charge(plan, terms))


def _charge(plan: Priced, terms: Terms) -> Charge:
    if isinstance(plan, RunRequest):
        return plan.charge(terms.filters)
    return charge_for((plan,), terms.filters)


def reserve_stream(
    ledger: Ledger,
    name: str,
    loss: Loss,
    *,
    tables: Sequence[str] | None = None,
    delta: Number | None = None,
    neighbors: Neighbors = "replace",
    analyst: str | None = None,
    version: str = "",
    part: PartPath = (),
) -> StreamRun:
    """Charges a mechanism that answers over time, once for its whole life.

    A stream of this name can be charged once. `find_stream` finds it again. A ledger without
    streams may be of an older format; its first one raises that, so that versions which do not
    know streams refuse it in words.
    """
    chained = _chained(ledger)
    with chained._journal.view() as view:
        terms = chained._terms_now(view)
    private = [table for table, unit in terms.tables.items() if unit is not None]
    named, relation = tables_of_run(tables, private), neighboring(neighbors)
    request = RunRequest.of_loss(loss, tables=named, neighbors=relation, delta=delta)
    request.check()
    compared_part(part)
    body = _reserved(request, None, analyst, version, part) | {"stream": name}

    def reserve(view: JournalView) -> Change:
        if view.ending(_stream_key(name, analyst)) is not None:
            raise InvalidParameter(
                f"The stream {name!r} was charged before. Open it again under its name. "
                "Nothing was spent."
            )
        return chained._charge(view, body, lambda terms: _all(request, terms, analyst))

    chained.raise_format()
    entry = next(read_entries(chained._append(reserve)[0]))
    hands = chained._append, chained._terms_now, chained._time
    return StreamRun(entry, request.to_json(), *hands)


def find_stream(ledger: Ledger, name: str, *, analyst: str | None = None) -> StreamRun | None:
    """The stream that was charged under a name, as far as it is; or None."""
    chained = _chained(ledger)
    with chained._journal.view() as view:
        row = view.ending(_stream_key(name, analyst))
        if row is None:
            return None
        hands = chained._append, chained._terms_now, chained._time
        run = StreamRun(next(read_entries(row)), row.read()["run"], *hands)
        run.catch_up(view)
    return run


def _stream_key(name: str, analyst: str | None) -> str:
    """The index key of a stream's reservation."""
    body = {"kind": "reserved", "analyst": analyst, "stream": name}
    return str(lookup_keys(body)[0])


def _chained(ledger: Ledger) -> ChainedLedger:
    if not isinstance(ledger, ChainedLedger):
        raise Unsupported(
            "A counter or a watch needs a session on the owner's machine, with dp.open. "
            "Nothing was spent."
        )
    return ledger
