"""What a ledger's sums leave: the remaining budget, the use of each filter, grants to come."""

import datetime
from collections.abc import Sequence
from fractions import Fraction
from math import floor

from deniable.errors import BudgetExhausted
from deniable.ledger.accounts import (
    NOTHING,
    Accounts,
    Amount,
    Charge,
    PartPath,
    Spent,
)
from deniable.ledger.ledger import FilterUsage, Remaining, RemainingInFilter, format_down
from deniable.ledger.terms import ALL_UNITS, ANY_ANALYST, Terms

_MOST_COUNTED = 1000  # more questions are told in round numbers


def limiting_accounts(
    terms: Terms, analyst: str | None, tables: tuple[str, ...] | None
) -> tuple[str, ...]:
    """The accounts that limit what this analyst can ask of these tables, or of any table."""
    own = () if analyst is None else terms.analyst_account(analyst)
    if tables is not None:
        return (*terms.accounts_of_tables(tables), *own)
    units = {unit for unit in terms.tables.values() if unit is not None} or {ALL_UNITS}
    return (*sorted(units), *own)


def least_remaining(
    accounts: Accounts,
    terms: Terms,
    names: Sequence[str],
    day: datetime.date,
    part: PartPath = (),
    touches: int = 1,
) -> Remaining:
    """What is left in each filter, in the account with the least; for a part or the whole."""
    rooms: dict[str, list[Amount | None]] = {}
    for name in names:
        for kind, limit in terms.limits(name, day).items():
            room = _room(accounts.spent_by(name), kind, limit, part, touches)
            rooms.setdefault(kind, []).append(room)
    least = {kind: _least(amounts) for kind, amounts in rooms.items()}
    pure = least.pop("pure", None) or NOTHING
    others = [
        RemainingInFilter(kind, *amount) for kind, amount in least.items() if amount is not None
    ]
    return Remaining(pure.amount, pure.slack, tuple(others))


def _room(
    spent: Spent, kind: str, limit: Amount, part: PartPath, touches: int
) -> Amount | None:
    """What can still be charged to a part: nothing if the total is above its limit."""
    total, before = spent.total(kind), spent.spent_before(kind, part, touches)
    if total is None or before is None:
        return None
    amount, slack = (total if total.amount > limit.amount else before).amount, before.slack
    slack = total.slack if total.slack > limit.slack else slack
    return Amount(max(limit.amount - amount, Fraction(0)), limit.slack - slack)


def _least(rooms: Sequence[Amount | None]) -> Amount | None:
    open_rooms = [room for room in rooms if room is not None and room.slack >= 0]
    if len(open_rooms) < len(rooms):
        return None
    return Amount(
        min(room.amount for room in open_rooms), min(room.slack for room in open_rooms)
    )


def count_grants(
    accounts: Accounts,
    terms: Terms,
    names: Sequence[str],
    charge: Charge,
    day: datetime.date,
    part: PartPath = (),
    touches: int = 1,
) -> int | None:
    """How many times a charge still fits, in the account with the least room for it.

    None if without limit.
    """
    counts: list[int] = []
    for name in names:
        by_filter = [
            _times(_room(accounts.spent_by(name), kind, limit, part, touches), charge.get(kind))
            for kind, limit in terms.limits(name, day).items()
        ]
        if None not in by_filter:
            counts.append(max(count for count in by_filter if count is not None))
    return min(counts) if counts else None


def _times(room: Amount | None, charge: Amount | None) -> int | None:
    """How many times a charge fits into a room; None if without limit."""
    if room is None or charge is None or room.slack < 0:
        return 0
    pairs = ((room.amount, charge.amount), (room.slack, charge.slack))
    counts = [floor(has / each) for has, each in pairs if each]
    return min(counts) if counts else None


def filter_usages(
    accounts: Accounts, terms: Terms, day: datetime.date
) -> tuple[FilterUsage, ...]:
    """The use of every filter, in every account that has its own budget or was charged."""
    # The owner may have removed the budget of an account that was charged.
    charged = (name for name in accounts.spent if terms.has_budget(name))
    names = dict.fromkeys(name for name in (*terms.budgets, *charged) if name != ANY_ANALYST)
    usages: list[FilterUsage] = []
    for name in names:
        caps = terms.limits(name, None)
        for kind, limit in terms.limits(name, day).items():
            total = accounts.spent_by(name).total(kind)
            spent = None if total is None else total.amount
            delta = Fraction(0) if total is None else total.slack
            rest = (caps[kind].amount, delta, limit.slack)
            usages.append(FilterUsage(name, kind, spent, limit.amount, *rest))
    return tuple(usages)


def describe_account(account: str) -> str:
    """Whose budget an account is, as the end of a sentence.

    >>> (
    ...     describe_account("analyst:ann"),
    ...     describe_account("table:visits"),
    ...     describe_account("unit:*"),
    ... )
    (' to analyst ann', ' for table visits', '')
    """
    kind, name = account.split(":", 1)
    if kind == "analyst":
        return f" to analyst {name}"
    if kind == "table":
        return f" for table {name}"
    return "" if name == "*" else f" for each {name}"


def describe_how_many(count: int | None) -> str:
    """How many more questions like the last one can be asked, as text.

    >>> (
    ...     describe_how_many(49),
    ...     describe_how_many(1),
    ...     describe_how_many(0),
    ...     describe_how_many(None),
    ... )
    ('49 more questions like this one', 'one more question like this one',
    'no more questions like this one', 'any number of questions like this one')
    """
    if count is None:
        return "any number of questions like this one"
    if count < 2:
        return f"{'one more question' if count else 'no more questions'} like this one"
    if count < _MOST_COUNTED:
        return f"{count} more questions like this one"
    step = 10 ** max(1, len(str(count)) - 2)
    return f"about {count // step * step:,} more questions like this one"


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
