"""What is spent and what is left. A plan is charged before a row is read, and never refunded.

A failure is an output too: whoever could get their budget back for a query that failed would
learn from the failure for free. So `reserve` charges, and what follows only says how it ended.
A ledger holds plans, charges and answers that were released; never a value that was not.

This file is the contract; books.py keeps it, in memory and in a database.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from deniable.errors import BudgetExhausted, InvalidParameter
from deniable.exact.rationals import Number
from deniable.ledger.accounts import Path
from deniable.privacy import ApproximateLoss, Loss
from deniable.privacy.arithmetic import floats
from deniable.query.plan.plan import Plan

_UNITS = {"pure": "epsilon", "zcdp": "rho", "gdp": "mu squared"}


@dataclass(frozen=True, slots=True)
class LedgerRoom:
    """What is left in one filter, in its own unit."""

    filter: str
    amount: Fraction
    delta: Fraction

    def __str__(self) -> str:
        beside = f", delta {shown(self.delta)}" if self.delta else ""
        return f"{_UNITS[self.filter]} {shown(self.amount)}{beside}"


@dataclass(frozen=True, slots=True)
class Remaining:
    """What of a budget is left, exactly: in the sum of epsilons, and in other filters.

    >>> print(Remaining(Fraction(5, 2), Fraction(1, 10**6)))
    epsilon 2.5, delta 1e-06
    """

    epsilon: Fraction
    delta: Fraction
    others: tuple[LedgerRoom, ...] = ()  # each grants by itself, in its own unit

    def __str__(self) -> str:
        pure = f"epsilon {shown(self.epsilon)}, delta {shown(self.delta)}"
        return "; or ".join([pure, *(str(one) for one in self.others if one.amount)])


@dataclass(frozen=True, slots=True)
class Entry:
    """One charge in a ledger; `state` is "reserved", "settled", "failed" or "repeated"."""

    number: int
    tables: tuple[str, ...]
    epsilon: Fraction
    delta: Fraction
    state: str = "reserved"
    reference: str | None = None  # of a failure, for the owner's log
    analyst: str | None = None
    plan_hash: str | None = None
    version: str = ""
    part: Path = ()
    time: str = ""
    place: int = 0  # among those that were reserved together, under one number

    @property
    def table(self) -> str:
        """The tables, in words."""
        return ", ".join(self.tables)


@dataclass(frozen=True, slots=True)
class Head:
    """The end of a ledger, signed: keep one, and a later rollback to before it shows.

    `state` is the digest of all sums; `signature` is of `message`, by the ledger's key.
    """

    number: int
    hash: str
    state: str
    signature: str

    @property
    def message(self) -> bytes:
        """What is signed."""
        return f"deniable ledger head 1\n{self.number}\n{self.hash}\n{self.state}\n".encode()


@dataclass(frozen=True, slots=True)
class Recalled:
    """An answer that was released before: its record, and the entry that paid for it."""

    number: int
    record: str
    time: str


@dataclass(frozen=True, slots=True)
class Gauge:
    """How full one filter of one account is; `limit` is today's, `cap` the last it will be."""

    account: str  # "unit:*", "unit:patient", "table:visits" or "analyst:ann"
    filter: str
    spent: Fraction | None  # None: it was closed by a charge that it does not know
    limit: Fraction
    cap: Fraction
    spent_delta: Fraction
    limit_delta: Fraction

    @property
    def open(self) -> bool:
        """Whether anything could still fit."""
        return self.spent is not None and self.spent < self.limit


@dataclass(frozen=True, slots=True)
class VerifiedLedger:
    """What a check found sound: so many entries, up to this head."""

    entries: int
    head: Head
    earlier: int  # how many earlier heads were found in their places


