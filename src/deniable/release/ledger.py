"""What is spent and what is left. A plan is charged before a row is read, and never refunded.

A failure is an output too: whoever could get their budget back for a query that failed would
learn from the failure for free. So `reserve` charges, and what follows only says how it ended.

Charges are added up as rationals: epsilons and deltas of adaptively chosen releases add up
(basic composition), and the total never passes the budget, by any rounding.
"""

import threading
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction

from deniable.errors import BudgetExhausted, InvalidParameter
from deniable.exact.rationals import Number, positive, rational
from deniable.privacy import ApproximateLoss, floats
from deniable.query.plan import Plan


@dataclass(frozen=True, slots=True)
class Remaining:
    """What of a budget is left, exactly.

    >>> print(Remaining(Fraction(5, 2), Fraction(1, 10**6)))
    epsilon 2.5, delta 1e-06
    """

    epsilon: Fraction
    delta: Fraction

    def __str__(self) -> str:
        return f"epsilon {_shown(self.epsilon)}, delta {_shown(self.delta)}"


@dataclass(frozen=True, slots=True)
class Entry:
    """One charge in a ledger; `state` is "reserved", "settled" or "failed"."""

    number: int
    table: str
    epsilon: Fraction
    delta: Fraction
    state: str = "reserved"
    reference: str | None = None  # of a failure, for the owner's log


class Ledger(ABC):
    """The contract: charge first, then say how it ended. Every method is safe to race.

    >>> isinstance(MemoryLedger(epsilon=1), Ledger)
    True
    """

    @abstractmethod
    def reserve(self, plan: Plan) -> Entry:
        """Charges the plan; raises `BudgetExhausted`, and charges nothing, if it cannot."""

    @abstractmethod
    def settle(self, entry: Entry) -> None:
        """Notes that the answer was released."""

    @abstractmethod
    def failed(self, entry: Entry, reference: str) -> None:
        """Notes that the engine failed. The charge stands."""

    @property
    @abstractmethod
    def remaining(self) -> Remaining:
        """What is left to spend."""


class MemoryLedger(Ledger):
    """A ledger that lives as long as the process.

    >>> ledger = MemoryLedger(epsilon=1, delta=1e-6)
    >>> print(ledger.remaining)
    epsilon 1, delta 1e-06
    """

    def __init__(self, epsilon: Number, delta: Number = 0) -> None:
        self._epsilon = positive(epsilon, "epsilon")
        self._delta = rational(delta, "delta")
        if not 0 <= self._delta < 1:
            raise InvalidParameter(
                f"`delta` must be at least 0 and well below 1. Found {delta}."
            )
        self._entries: list[Entry] = []
        self._lock = threading.Lock()

    def reserve(self, plan: Plan) -> Entry:
        """Charges the plan's epsilon and delta, if both are left.

        The losses of what the plan will run must fit into what it charges: a plan that
        understates its price is refused, whoever made it.
        """
        check_price(plan)
        with self._lock:
            left = self._left()
            if plan.epsilon > left.epsilon or plan.delta > left.delta:
                raise exhausted(plan, left)
            entry = Entry(len(self._entries), plan.table, plan.epsilon, plan.delta)
            self._entries.append(entry)
            return entry

    def settle(self, entry: Entry) -> None:
        self._close(entry, "settled", None)

    def failed(self, entry: Entry, reference: str) -> None:
        self._close(entry, "failed", reference)

    @property
    def remaining(self) -> Remaining:
        with self._lock:
            return self._left()

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every charge so far, in order."""
        with self._lock:
            return tuple(self._entries)

    def _left(self) -> Remaining:
        epsilon = sum((one.epsilon for one in self._entries), Fraction(0))
        delta = sum((one.delta for one in self._entries), Fraction(0))
        return Remaining(self._epsilon - epsilon, self._delta - delta)

    def _close(self, entry: Entry, state: str, reference: str | None) -> None:
        with self._lock:
            if not (0 <= entry.number < len(self._entries)):
                raise InvalidParameter(f"This ledger has no entry {entry.number}.")
            kept = self._entries[entry.number]
            if kept.state != "reserved":
                raise InvalidParameter(f"Entry {entry.number} has already {kept.state}.")
            self._entries[entry.number] = Entry(
                kept.number, kept.table, kept.epsilon, kept.delta, state, reference
            )


def check_price(plan: Plan) -> None:
    """Refuses a plan whose mechanisms cost more than it says, by what they state themselves."""
    if plan.epsilon < 0 or plan.delta < 0:
        raise InvalidParameter("A plan cannot cost less than nothing.")
    for block in plan.blocks:
        block.mechanism.noise(len(block.features)).draw(0)  # refuses what cannot be drawn
    if not plan.loss.fits(ApproximateLoss(plan.epsilon, plan.delta)):
        raise InvalidParameter(
            f"The plan charges epsilon {_shown(plan.epsilon)} and delta {_shown(plan.delta)}, "
            f"but what it would run costs more: {plan.loss!r}. Nothing was spent."
        )


def exhausted(plan: Plan, left: Remaining) -> BudgetExhausted:
    """The refusal: what was asked, what is left, how to go on."""
    asked = Remaining(plan.epsilon, plan.delta)
    hint = "Nothing more can be asked of this table."
    if plan.epsilon > left.epsilon > 0:
        hint = (
            f"Ask for less, for example with epsilon={_shown(left.epsilon)}: the margins "
            f"would be about {float(plan.epsilon / left.epsilon):.3g} times as wide."
        )
    elif plan.epsilon <= left.epsilon:
        hint = (
            f"Ask with delta={_shown(left.delta)}, or declare the keys of the groups, which "
            "then need no delta."
        )
    return BudgetExhausted(
        f"This answer costs {asked}, and {left} are left.\n  {hint} "
        "Nothing was spent and nothing was read."
    )


def _shown(x: Fraction) -> str:
    """As a decimal, rounded down, so that asking for it cannot be too much."""
    return f"{floats.down(x):g}" if float(f"{floats.down(x):g}") <= x else repr(floats.down(x))
