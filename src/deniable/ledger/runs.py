"""Runs: one charge for several steps, of which each may depend on the answers before it.

A run is charged once, before its first step, and never refunded. Each step is an entry of the
ledger before its data is read, and must fit what is left of the run. Steps add up in the units
of the run's loss: epsilons, rhos, squares of mu, or divergences of one Renyi order. Deltas of
steps add up against a share of their own. These sums are valid for adaptive steps (see
`privacy.filters.adaptive`), so the whole run costs at most its loss. A loss without such a unit
is refused.

Other questions may be asked between the steps. A run is an interactive mechanism, and a filter
that is valid for single releases is valid for interactive mechanisms that run at the same time
(Haney, Shoemate, Tian, Vadhan, Vyrros, Xu & Zhang 2023).
"""

import threading
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from deniable.errors import BudgetExhausted, InvalidParameter, InvalidStoppingRule, LedgerBroken
from deniable.ledger.accounts import NOTHING, Charge, charge_from_json, charge_to_json
from deniable.ledger.charges import check_price
from deniable.ledger.current_state import Change
from deniable.ledger.entries import end_reservation, plan_to_json
from deniable.ledger.journal import (
    Body,
    JournalRow,
    JournalView,
    check_link,
    reservation_id,
    step_key,
)
from deniable.ledger.ledger import Entry, Remaining, RemainingInFilter, touched_parts
from deniable.ledger.run_requests import add_step, fits, step_charge
from deniable.ledger.stores.stored_rows import as_written
from deniable.ledger.terms import Terms
from deniable.privacy.filters.adaptive import WHY_NO_CHARGE
from deniable.privacy.neighbors import Neighbors
from deniable.query.plan.canonical import canonical_text
from deniable.query.plan.plan import Plan

Append = Callable[[Callable[[JournalView], Change]], list[JournalRow]]
CurrentTerms = Callable[[JournalView], Terms]
Clock = Callable[[], str]


