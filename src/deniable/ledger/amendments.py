"""What an edited policy gives away, beyond the terms that its ledger has.

What narrows the terms needs no consent. What loosens them does: a new budget, a higher limit, a
table that may hold the rows of another one, and is not charged or protected as that one is. A
new table may be any earlier one under another name: a file is copied or renamed easily, so in
doubt the ledger asks. A table that it knows is taken for what it was, unless its `source` is
now one that it knows as another table's. The owner's consent is an entry of the ledger: the
reason, and what it gives away in epsilon.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from deniable.errors import LedgerBroken
from deniable.ledger.accounts import fraction_from_json
from deniable.ledger.terms import ANY_ANALYST, Terms
from deniable.policy.budget import Budget
from deniable.privacy.arithmetic import floats

GiftKind = Literal["budget", "limit", "protection", "public"]


@dataclass(frozen=True, slots=True)
class Gift:
    """One thing that new terms give away: at most this much more, or without limit (None).

    `to` is an account ("unit:nurse", "table:visits", "analyst:ann"), or a table.
    """

    kind: GiftKind
    to: str
    epsilon: Fraction | None
    delta: Fraction | None
    unit: str = ""  # of the kind "protection": what is protected from now on
    rows_of: str = ""  # the tables whose rows may be in this one

    def to_json(self) -> dict[str, Any]:
        amounts = {
            name: None if amount is None else str(amount)
            for name, amount in (("epsilon", self.epsilon), ("delta", self.delta))
        }
        return {"kind": self.kind, "to": self.to, "unit": self.unit, **amounts} | (
            {"rows_of": self.rows_of} if self.rows_of else {}
        )

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> "Gift":
        epsilon, delta = (
            None if read[name] is None else fraction_from_json(read[name])
            for name in ("epsilon", "delta")
        )
        return cls(
            read["kind"], read["to"], epsilon, delta, read["unit"], read.get("rows_of", "")
        )

    def __str__(self) -> str:
        delta = f", delta {floats.show(self.delta)}" if self.delta else ""
        amount = f"epsilon {floats.show(self.epsilon or Fraction(0))}{delta}"
        kind, _, name = self.to.partition(":")
        if self.kind == "budget":
            return (
                f"[units.{name}] is a new budget: {amount} in addition, for each person whom "
                "the other budgets protect too"
            )
        if self.kind == "public":
            return f"table {self.to} is public: its rows are not protected (epsilon is endless)"
        if self.kind == "protection":
            return (
                f"table {self.to} may hold rows of {self.rows_of}, for which another budget, "
                f"unit or relation was fixed: each {self.unit} in it can lose {amount} more"
            )
        if self.rows_of:
            return (
                f"table {name} may hold rows of {self.rows_of}, whose limit does not count "
                f"for it: {amount} more"
            )
        return f"the limit of {kind} {name} is looser by {amount}"


def gifts(old: Terms, new: Terms) -> tuple[Gift, ...]:
    """What new terms give away beyond the old ones.

    >>> old = Terms(
    ...     {"unit:*": Budget(3), "table:visits": Budget(1)}, tables={"visits": "unit:*"}
    ... )
    >>> new = Terms(
    ...     {"unit:*": Budget(3), "table:visits": Budget(2)}, tables={"visits": "unit:*"}
    ... )
    >>> [str(gift) for gift in gifts(old, new)]
    ['the limit of table visits is looser by epsilon 1']
    """
    new = new.with_tables_of(old)
    given = (*_new_budgets(old, new), *_tables(old, new), *_loose_limits(old, new))
    return tuple(sorted(given, key=lambda gift: (gift.kind, gift.to)))  # a replay orders names


def amendment(old: Terms, new: Terms, because: str) -> dict[str, Any]:
    """The body of the entry that puts new terms in force.

    Refuses what may never change; and what gives something away, if the owner gave no reason.
    """
    old.check_change(new)
    body: dict[str, Any] = {"kind": "amended", "terms": new.with_tables_of(old).to_json()}
    given = gifts(old, new)
    if not given:
        return body
    if not because.strip():
        raise LedgerBroken(
            "The policy was changed, and gives away more than this ledger's terms do: "
            f"{'; '.join(map(str, given))}. Nothing was spent. Restore the policy. Or, as its "
            "owner, consent to it. The reason is recorded in the ledger:   deniable ledger "
            'amend --because "..."'
        )
    return body | {"because": because.strip(), "gives": [gift.to_json() for gift in given]}


def _new_budgets(old: Terms, new: Terms) -> Iterator[Gift]:
    for account, budget in new.budgets.items():
        if account.startswith("unit:") and account not in old.budgets:
            most = budget.at(None)
            yield Gift("budget", account, most.epsilon, most.delta)


def _tables(old: Terms, new: Terms) -> Iterator[Gift]:
    """Tables that may hold rows of earlier ones, and are not bound as those are."""
    for table, account in new.tables.items():
        others = _whose_rows(old, new, table)
        if account is None:
            if others or table not in old.tables:
                yield Gift("public", table, None, None)
        elif account in old.budgets:
            yield from _sheds(old, new, table, others)


def _whose_rows(old: Terms, new: Terms, table: str) -> list[str]:
    """The earlier private tables whose rows a table may hold from now on."""
    private = [name for name, its in sorted(old.tables.items()) if its and name != table]
    if table not in old.tables:
        return private
    added = set(new.sources.get(table, ())) - set(old.sources.get(table, ()))
    return [name for name in private if not added.isdisjoint(old.sources.get(name, ()))]


def _sheds(old: Terms, new: Terms, table: str, others: Sequence[str]) -> Iterator[Gift]:
    """The gift, if a table holds the rows of others: all that may be spent on it in addition.

    Under the same budget and the same protection the sums go on. Only a limit of a table is
    left behind then, and the budget bounds both.
    """
    account = str(new.tables[table])
    whole, bound = new.budget(account).at(None), (account, new.protects.get(table))
    limit = new.budgets.get(f"table:{table}", whole).at(None)
    most = min(limit.epsilon, whole.epsilon), min(limit.delta, whole.delta)
    apart = [name for name in others if (old.tables[name], old.protects.get(name)) != bound]
    if apart:
        unit, neighbors = new.protects.get(table, ("", "add-remove"))
        what = f"{unit or 'row'} ({neighbors})"
        yield Gift("protection", table, *most, what, _list(apart))
        return
    limited = {
        name: old.budgets[f"table:{name}"] for name in others if f"table:{name}" in old.budgets
    }
    if limited:
        left = whole.epsilon - min(budget.epsilon for budget in limited.values())
        left_delta = whole.delta - min(budget.delta for budget in limited.values())
        more = max(Fraction(0), min(most[0], left)), max(Fraction(0), min(most[1], left_delta))
        if any(more):
            yield Gift("limit", f"table:{table}", *more, rows_of=_list(list(limited)))


def _list(names: Sequence[str]) -> str:
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"


def _loose_limits(old: Terms, new: Terms) -> Iterator[Gift]:
    """Limits of tables and analysts that were raised or removed."""
    for table, account in new.tables.items():
        then = old.budgets.get(f"table:{table}")
        if account is None or then is None:
            continue
        whole = new.budget(account)
        yield from _looser(
            f"table:{table}", then, new.budgets.get(f"table:{table}", whole), whole
        )
    before, after = _analysts(old), _analysts(new)
    if before:  # otherwise nobody had a limit
        whole = _largest(new)
        for name in dict.fromkeys((*before, *after, ANY_ANALYST)):
            had = before.get(name) or before.get(ANY_ANALYST)
            allowed = (after.get(name) or after.get(ANY_ANALYST)) if after else whole
            if allowed is not None:
                yield from _looser(name, had, allowed, whole)


def _largest(terms: Terms) -> Budget:
    """The most of epsilon and of delta that any unit has; not always of the same unit."""
    units = [
        budget.at(None) for name, budget in terms.budgets.items() if name.startswith("unit:")
    ]
    return Budget(max(limit.epsilon for limit in units), max(limit.delta for limit in units))


def _analysts(terms: Terms) -> dict[str, Budget]:
    return {
        name: budget for name, budget in terms.budgets.items() if name.startswith("analyst:")
    }


def _looser(account: str, then: Budget | None, now: Budget, whole: Budget) -> Iterator[Gift]:
    """The gift, if a limit may be above the earlier limit (None: nothing) some day."""
    if then == now:
        return
    epsilon = min(now.at(None).epsilon, whole.at(None).epsilon) - (then.epsilon if then else 0)
    delta = min(now.at(None).delta, whole.at(None).delta) - (then.delta if then else 0)
    if epsilon > 0 or delta > 0:
        yield Gift("limit", account, max(Fraction(0), epsilon), max(Fraction(0), delta))