class Ledger(ABC):
    """The contract: charge first, then say how it ended. Every method is safe to race.

    >>> from deniable.release import MemoryLedger
    >>> isinstance(MemoryLedger(epsilon=1), Ledger)
    True
    """

    def reserve(
        self,
        plan: Plan,
        *,
        analyst: str | None = None,
        plan_hash: str | None = None,
        version: str = "",
        part: Path = (),
    ) -> Entry:
        """Charges the plan; raises `BudgetExhausted`, and charges nothing, if it cannot.

        Once this returns, the charge survives whatever happens. `plan_hash` and `version` (of
        the data) are how `recall` finds the answer again. `part` names the part of a partition
        that the plan is restricted to; no privacy unit may be in two parts of a partition.
        """
        hashes = None if plan_hash is None else (plan_hash,)
        asked = {"analyst": analyst, "plan_hashes": hashes, "version": version, "part": part}
        return self.reserve_all((plan,), **asked)[0]  # type: ignore[arg-type]

    @abstractmethod
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
        """Charges several plans at once, in one commit: all of them, or none.

        With a `delta` they are charged as one, the tight price of their composed loss at that
        delta, which is far below the sum when they are many. That holds because all of them
        are fixed now; it stands however many are really asked.
        """

    @abstractmethod
    def settle(self, entry: Entry, record: str | None = None) -> None:
        """Notes that the answer was released; its record, as JSON, is kept for `recall`."""

    @abstractmethod
    def failed(self, entry: Entry, reference: str) -> None:
        """Notes that the engine failed. The charge stands."""

    @abstractmethod
    def recall(
        self, plan: Plan, *, plan_hash: str, version: str = "", analyst: str | None = None
    ) -> Recalled | None:
        """The answer that was released to this plan on this version of the data, or None.

        It costs the units and tables nothing. An analyst with a budget of their own, who has
        not received it yet, is charged there; `BudgetExhausted` if it does not fit.
        """

    @abstractmethod
    def kept(self, plan_hash: str, version: str = "") -> Recalled | None:
        """What `recall` would hand out, for planning: whoever receives it may have to pay."""

    @abstractmethod
    def affords(
        self,
        asked: Sequence[tuple[Plan, str | None, str]],
        analyst: str | None = None,
        *,
        part: Path = (),
    ) -> bool:
        """Whether all of these would be granted now, one after the other. Nothing is charged.

        Each is a plan, its hash, and the version of its data. What `recall` would find costs
        what it costs there; with None for a hash, a plan is asked afresh.
        """

    @abstractmethod
    def left(
        self,
        analyst: str | None = None,
        *,
        tables: Sequence[str] | None = None,
        part: Path = (),
        touches: int = 1,
    ) -> Remaining:
        """What is left to spend on these tables (or on any), by this analyst.

        With a `part`, what may be charged there: dearer parts beside it leave it room, and
        `touches` says how many parts one unit may be in (2 where it may be replaced).
        """

    @abstractmethod
    def how_many(
        self, plan: Plan, analyst: str | None = None, *, part: Path = ()
    ) -> int | None:
        """How many more times this plan would be granted today; None: without end."""

    @abstractmethod
    def gauges(self) -> tuple[Gauge, ...]:
        """Every filter of every account that has a budget or a charge."""

    @property
    @abstractmethod
    def entries(self) -> tuple[Entry, ...]:
        """Every charge so far, in order."""

    @property
    @abstractmethod
    def head(self) -> Head:
        """The signed end of the ledger."""

    @abstractmethod
    def verify(self, heads: Sequence[Head] = ()) -> VerifiedLedger:
        """Replays everything; raises `LedgerBroken` at the first thing that is not as written.

        With earlier heads, also a ledger that was set back to before one of them is found.
        """

    @property
    @abstractmethod
    def public_key(self) -> str:
        """Checks what the ledger's owner signed."""

    @abstractmethod
    def sign(self, message: bytes) -> str:
        """A signature by the ledger's key, for certificates."""

    def close(self) -> None:
        """Lets go of the store."""
        return

    @property
    def remaining(self) -> Remaining:
        """What is left to spend, whoever asks."""
        return self.left()


