"""The ledger's contract: a plan is charged before a row is read, and never refunded.

A failure is an output too: an analyst who got the budget back after a failed query would learn
from the failure for free. So `reserve` charges, and later calls only record how it ended.
A ledger holds plans, charges and released answers, and no other value from a table.

`ChainedLedger` implements this contract, in memory and in a database.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from deniable.errors import BudgetExhausted
from deniable.exact.rationals import Number
from deniable.ledger.accounts import PartPath
from deniable.privacy.arithmetic import floats
from deniable.query.plan.plan import Plan

_UNITS = {"pure": "epsilon", "zcdp": "rho", "gdp": "mu squared"}


@dataclass(frozen=True, slots=True)
class RemainingInFilter:
    """What is left in one filter, in that filter's own unit."""

    filter: str
    amount: Fraction
    delta: Fraction

    def __str__(self) -> str:
        delta = f", delta {format_down(self.delta)}" if self.delta else ""
        return f"{_UNITS[self.filter]} {format_down(self.amount)}{delta}"


@dataclass(frozen=True, slots=True)
class Remaining:
    """What is left of a budget, exactly: in the sum of epsilons, and in the other filters.

    >>> print(Remaining(Fraction(5, 2), Fraction(1, 10**6)))
    epsilon 2.5, delta 1e-06
    """

    epsilon: Fraction
    delta: Fraction
    others: tuple[RemainingInFilter, ...] = ()  # any one filter with room is enough

    def __str__(self) -> str:
        pure = f"epsilon {format_down(self.epsilon)}, delta {format_down(self.delta)}"
        return "; or ".join([pure, *(str(other) for other in self.others if other.amount)])


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
    part: PartPath = ()
    time: str = ""
    place: int = 0  # among the plans that were reserved together under one number

    @property
    def table(self) -> str:
        """The names of the tables, as text."""
        return ", ".join(self.tables)


@dataclass(frozen=True, slots=True)
class Head:
    """The signed end of a ledger. Keep one to detect a later rollback to an older copy.

    `state` is the digest of all sums. `signature` signs `message` with the ledger's key.
    """

    number: int
    hash: str
    state: str
    signature: str

    @property
    def message(self) -> bytes:
        """The bytes that are signed."""
        return f"deniable ledger head 1\n{self.number}\n{self.hash}\n{self.state}\n".encode()


@dataclass(frozen=True, slots=True)
class RecalledAnswer:
    """An answer that was released before: its record, and the number of its charge."""

    number: int
    record: str
    time: str


@dataclass(frozen=True, slots=True)
class FilterUsage:
    """How much of one filter of one account is spent.

    `limit` is today's limit; `cap` is the last one, when the schedule has ended.
    """

    account: str  # "unit:*", "unit:patient", "table:visits" or "analyst:ann"
    filter: str
    spent: Fraction | None  # None: closed by a grant that this filter cannot charge
    limit: Fraction
    cap: Fraction
    spent_delta: Fraction
    limit_delta: Fraction

    @property
    def open(self) -> bool:
        """Whether there is room for a charge."""
        return self.spent is not None and self.spent < self.limit


@dataclass(frozen=True, slots=True)
class VerifiedLedger:
    """The result of a successful check."""

    entries: int  # the number of entries
    head: Head
    earlier: int  # the number of earlier heads that were found in the chain


