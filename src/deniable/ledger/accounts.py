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
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from typing import Any, NamedTuple

from deniable.exact.foreign_text import read_rational

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


def round_up(x: Fraction) -> Fraction:
    """The number itself, or one just above it if its denominator is too long to store."""
    if x.denominator.bit_length() <= _MAX_BITS:
        return x
    return Fraction(-((-x.numerator << _MAX_BITS) // x.denominator), 1 << _MAX_BITS)


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


def fraction_from_json(text: object) -> Fraction:
    """A number as the ledger writes it, such as "3/4"; a ValueError for anything else."""
    return read_rational(text, most_digits=_MOST_DIGITS)


@dataclass(slots=True)
class Spent:
    """What an account or a part was charged: as a whole (`own`) and in its parts."""

    own: dict[str, Amount | None] = field(default_factory=dict)
    parts: dict[str, "Partition"] = field(default_factory=dict)

    def charge(self, charge: Charge, path: PartPath = (), touches: int = 1) -> None:
        """Adds a charge to the part that the path leads to."""
        if path:
            (name, part), rest = path[0], path[1:]
            partition = self.parts.setdefault(name, Partition())
            partition.touches = max(partition.touches, touches)
            partition.each.setdefault(part, Spent()).charge(charge, rest, touches)
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
        siblings = {key: spent for key, spent in partition.each.items() if key != part}
        elsewhere = Partition(max(partition.touches, touches) - 1, siblings)
        costs.append(elsewhere.cost_to_one_unit(kind))
        costs.append(partition.each.get(part, Spent()).spent_before(kind, rest, touches))
        return reduce(_add, costs, self.own.get(kind, NOTHING))

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


@dataclass(slots=True)
class Partition:
    """Disjoint parts of a table; one privacy unit can be in `touches` of them."""

    touches: int = 1
    each: dict[str, Spent] = field(default_factory=dict)

    def cost_to_one_unit(self, kind: str) -> Amount | None:
        """The most that the parts of one unit can cost. Amount and slack are bounded apart."""
        totals = [part.total(kind) for part in self.each.values()]
        known = [total for total in totals if total is not None]
        if len(known) < len(totals):
            return None
        return Amount(
            _sum_of_largest((total.amount for total in known), self.touches),
            _sum_of_largest((total.slack for total in known), self.touches),
        )

    def to_json(self) -> dict[str, Any]:
        each = {name: part.to_json() for name, part in self.each.items()}
        return {"touches": self.touches, "each": each}

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> "Partition":
        each = {name: Spent.from_json(part) for name, part in read["each"].items()}
        return cls(read["touches"], each)


NOTHING = Amount(Fraction(0))


def _add(first: Amount | None, second: Amount | None) -> Amount | None:
    return None if first is None or second is None else first + second


def _sum_of_largest(values: Iterable[Fraction], count: int) -> Fraction:
    return sum(sorted(values, reverse=True)[:count], Fraction(0))


@dataclass(slots=True)
class Accounts:
    """The sums of every account: the whole state that a ledger decides by."""

    spent: dict[str, Spent] = field(default_factory=dict)

    def spent_by(self, account: str) -> Spent:
        return self.spent.get(account, Spent())

    def charge(
        self, charges: Mapping[str, Charge], path: PartPath = (), touches: int = 1
    ) -> None:
        """Adds a charge to each of the accounts."""
        for account, charge in charges.items():
            self.spent.setdefault(account, Spent()).charge(charge, path, touches)

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
