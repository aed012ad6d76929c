"""The sums of charges in each account: exact sums, and sums over disjoint parts.

There is an account for each privacy unit, table and analyst with a budget. An account keeps
one sum for each committed filter: of epsilons, of rhos, or of squares of mu, each with a sum of
deltas. A release is granted while, in every account, at least one filter has room for it and
all earlier grants together (privacy/filters/union.py says why one filter is enough). A charge
is added to every sum, even past its limit. A filter is closed exactly when its sum is above its
limit, so the sums are the whole state.

Limits may grow by a schedule, so a closed filter can open again. Let M be the ledger, and M_k
the ledger that also refuses what would bring sum k above its last limit. M_k keeps filter k,
and M equals M_k on the transcripts whose whole history fits that last limit. The last grant
fitted some filter on its day, so it fits that filter's last limit. Hence these sets cover all
transcripts.

The parts of a partition hold different privacy units. A unit that stays in one part is touched
by the releases about that part only, so a partition costs as much as its most expensive part.
A unit that may move between parts touches two, so the partition costs the two most expensive.

Accounts and parts are found by the form in which names are compared (policy/names.py). Format 1
told names apart by their spelling. When such a ledger is migrated, accounts and parts whose
names are the same now are added up.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Any, NamedTuple

from deniable.errors import InvalidParameter
from deniable.exact.foreign_text import read_rational
from deniable.policy.names import compared_name

PartPath = tuple[tuple[str, str], ...]  # (partition, part) pairs, the outermost first

_MOST_DIGITS = 4000  # of a price: a plan may state it to any length that Python writes
_MAX_BITS = 256  # a fraction with a longer denominator is rounded up


class Amount(NamedTuple):
    """An amount in a filter's own unit, and a delta (`slack`).

    >>> Amount(Fraction(1, 2), Fraction(0)) + Amount(Fraction(1, 3), Fraction(1, 10**6))
    Amount(amount=Fraction(5, 6), slack=Fraction(1, 1000000))
    """

    amount: Fraction
    slack: Fraction = Fraction(0)

    def __add__(self, other: "Amount") -> "Amount":  # type: ignore[override]
        return Amount(round_up(self.amount + other.amount), round_up(self.slack + other.slack))

    def fits(self, limit: "Amount") -> bool:
        return self.amount <= limit.amount and self.slack <= limit.slack

    def to_json(self) -> list[str]:
        return [str(self.amount), str(self.slack)]


Charge = Mapping[str, Amount | None]  # by filter; None closes the filter: it cannot charge this


def round_up(x: Fraction, bits: int = _MAX_BITS) -> Fraction:
    """The number itself, or one just above it if its denominator is too long to store."""
    if x.denominator.bit_length() <= bits:
        return x
    return Fraction(-((-x.numerator << bits) // x.denominator), 1 << bits)


def charge_from_json(read: Mapping[str, Any]) -> Charge:
    """The charge that `charge_to_json` wrote."""
    return {
        kind: None if pair is None else _amount_from_json(pair) for kind, pair in read.items()
    }


def charge_to_json(charge: Charge) -> dict[str, list[str] | None]:
    return {
        kind: None if amount is None else amount.to_json() for kind, amount in charge.items()
    }


def _amount_from_json(pair: list[str]) -> Amount:
    amount, slack = pair
    return Amount(fraction_from_json(amount), fraction_from_json(slack))


@lru_cache(maxsize=4096)  # most charges repeat an amount
def fraction_from_json(text: object) -> Fraction:
    """A number as the ledger writes it, such as "3/4"; a ValueError for anything else."""
    return read_rational(text, most_digits=_MOST_DIGITS)


@dataclass(slots=True)
class Spent:
    """What an account or a part was charged: as a whole (`own`) and in its parts.

    A charge replaces the partitions that it changes. So a copy may share them.
    """

    own: dict[str, Amount | None] = field(default_factory=dict)
    parts: dict[str, "Partition"] = field(default_factory=dict)

    def copy(self) -> "Spent":
        """A copy that can be charged by itself."""
        return Spent(dict(self.own), dict(self.parts))

    def charge(self, charge: Charge, path: PartPath = (), touches: int = 1) -> None:
        """Adds a charge to the part that the path leads to."""
        if path:
            (name, part), rest = path[0], path[1:]
            partition = self.parts.get(name, Partition())
            spent = partition.spent_by(part).copy()
            spent.charge(charge, rest, touches)
            self.parts[name] = partition.replace(part, spent, touches, charge)
            return
        for kind, amount in charge.items():
            self.own[kind] = _add(self.own.get(kind, NOTHING), amount)

    def total(self, kind: str) -> Amount | None:
        """The sum for a filter. None if a grant was made that this filter cannot charge."""
        costs = [partition.cost_to_one_unit(kind) for partition in self.parts.values()]
        return reduce(_add, costs, self.own.get(kind, NOTHING))

    def spent_before(self, kind: str, path: PartPath = (), touches: int = 1) -> Amount | None:
        """The sum that a new charge to the part at `path` is added to.

        It is less than the total if other parts are more expensive. A unit that may touch two
        parts may also have been in the most expensive other part.
        """
        if not path:
            return self.total(kind)
        (name, part), rest = path[0], path[1:]
        partition = self.parts.get(name, Partition())
        costs = [
            other.cost_to_one_unit(kind) for key, other in self.parts.items() if key != name
        ]
        costs.append(partition.cost_elsewhere(kind, part, max(partition.touches, touches) - 1))
        costs.append(partition.spent_by(part).spent_before(kind, rest, touches))
        return reduce(_add, costs, self.own.get(kind, NOTHING))

    def kinds(self) -> set[str]:
        """The filters in which something was charged."""
        inside = (partition.largest for partition in self.parts.values())
        return set(self.own).union(*inside)

    def to_json(self) -> dict[str, Any]:
        json: dict[str, Any] = {"own": charge_to_json(self.own)}
        if self.parts:
            json["parts"] = {name: part.to_json() for name, part in self.parts.items()}
        return json

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> "Spent":
        parts = read.get("parts", {}).items()
        return cls(
            dict(charge_from_json(read["own"])),
            {name: Partition.from_json(partition) for name, partition in parts},
        )


class Largest(NamedTuple):
    """The parts that cost most in one filter. Sums only grow, so no other part is needed."""

    amounts: tuple[tuple[Fraction, str], ...] = ()
    slacks: tuple[tuple[Fraction, str], ...] = ()
    closed: bool = False  # a part has a charge that the filter cannot charge

    def update(self, part: str, total: Amount | None) -> "Largest":
        """After a part has grown to a new total."""
        if total is None:
            return self._replace(closed=True)
        amounts = _largest(self.amounts, part, total.amount)
        return self._replace(amounts=amounts, slacks=_largest(self.slacks, part, total.slack))


@dataclass(frozen=True, slots=True)
class Partition:
    """Disjoint parts of a table; one privacy unit can be in `touches` of them."""

    touches: int = 1
    each: Mapping[str, Spent] = field(default_factory=dict)
    largest: Mapping[str, Largest] = field(default_factory=dict, compare=False)  # by filter

    def spent_by(self, part: str) -> Spent:
        return self.each.get(part, Spent())

    def replace(
        self, part: str, spent: Spent, touches: int, kinds: Iterable[str]
    ) -> "Partition":
        """The partition after a part was charged in some filters."""
        if touches not in range(1, MOST_TOUCHED + 1):
            raise ValueError(f"a unit cannot touch {touches!r} parts")
        grown = {
            kind: self.largest.get(kind, Largest()).update(part, spent.total(kind))
            for kind in kinds
        }
        return Partition(
            max(self.touches, touches), {**self.each, part: spent}, {**self.largest, **grown}
        )

    def cost_to_one_unit(self, kind: str) -> Amount | None:
        """The most that the parts of one unit can cost. Amount and slack are bounded apart."""
        return self.cost_elsewhere(kind, None, self.touches)

    def cost_elsewhere(self, kind: str, part: str | None, touches: int) -> Amount | None:
        """The most that the other parts of a unit can cost, if it is in `touches` of them."""
        largest = self.largest.get(kind, Largest())
        if largest.closed:
            return None
        return Amount(
            _sum_of_largest(largest.amounts, part, touches),
            _sum_of_largest(largest.slacks, part, touches),
        )

    def to_json(self) -> dict[str, Any]:
        each = {name: part.to_json() for name, part in self.each.items()}
        return {"touches": self.touches, "each": each}

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> "Partition":
        each = {name: Spent.from_json(part) for name, part in read["each"].items()}
        largest: dict[str, Largest] = {}
        for name, spent in each.items():
            for kind in spent.kinds():
                known = largest.get(kind, Largest())
                largest[kind] = known.update(name, spent.total(kind))
        return cls(read["touches"], each, largest)


NOTHING = Amount(Fraction(0))
MOST_TOUCHED = 2  # parts that one unit can be in: two, if its rows may be replaced


def _add(first: Amount | None, second: Amount | None) -> Amount | None:
    return None if first is None or second is None else first + second


def _largest(
    known: tuple[tuple[Fraction, str], ...], part: str, value: Fraction
) -> tuple[tuple[Fraction, str], ...]:
    others = (pair for pair in known if pair[1] != part)
    return tuple(sorted([(value, part), *others], reverse=True)[:MOST_TOUCHED])


def _sum_of_largest(
    pairs: tuple[tuple[Fraction, str], ...], left_out: str | None, count: int
) -> Fraction:
    values = [value for value, part in pairs if part != left_out]
    return sum(values[:count], Fraction(0))


@dataclass(slots=True)
class Accounts:
    """The sums of every account: the whole state that a ledger decides by."""

    spent: dict[str, Spent] = field(default_factory=dict)

    def copy(self) -> "Accounts":
        """A copy that can be charged by itself. It shares what is not charged."""
        return Accounts(dict(self.spent))

    def spent_by(self, account: str) -> Spent:
        return self.spent.get(account, Spent())

    def charge(
        self, charges: Mapping[str, Charge], path: PartPath = (), touches: int = 1
    ) -> None:
        """Adds a charge to each of the accounts."""
        for account, charge in charges.items():
            spent = self.spent_by(account).copy()
            spent.charge(charge, path, touches)
            self.spent[account] = spent

    def fits(self, account: str, limits: Mapping[str, Amount]) -> bool:
        """Whether at least one filter of the account has room for all its charges."""
        spent = self.spent_by(account)
        totals = ((spent.total(kind), limit) for kind, limit in limits.items())
        return any(total is not None and total.fits(limit) for total, limit in totals)

    def to_json(self) -> dict[str, Any]:
        return {name: spent.to_json() for name, spent in self.spent.items()}

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> "Accounts":
        return cls({name: Spent.from_json(spent) for name, spent in read.items()})


def compared_part(part: PartPath) -> PartPath:
    """A part's path with the names by which it is found."""
    try:
        return tuple((compared_name(partition), compared_name(key)) for partition, key in part)
    except ValueError as problem:
        raise InvalidParameter(
            f"The name of a part {problem}. Nothing was spent. Divide the table by a column "
            "with short, printable values."
        ) from None


def migrated_accounts(accounts: Accounts) -> Accounts:
    """The sums of a ledger of format 1, by compared names."""
    migrated = Accounts()
    for account, spent in accounts.spent.items():
        for path, charge, touches in _charges(spent):
            steps = ((_migrated_name(name), _migrated_name(key)) for name, key in path)
            migrated.charge({migrated_account_name(account): charge}, tuple(steps), touches)
    return migrated


def _charges(
    spent: Spent, path: PartPath = (), touches: int = 1
) -> Iterator[tuple[PartPath, Charge, int]]:
    """Charges that make these sums: one for the whole, and one for each part."""
    yield path, spent.own, touches
    for name, partition in spent.parts.items():
        for key, inside in partition.each.items():
            yield from _charges(inside, (*path, (name, key)), partition.touches)


def migrated_account_name(account: str) -> str:
    """The name of an account of format 1 in this format."""
    kind, _, name = account.partition(":")
    if kind != "analyst" or name == "*":
        return account
    return f"{kind}:{_migrated_name(name)}"


def _migrated_name(name: str) -> str:
    try:
        return compared_name(name)
    except ValueError:  # format 1 knew no limits: nobody can use this name any more
        return hashlib.sha256(name.encode()).hexdigest()