class Ledger(ABC):
    """The contract: charge first, then record how it ended. Every method is thread-safe.

    >>> from deniable.ledger import MemoryLedger
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
        part: PartPath = (),
    ) -> Entry:
        """Charges the plan. If there is no room, raises `BudgetExhausted` and charges nothing.

        Once this returns, the charge is durable. `recall` finds the answer again by `plan_hash`
        and `version` (the name of the data, see `Policy.data_name`). `part` names the part of a
        partition that the plan is restricted to; no privacy unit may be in two of its parts.
        """
        hashes = None if plan_hash is None else (plan_hash,)
        options = {"analyst": analyst, "plan_hashes": hashes, "version": version, "part": part}
        return self.reserve_all((plan,), **options)[0]  # type: ignore[arg-type]

    @abstractmethod
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
        """Charges several plans in one commit: all of them or none.

        With a `delta` they are charged together: the tight price of their composed loss at that
        delta, which is far below the sum if there are many plans. This is valid because all
        plans are fixed now. The charge stays, even if only some of them are run.
        """

    @abstractmethod
    def settle(self, entry: Entry, record: str | None = None) -> None:
        """Records that the answer was released. `record`, as JSON, is stored for `recall`."""

    @abstractmethod
    def fail(self, entry: Entry, reference: str) -> None:
        """Records that the engine failed. The charge stays."""

    @abstractmethod
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
    ) -> AbstractContextManager["Entry | RecalledAnswer"]:
        """The answer that is kept, or a reservation to run the plan for: in one step.

        Others who ask the same question meanwhile wait until the context is left, and get its
        outcome; `QuestionPending` if that takes too long. A kept answer charges no unit and no
        table. An analyst who has a budget and has not paid for it is charged;
        `BudgetExhausted` if there is no room. `fresh` takes no kept answer. A `question_id` has
        one reservation and one outcome: asking again under it gets that answer, or the same
        `EngineFailed`.
        """

    @abstractmethod
    def recall(
        self, *, plan_hash: str, version: str = "", analyst: str | None = None
    ) -> RecalledAnswer | None:
        """The kept answer, if it is free for this analyst; None otherwise. Nothing is charged.

        It is free for an analyst who paid for it. If the policy gives analysts no budgets, the
        shared budget has paid for all of them.
        """

    @abstractmethod
    def stored_answer(self, plan_hash: str, version: str = "") -> RecalledAnswer | None:
        """The kept answer, for planning only: no analyst is charged."""

    @abstractmethod
    def affords(
        self,
        requests: Sequence[tuple[Plan, str | None, str]],
        analyst: str | None = None,
        *,
        part: PartPath = (),
    ) -> bool:
        """Whether all requests would be granted now, one after the other. Nothing is charged.

        A request is a plan, its hash, and the version of its data. A stored answer costs what
        `recall` would charge. With None for the hash, no stored answer is used.
        """

    @abstractmethod
    def remaining_for(
        self,
        analyst: str | None = None,
        *,
        tables: Sequence[str] | None = None,
        part: PartPath = (),
        touches: int = 1,
    ) -> Remaining:
        """What this analyst can still spend on these tables, or on any table.

        With a `part`, what can still be charged to that part: it may be more than for the whole
        table, if other parts are more expensive. `touches` is the number of parts that one unit
        can be in (2 under "replace").
        """

    @abstractmethod
    def how_many(
        self, plan: Plan, analyst: str | None = None, *, part: PartPath = ()
    ) -> int | None:
        """How many more times this plan would be granted today; None if without limit."""

    @abstractmethod
    def filter_usages(self) -> tuple[FilterUsage, ...]:
        """Every filter of every account that has a budget or a charge."""

    @property
    @abstractmethod
    def entries(self) -> tuple[Entry, ...]:
        """Every charge, in order."""

    @property
    @abstractmethod
    def head(self) -> Head:
        """The signed end of the ledger."""

    @abstractmethod
    def verify(self, heads: Sequence[Head] = ()) -> VerifiedLedger:
        """Replays every entry; raises `LedgerBroken` at the first one that was changed.

        With earlier heads, it also detects a ledger that was set back to before one of them.
        """

    @property
    @abstractmethod
    def origin(self) -> tuple[str, str]:
        """The ledger's id, and why it was begun: empty, unless another one was before it."""

    @property
    @abstractmethod
    def public_key(self) -> str:
        """The key that checks the signatures of this ledger."""

    @abstractmethod
    def sign(self, message: bytes) -> str:
        """A signature with the ledger's key, for certificates."""

    def close(self) -> None:
        """Closes the store."""
        return

    @property
    def remaining(self) -> Remaining:
        """What is left to spend, without the limits of analysts and tables."""
        return self.remaining_for()


def touched_parts(neighbors: str) -> int:
    """How many parts of a partition one unit can be in: two if its rows may be replaced.

    >>> touched_parts("add-remove"), touched_parts("replace")
    (1, 2)
    """
    return 2 if neighbors == "replace" else 1


def exhausted_error(cost: Remaining, left: Remaining, whose: str = "") -> BudgetExhausted:
    """The refusal: the cost, what is left, and what can be done."""
    hint = "The budget of this table is used up."
    if cost.epsilon > left.epsilon > 0:
        hint = (
            f"Ask for less, for example with epsilon={format_down(left.epsilon)}: the margins "
            f"would be about {float(cost.epsilon / left.epsilon):.3g} times as wide."
        )
    elif cost.epsilon <= left.epsilon:
        hint = (
            f"Ask with delta={format_down(left.delta)}, or declare the keys of the groups: "
            "declared keys need no delta."
        )
    return BudgetExhausted(
        f"This answer costs {cost}, and {left} are left{whose}.\n  {hint} "
        "Nothing was spent and nothing was read."
    )


def describe_how_many(count: int | None) -> str:
    """How many more questions like the last one can be asked, as text.

    >>> (
    ...     describe_how_many(43),
    ...     describe_how_many(1),
    ...     describe_how_many(0),
    ...     describe_how_many(None),
    ... )
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


def format_down(x: Fraction) -> str:
    """A decimal with six digits, rounded down, so that asking for it is never too much.

    >>> [format_down(Fraction(*pair)) for pair in [(1, 2), (2, 3), (2, 3 * 10**7)]]
    ['0.5', '0.666666', '6.66666e-08']
    """
    exact = floats.down(x)
    if float(f"{exact:g}") <= x:
        return f"{exact:g}"
    short = Decimal(repr(exact)).normalize(Context(prec=6, rounding=ROUND_FLOOR))
    return f"{float(short):g}"
