"""The ledger's contract: a plan is charged before a row is read, and never refunded.

A failure is an output too: an analyst who got the budget back after a failed query would learn
from the failure for free. So `reserve` charges, and later calls only record how it ended.
A ledger holds plans, charges and released answers, and no other value from a table.

`ChainedLedger` implements this contract, in memory and in a database.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Protocol, TypedDict, Unpack

from deniable.exact.rationals import Number
from deniable.ledger.accounts import PartPath
from deniable.privacy import Loss
from deniable.privacy.arithmetic import floats
from deniable.privacy.neighbors import Neighbors
from deniable.query.plan.plan import Plan

_UNITS = {"pure": "epsilon", "zcdp": "rho", "gdp": "mu squared", "renyi": "divergence"}


@dataclass(frozen=True, slots=True)
class RemainingInFilter:
    """What is left in one filter, in that filter's own unit."""

    filter: str
    amount: Fraction
    delta: Fraction

    def __str__(self) -> str:
        delta = f", delta {format_down(self.delta)}" if self.delta else ""
        return f"{_UNITS[self.filter.partition(':')[0]]} {format_down(self.amount)}{delta}"


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
    id: str = ""  # of the ledger
    because: str = ""  # why it was begun, if another one was before it


class ReservedRun(Protocol):
    """A run that was charged: it records its steps, and ends once."""

    entry: Entry

    @property
    def remaining(self) -> tuple[RemainingInFilter, ...]:
        """What is left of the run, in each unit in which its steps add up."""

    def step(self, plan: Plan) -> int:
        """Records a step before its data is read, and returns its number, from 1 on.

        `BudgetExhausted` if it does not fit what is left of the run; a smaller one may fit.
        """

    def keep(self, step: int, record: str, *, plan_hash: str, version: str) -> None:
        """Keeps the answer of a step. It is written with the next step, or with the end."""

    def settle(self, record: str | None = None) -> None:
        """Ends the run. `record`, as JSON, is kept if the run answers a question."""

    def fail(self, reference: str) -> None:
        """Ends the run after a failure. The charge stays."""


class AskedRun(TypedDict):
    """The arguments of `ask_run`; they mean the same as those of `ask`."""

    plan_hash: str
    version: str
    analyst: str | None
    part: PartPath
    fresh: bool
    question_id: str | None
    prepare: Callable[[], object]


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
        prepare: Callable[[], object] = lambda: None,
    ) -> AbstractContextManager["Entry | RecalledAnswer"]:
        """The answer that is kept, or a reservation to run the plan for: in one step.

        Others who ask the same question meanwhile wait until the context is left, and get its
        outcome; `QuestionPending` if that takes too long. A kept answer charges no unit and no
        table. An analyst who has a budget and has not paid for it is charged;
        `BudgetExhausted` if there is no room. `fresh` takes no kept answer. A `question_id` has
        one reservation and one outcome: asking again under it gets that answer, or the same
        `EngineFailed`. `prepare` is what must be possible before a charge: it is called once,
        while nothing is locked, unless there is a kept answer that is free.
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
    ) -> "ReservedRun":
        """Charges a run of several steps once. Each step may depend on the answers before it.

        `loss` fixes the unit in which the steps add up: PureLoss or ApproximateLoss (epsilons),
        ConcentratedLoss (rhos), GaussianLoss (squares of mu), or a RenyiLoss of one order. The
        deltas of steps add up against the loss's own delta. With `filters`, such as
        ("pure", "zcdp", "gdp"), an ApproximateLoss is kept by several sums at once, which share
        its delta. Any other loss raises `InvalidStoppingRule`. `delta` is that of the price in
        the budget's sum of epsilons, for a loss that has no epsilon without one. Without
        `tables`, every private table is charged.

        >>> from deniable.ledger import MemoryLedger
        >>> from deniable.privacy import GaussianLoss
        >>> ledger = MemoryLedger(epsilon=1, delta=1e-6)
        >>> run = ledger.reserve_run(GaussianLoss(0.1), delta=1e-7)
        >>> print(*run.remaining)
        mu squared 0.01
        >>> run.settle()
        """

    @abstractmethod
    def ask_run(
        self, plans: Sequence[Plan], **arguments: Unpack["AskedRun"]
    ) -> AbstractContextManager["ReservedRun | RecalledAnswer"]:
        """Like `ask`, for a question of several steps: its answer, or a run to answer it by.

        The run costs what `plans` cost together, in every filter. Its steps may be other plans,
        if they cost no more.
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
