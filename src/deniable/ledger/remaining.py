"""Readings of a ledger's sums: what is left, how full each filter is, how many more fit."""

import datetime
from collections.abc import Sequence
from fractions import Fraction
from math import floor

from deniable.ledger.accounts import (
    NOTHING,
    Accounts,
    Amount,
    Charge,
    Path,
    Spent,
)
from deniable.ledger.ledger import Gauge, LedgerRoom, Remaining
from deniable.ledger.terms import ANYBODY, EVERYBODY, Terms


def asked(terms: Terms, analyst: str | None, tables: tuple[str, ...] | None) -> tuple[str, ...]:
    """The accounts that bound what this analyst may ask of these tables (or of any)."""
    own = () if analyst is None else terms.analyst(analyst)
    if tables is not None:
        return (*terms.about(tables), *own)
    units = {unit for unit in terms.tables.values() if unit is not None} or {EVERYBODY}
    return (*sorted(units), *own)


def left(
    accounts: Accounts,
    terms: Terms,
    names: Sequence[str],
    day: datetime.date,
    part: Path = (),
    touches: int = 1,
) -> Remaining:
    """What is left in each filter, to a part or to the whole, in the account with the least."""
    rooms: dict[str, list[Amount | None]] = {}
    for name in names:
        for kind, limit in terms.limits(name, day).items():
            room = _room(accounts.of(name), kind, limit, part, touches)
            rooms.setdefault(kind, []).append(room)
    least = {kind: _least(found) for kind, found in rooms.items()}
    pure = least.pop("pure", None) or NOTHING
    others = [LedgerRoom(kind, *one) for kind, one in least.items() if one is not None]
    return Remaining(pure.amount, pure.slack, tuple(others))


def _room(spent: Spent, kind: str, limit: Amount, part: Path, touches: int) -> Amount | None:
    """What may still be charged to a part; where the whole is above its limit, nothing."""
    total, before = spent.total(kind), spent.before(kind, part, touches)
    if total is None or before is None:
        return None
    amount, slack = (total if total.amount > limit.amount else before).amount, before.slack
    slack = total.slack if total.slack > limit.slack else slack
    return Amount(max(limit.amount - amount, Fraction(0)), limit.slack - slack)


def _least(rooms: Sequence[Amount | None]) -> Amount | None:
    known = [one for one in rooms if one is not None and one.slack >= 0]
    if len(known) < len(rooms):
        return None
    return Amount(min(one.amount for one in known), min(one.slack for one in known))


def how_many(
    accounts: Accounts,
    terms: Terms,
    names: Sequence[str],
    charge: Charge,
    day: datetime.date,
    part: Path = (),
    touches: int = 1,
) -> int | None:
    """How often a charge still fits, in the account that has the least room for it."""
    counts: list[int] = []
    for name in names:
        most = [
            _times(_room(accounts.of(name), kind, limit, part, touches), charge.get(kind))
            for kind, limit in terms.limits(name, day).items()
        ]
        if None not in most:
            counts.append(max(one for one in most if one is not None))
    return min(counts) if counts else None


def _times(room: Amount | None, charge: Amount | None) -> int | None:
    """How often a charge fits into a room; None: without end."""
    if room is None or charge is None or room.slack < 0:
        return 0
    pairs = ((room.amount, charge.amount), (room.slack, charge.slack))
    found = [floor(has / each) for has, each in pairs if each]
    return min(found) if found else None


def gauges(accounts: Accounts, terms: Terms, day: datetime.date) -> tuple[Gauge, ...]:
    """Every filter of every account that has a budget of its own, or was charged."""
    charged = (name for name in accounts.spent if terms.has(name))  # the owner may end some
    names = dict.fromkeys(name for name in (*terms.budgets, *charged) if name != ANYBODY)
    found: list[Gauge] = []
    for name in names:
        last = terms.limits(name, None)
        for kind, limit in terms.limits(name, day).items():
            total = accounts.of(name).total(kind)
            spent = None if total is None else total.amount
            beside = Fraction(0) if total is None else total.slack
            sides = (last[kind].amount, beside, limit.slack)
            found.append(Gauge(name, kind, spent, limit.amount, *sides))
    return tuple(found)


def whose(account: str) -> str:
    """Whose budget an account is, to end a refusal with.

    >>> whose("analyst:ann"), whose("table:visits"), whose("unit:*")
    (' to analyst ann', ' of what may be asked about visits', '')
    """
    kind, name = account.split(":", 1)
    if kind == "analyst":
        return f" to analyst {name}"
    if kind == "table":
        return f" of what may be asked about {name}"
    return "" if name == "*" else f" for each {name}"