class LedgerRun:
    """A run that a ledger was charged for: records its steps, and ends once.

    >>> from deniable.ledger import MemoryLedger
    >>> from deniable.privacy import PureLoss
    >>> ledger = MemoryLedger(epsilon=1)
    >>> run = ledger.reserve_run(PureLoss(0.75))
    >>> print(ledger.remaining, "|", *run.remaining)
    epsilon 0.25, delta 0 | epsilon 0.75
    >>> run.settle()
    """

    def __init__(
        self, entry: Entry, run: Body, append: Append, terms: CurrentTerms, time: Clock
    ) -> None:
        self.entry, self._run = entry, run
        self._append, self._terms, self._time = append, terms, time
        self._spent: Charge | None = None
        self._steps = 0
        self._unwritten: list[Body] = []  # answers to steps, which the next entry takes along
        self._lock = threading.Lock()

    @property
    def remaining(self) -> tuple[RemainingInFilter, ...]:
        spent = self._spent or {}
        left = []
        for kind, limit in charge_from_json(self._run["limits"]).items():
            sum_ = spent.get(kind, NOTHING)
            if limit is not None and sum_ is not None:
                amount = max(limit.amount - sum_.amount, Fraction(0))
                slack = max(limit.slack - sum_.slack, Fraction(0))
                left.append(RemainingInFilter(kind, amount, slack))
        return tuple(left)

    def step(self, plan: Plan) -> int:
        """Records a step before its data is read, and returns its number.

        If it does not fit what is left of the run, raises `BudgetExhausted`; a smaller step may
        still fit.
        """
        check_price(plan)
        with self._lock:
            charge = step_charge(plan, tuple(self._run["limits"]))
            spent = add_step(self._run, self._spent, charge)
            self._check_fits(plan, charge, spent)
            body = {
                "charge": charge_to_json(charge),
                "kind": "step",
                "of": self.entry.number,
                "plan": plan_to_json(plan, None),
                "spent": charge_to_json(spent),
                "step": self._steps + 1,
                "time": self._time(),
            }
            self._append(
                lambda view: self._decide_step(view, plan.tables, plan.neighbors, body)
            )
            self._unwritten.clear()
            self._steps, self._spent = self._steps + 1, spent
            return self._steps

    def _check_fits(self, plan: Plan, charge: Charge, spent: Charge) -> None:
        if all(amount is None for amount in charge.values()):
            raise InvalidStoppingRule(
                f"{plan.loss!r} has a charge in none of the units of this run. {WHY_NO_CHARGE}"
            )
        if not fits(self._run, spent):
            left = "; or ".join(map(str, self.remaining)) or "nothing"
            raise BudgetExhausted(
                f"This step costs {Remaining(plan.epsilon, plan.delta)}, and {left} is left of "
                "the run. Ask for less, or end the run and pay for another one. Nothing was "
                "spent and nothing was read."
            )

    @as_written()
    def _decide_step(
        self, view: JournalView, tables: Sequence[str], neighbors: Neighbors, body: Body
    ) -> Change:
        """Refuses a step after the run's end, and a step that another copy of it has made."""
        reserved = self._check_open(view)
        before = step_row(view, self.entry.number, self._steps)
        here = None if before is None else charge_from_json(before.read()["spent"])
        if (before is None) != (self._steps == 0) or here != self._spent:
            raise LedgerBroken("The steps of this run in the ledger are not those it made.")
        if canonical_text(reserved["run"]) != canonical_text(dict(self._run)):
            raise LedgerBroken("The limits of this run are not those that it was charged for.")
        if step_row(view, self.entry.number, self._steps + 1) is not None:
            raise InvalidParameter(
                f"Step {self._steps + 1} of run {self.entry.number} is already in the ledger. "
                "A run cannot go on in two places, nor after a lost connection."
            )
        concerned = self._terms(view).accounts_of_tables(tuple(tables))
        if not set(concerned) <= set(reserved["charges"]):
            raise InvalidParameter(
                f"The run was not charged for {', '.join(tables)}. Name all tables when "
                "you reserve it. Nothing was spent."
            )
        if touched_parts(neighbors) > reserved["touches"]:
            raise InvalidParameter(
                "The run was charged for add-remove neighbours, and this step needs replace. "
                "Nothing was spent."
            )
        return (*self._unwritten, body), None

    def _check_open(self, view: JournalView) -> Body:
        """The entry of the run, which must not have ended."""
        row = view.row(self.entry.number)
        if row is None:
            raise InvalidParameter(f"This ledger has no entry {self.entry.number}.")
        ending = view.ending(reservation_id(self.entry.number, 0))
        if ending is not None:
            raise InvalidParameter(
                f"Run {self.entry.number} is already {ending.read()['kind']}."
            )
        return row.read()

    def keep(self, step: int, record: str, *, plan_hash: str, version: str) -> None:
        """Keeps the answer of a step. It is written with the next step, or with the end."""
        with self._lock:
            self._unwritten.append(
                {
                    "analyst": self.entry.analyst,
                    "kind": "answered",
                    "of": self.entry.number,
                    "place": 0,
                    "plan": plan_hash,
                    "record": record,
                    "step": step,
                    "time": self._time(),
                    "version": version,
                }
            )

    def settle(self, record: str | None = None) -> None:
        """Ends the run. `record`, as JSON, is kept if the run answers a question."""
        self._end({"kind": "settled"}, record)

    def fail(self, reference: str) -> None:
        """Ends the run after a failure. The charge stays."""
        self._end({"kind": "failed", "reference": reference}, None)

    def _end(self, how: dict[str, Any], record: str | None) -> None:
        def decide(view: JournalView) -> Change:
            timed = how | {"time": self._time()}
            bodies, state = end_reservation(view, self.entry, timed, record)
            return (*self._unwritten, *bodies), state

        with self._lock:
            self._append(decide)
            self._unwritten.clear()


