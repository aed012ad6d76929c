"""What charges add up to, account by account: exact sums, and sums over disjoint parts.

An account (that of a privacy unit, of a table, of an analyst) keeps one sum for each committed
filter: of epsilons, of rhos, of squares of mu, and of deltas beside them. A release is granted
while in every account at least one filter has room for all that was granted so far and it
(privacy/filters/union.py says why one is enough). A charge is added to every sum, also past its
limit: a filter is closed just when its sum is above its limit, so nothing else is kept.

Limits may grow by a schedule, so that a closed filter opens again. Let M be the ledger, and
M_k the ledger that also refuses what would bring sum k above its last limit. M_k keeps filter
k, and M equals it on the transcripts whose whole history fits that last limit; the last grant
fitted some filter on its day, hence fits its last limit, so these sets cover all transcripts.

Parts of a partition hold different people. Whoever appears in one part touches its releases
and no other's, so a partition costs what its dearest part does; one who may move from part
to part touches two, and it costs the dearest two.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from typing import Any, NamedTuple

Path = tuple[tuple[str, str], ...]  # (partition, part), from the outermost inwards

_SHORT = 256  # bits: longer denominators are rounded, against the spender


class Amount(NamedTuple):
    """Of a filter's own unit, and a probability beside it.

    >>> Amount(Fraction(1, 2), Fraction(0)) + Amount(Fraction(1, 3), Fraction(1, 10**6))
    Amount(amount=Fraction(5, 6), slack=Fraction(1, 1000000))
    """

    amount: Fraction
    slack: Fraction = Fraction(0)

    def __add__(self, other: "Amount") -> "Amount":  # type: ignore[override]
        return Amount(above(self.amount + other.amount), above(self.slack + other.slack))

    def within(self, limit: "Amount") -> bool:
        return self.amount <= limit.amount and self.slack <= limit.slack

    def to_json(self) -> list[str]:
        return [str(self.amount), str(self.slack)]


Charge = Mapping[str, Amount | None]  # by filter; None: has no such charge, and closes it


def above(x: Fraction) -> Fraction:
    """The number itself, or just above it where it would take too many digits to keep."""
    if x.denominator.bit_length() <= _SHORT:
        return x
    return Fraction(-((-x.numerator << _SHORT) // x.denominator), 1 << _SHORT)


def charge_from(read: Mapping[str, Any]) -> Charge:
    """A charge as it was written."""
    return {kind: None if one is None else _amount(one) for kind, one in read.items()}


def charge_to_json(charge: Charge) -> dict[str, list[str] | None]:
    return {kind: None if one is None else one.to_json() for kind, one in charge.items()}


def _amount(pair: list[str]) -> Amount:
    amount, slack = pair
    return Amount(Fraction(amount), Fraction(slack))


@dataclass(slots=True)
class Spent:
    """What an account, or a part, was charged: by itself, and in its own parts."""

    own: dict[str, Amount | None] = field(default_factory=dict)
    parts: dict[str, "Parts"] = field(default_factory=dict)

    def charge(self, charge: Charge, path: Path = (), touches: int = 1) -> None:
        """Adds a charge, to the part that the path leads to."""
        if path:
            (partition, part), rest = path[0], path[1:]
            within = self.parts.setdefault(partition, Parts())
            within.touches = max(within.touches, touches)
            within.each.setdefault(part, Spent()).charge(charge, rest, touches)
            return
        for kind, one in charge.items():
            self.own[kind] = _sum(self.own.get(kind, NOTHING), one)

    def total(self, kind: str) -> Amount | None:
        """The sum for a filter; None once something was granted that it cannot charge."""
        worst = [one.worst(kind) for one in self.parts.values()]
        return reduce(_sum, worst, self.own.get(kind, NOTHING))

    def before(self, kind: str, path: Path = (), touches: int = 1) -> Amount | None:
        """What a charge to the part that a path leads to comes on top of: less than the whole
        sum, where other parts are dearer. Who may touch two parts has been in the dearest
        other one, too."""
        if not path:
            return self.total(kind)
        (partition, part), rest = path[0], path[1:]
        within = self.parts.get(partition, Parts())
        beside = [one.worst(kind) for name, one in self.parts.items() if name != partition]
        others = {name: one for name, one in within.each.items() if name != part}
        beside.append(Parts(max(within.touches, touches) - 1, others).worst(kind))
        beside.append(within.each.get(part, Spent()).before(kind, rest, touches))
        return reduce(_sum, beside, self.own.get(kind, NOTHING))

    def to_json(self) -> dict[str, Any]:
        written: dict[str, Any] = {"own": charge_to_json(self.own)}
        if self.parts:
            written["parts"] = {name: one.to_json() for name, one in self.parts.items()}
        return written

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> "Spent":
        parts = read.get("parts", {}).items()
        return cls(
            dict(charge_from(read["own"])),
            {name: Parts.from_json(one) for name, one in parts},
        )


@dataclass(slots=True)
class Parts:
    """A partition: parts that hold different people, of which one person touches so many."""

    touches: int = 1
    each: dict[str, Spent] = field(default_factory=dict)

    def worst(self, kind: str) -> Amount | None:
        """The most that one person's parts cost. Amounts and slacks are bounded apart."""
        sums = [one.total(kind) for one in self.each.values()]
        known = [one for one in sums if one is not None]
        if len(known) < len(sums):
            return None
        return Amount(
            _largest((one.amount for one in known), self.touches),
            _largest((one.slack for one in known), self.touches),
        )

    def to_json(self) -> dict[str, Any]:
        each = {name: one.to_json() for name, one in self.each.items()}
        return {"touches": self.touches, "each": each}

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> "Parts":
        each = {name: Spent.from_json(one) for name, one in read["each"].items()}
        return cls(read["touches"], each)


NOTHING = Amount(Fraction(0))


def _sum(one: Amount | None, other: Amount | None) -> Amount | None:
    return None if one is None or other is None else one + other


def _largest(values: Iterable[Fraction], count: int) -> Fraction:
    return sum(sorted(values, reverse=True)[:count], Fraction(0))


@dataclass(slots=True)
class Accounts:
    """Every account's sums: all that a ledger must know to decide."""

    spent: dict[str, Spent] = field(default_factory=dict)

    def of(self, account: str) -> Spent:
        return self.spent.get(account, Spent())

    def charge(self, charges: Mapping[str, Charge], path: Path = (), touches: int = 1) -> None:
        """Adds a charge to each account that it concerns."""
        for account, charge in charges.items():
            self.spent.setdefault(account, Spent()).charge(charge, path, touches)

    def within(self, account: str, limits: Mapping[str, Amount]) -> bool:
        """Whether at least one filter of an account holds all that it was charged."""
        spent = self.of(account)
        totals = ((spent.total(kind), limit) for kind, limit in limits.items())
        return any(total is not None and total.within(limit) for total, limit in totals)

    def to_json(self) -> dict[str, Any]:
        return {name: one.to_json() for name, one in self.spent.items()}

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> "Accounts":
        return cls({name: Spent.from_json(one) for name, one in read.items()})