def touches(neighbors: str) -> int:
    """How many parts of a partition one unit can be in: two if it may change its rows.

    >>> touches("add-remove"), touches("replace")
    (1, 2)
    """
    return 2 if neighbors == "replace" else 1


def check_price(plan: Plan) -> None:
    """Refuses a plan whose mechanisms cost more than it says, by what they state themselves."""
    if plan.epsilon < 0 or plan.delta < 0:
        raise InvalidParameter("A plan cannot cost less than nothing.")
    for block in plan.blocks:
        _draw_nothing(block.mechanism, len(block.features))
    for choice in plan.choices:
        if choice.changes < (least := plan.least_changes(choice)):
            raise InvalidParameter(
                f"The plan takes one unit for {choice.changes} steps of {choice.about}, but it "
                f"can be {least}. Nothing was spent."
            )
    if not _fits(plan.loss, plan.epsilon, plan.delta):
        raise InvalidParameter(
            f"The plan charges epsilon {shown(plan.epsilon)} and delta {shown(plan.delta)}, "
            f"but what it would run costs more: {plan.loss!r}. Nothing was spent."
        )


def check_prices(plans: Sequence[Plan]) -> None:
    """The same for several; those that are priced like the one before are checked with it."""
    last: tuple[object, ...] = ()
    for plan in plans:
        noises = [(block.mechanism, len(block.features)) for block in plan.blocks]
        price = (plan.epsilon, plan.delta, plan.loss, noises)
        if price != last:
            check_price(plan)
        last = price


@lru_cache(maxsize=4096)
def _draw_nothing(mechanism: Any, count: int) -> None:
    """Refuses noise that cannot be drawn."""
    mechanism.noise(count).draw(0)


@lru_cache(maxsize=4096)
def _fits(loss: Loss, epsilon: Fraction, delta: Fraction) -> bool:
    return loss.fits(ApproximateLoss(epsilon, delta))


def exhausted(asked: Remaining, left: Remaining, whose: str = "") -> BudgetExhausted:
    """The refusal: what was asked, what is left, how to go on."""
    hint = "Nothing more can be asked of this table."
    if asked.epsilon > left.epsilon > 0:
        hint = (
            f"Ask for less, for example with epsilon={shown(left.epsilon)}: the margins "
            f"would be about {float(asked.epsilon / left.epsilon):.3g} times as wide."
        )
    elif asked.epsilon <= left.epsilon:
        hint = (
            f"Ask with delta={shown(left.delta)}, or declare the keys of the groups, which "
            "then need no delta."
        )
    return BudgetExhausted(
        f"This answer costs {asked}, and {left} are left{whose}.\n  {hint} "
        "Nothing was spent and nothing was read."
    )


def like_this(count: int | None) -> str:
    """How many more such questions there are, in words.

    >>> like_this(43), like_this(1), like_this(0), like_this(None)
    ('about 40 more questions like this one', 'one more question like this one',
    'no more questions like this one', 'any number of questions like this one')
    """
    if count is None:
        return "any number of questions like this one"
    if count < 2:
        return f"{'one more question' if count else 'no more questions'} like this one"
    if count < 20:
        return f"{count} more questions like this one"
    step = 10 ** max(1, len(str(count)) - 2)
    return f"about {count // step * step:,} more questions like this one"


def shown(x: Fraction) -> str:
    """As a decimal of six digits, rounded down, so that asking for it cannot be too much.

    >>> shown(Fraction(1, 2)), shown(Fraction(2, 3)), shown(Fraction(2, 3 * 10**7))
    ('0.5', '0.666666', '6.66666e-08')
    """
    exact = floats.down(x)
    if float(f"{exact:g}") <= x:
        return f"{exact:g}"
    short = Decimal(repr(exact)).normalize(Context(prec=6, rounding=ROUND_FLOOR))
    return f"{float(short):g}"