class StreamRun(LedgerRun):
    """A run of one mechanism that outlives its process, and can be found again by its name.

    A counter releases correlated numbers, step after step, and is private as a whole: no sum of
    the losses of its steps says so. Therefore its first step spends the whole run. Every later
    step is an entry that costs nothing, and names the digest of the state that the mechanism
    has written. So the ledger knows how far the mechanism is, and an older state is noticed.

    A stream has a name. The name is the index key of its reservation, and no two entries of a
    ledger have the same key: so a stream is charged once, whatever is lost after the charge.

    >>> from deniable.ledger import MemoryLedger
    >>> from deniable.ledger.chained_ledger import find_stream, reserve_stream
    >>> from deniable.privacy import PureLoss
    >>> ledger = MemoryLedger(epsilon=1)
    >>> run = reserve_stream(ledger, "visits", PureLoss(0.75))
    >>> run.advance("5f1c"), run.advance("77aa"), find_stream(ledger, "visits").state
    (1, 2, '77aa')
    >>> print(ledger.remaining)
    epsilon 0.25, delta 0
    """

    _state = ""

    @property
    def number(self) -> int:
        """The number of its entry in the ledger."""
        return self.entry.number

    @property
    def price(self) -> tuple[Fraction, Fraction]:
        """The epsilon and the delta that were charged in the sum of epsilons."""
        return self.entry.epsilon, self.entry.delta

    @property
    def steps(self) -> int:
        """The number of steps in the ledger."""
        return self._steps

    @property
    def state(self) -> str:
        """The digest of the state at the last step; empty before the first."""
        return self._state

    def advance(
        self,
        state: str,
        *,
        plan_hash: str | None = None,
        tables: Sequence[str] | None = None,
        neighbors: Neighbors = "add-remove",
    ) -> int:
        """Records a step of the mechanism, whose state was written, and returns its number."""
        named = self.entry.tables if tables is None else tuple(tables)
        with self._lock:
            first = self._steps == 0
            charge: Charge = {
                kind: None if limit is None else (limit if first else NOTHING)
                for kind, limit in charge_from_json(self._run["limits"]).items()
            }
            spent = add_step(self._run, self._spent, charge)
            price = (self.entry.epsilon, self.entry.delta) if first else (0, 0)
            body = {
                "charge": charge_to_json(charge),
                "kind": "step",
                "of": self.entry.number,
                "plan": {
                    "delta": str(price[1]),
                    "epsilon": str(price[0]),
                    "plan": plan_hash,
                    "tables": list(named),
                },
                "spent": charge_to_json(spent),
                "state": state,
                "step": self._steps + 1,
                "time": self._time(),
            }
            self._append(lambda view: self._decide_step(view, named, neighbors, body))
            self._steps, self._spent, self._state = self._steps + 1, spent, state
            return self._steps

    def catch_up(self, view: JournalView) -> None:
        """Reads how far the run is. The last step is found by halving, not by counting."""
        row = _last_row(view, self.entry.number)
        if row is None:
            self._steps, self._spent, self._state = 0, None, ""
            return
        body = row.read()
        self._steps, self._state = body["step"], body["state"]
        self._spent = charge_from_json(body["spent"])


def _last_row(view: JournalView, run: int) -> JournalRow | None:
    if step_row(view, run, 1) is None:
        return None
    low, high = 1, 2
    while step_row(view, run, high) is not None:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if step_row(view, run, middle) is None:
            high = middle
        else:
            low = middle
    return step_row(view, run, low)


def step_row(view: JournalView, run: int, step: int) -> JournalRow | None:
    """The entry of a step, if there is one. Its hash is checked."""
    rows = view.answers(step_key(run, step))
    if not rows:
        return None
    before = view.row(rows[0].number - 1)
    check_link(rows[0], rows[0].number, "" if before is None else before.hash)
    return rows[0]
