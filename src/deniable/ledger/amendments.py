"""What an edited policy gives away, beyond the terms that its ledger has.

What narrows the terms needs no consent. What loosens them does: a new budget, a higher limit, a
table that is not protected as the other tables of its budget are. A ledger cannot know whether
a new name stands for people whom it already protects, so in doubt it asks. The owner's consent
is an entry of the ledger: the reason, and what it gives away in epsilon.
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

    def to_json(self) -> dict[str, Any]:
        amounts = {
            name: None if amount is None else str(amount)
            for name, amount in (("epsilon", self.epsilon), ("delta", self.delta))
        }
        return {"kind": self.kind, "to": self.to, "unit": self.unit, **amounts}

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> "Gift":
        epsilon, delta = (
            None if read[name] is None else fraction_from_json(read[name])
            for name in ("epsilon", "delta")
        )
        return cls(read["kind"], read["to"], epsilon, delta, read["unit"])

    def __str__(self) -> str:
        delta = f", delta {floats.show(self.delta)}" if self.delta else ""
        amount = f"epsilon {floats.show(self.epsilon or Fraction(0))}{delta}"
        kind, _, name = self.to.partition(":")
        if self.kind == "budget":
            return (
                f"[units.{name}] is a new budget: {amount} in addition, for each person whom "
                "the other budgets protect too"
            )
        if self.kind == "limit":
            return f"the limit of {kind} {name} is looser by {amount}"
        if self.kind == "public":
            return f"table {self.to} is public: its rows are not protected (epsilon is endless)"
        return (
            f"table {self.to} protects each {self.unit}, which not all tables of its budget "
            f"do: a person who is in several units can lose {amount} for each of them"
        )


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
    return (*_new_budgets(old, new), *_new_tables(old, new), *_loose_limits(old, new))


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


def _new_tables(old: Terms, new: Terms) -> Iterator[Gift]:
    """Tables that the old terms do not name, and that may be old tables under a new name."""
    for table, account in new.tables.items():
        if table in old.tables:
            continue
        if account is None:
            yield Gift("public", table, None, None)
        elif account in old.budgets:
            others = [name for name, its in old.tables.items() if its == account]
            if {old.protects.get(name) for name in others} != {new.protects.get(table)}:
                unit, neighbors = new.protects.get(table, ("", "add-remove"))
                most = new.budget(account).at(None)
                what = f"{unit or 'row'} ({neighbors})"
                yield Gift("protection", table, most.epsilon, most.delta, what)


def _loose_limits(old: Terms, new: Terms) -> Iterator[Gift]:
    """Limits of tables and analysts that were raised or removed."""
    for table, account in new.tables.items():
        if account is None or account not in old.budgets:
            continue
        names = [table]
        if table not in old.tables:  # it may be any of these, under a new name
            names = [name for name, its in old.tables.items() if its == account]
        whole = new.budget(account)
        now = new.budgets.get(f"table:{table}", whole)
        limits = [
            old.budgets[f"table:{name}"] for name in names if f"table:{name}" in old.budgets
        ]
        yield from _looser(f"table:{table}", limits, now, whole)
    before, after = _analysts(old), _analysts(new)
    if before:  # otherwise nobody had a limit
        units = (budget for name, budget in new.budgets.items() if name.startswith("unit:"))
        whole = max(units, key=lambda budget: budget.at(None).epsilon)
        for name in dict.fromkeys((*before, *after, ANY_ANALYST)):
            then = before.get(name) or before.get(ANY_ANALYST)
            allowed = (after.get(name) or after.get(ANY_ANALYST)) if after else whole
            if allowed is not None:
                yield from _looser(name, [then], allowed, whole)


def _analysts(terms: Terms) -> dict[str, Budget]:
    return {name: one for name, one in terms.budgets.items() if name.startswith("analyst:")}


def _looser(
    account: str, before: Sequence[Budget | None], now: Budget, whole: Budget
) -> Iterator[Gift]:
    """The gift, if a limit may be above one of the earlier limits (None: nothing) some day."""
    epsilon = min(now.at(None).epsilon, whole.at(None).epsilon)
    delta = min(now.at(None).delta, whole.at(None).delta)
    more = [
        (epsilon - (then.epsilon if then else 0), delta - (then.delta if then else 0))
        for then in before
        if then != now
    ]
    most = [max(Fraction(0), *(amount[i] for amount in more)) for i in range(2)] if more else []
    if any(most):
        yield Gift("limit", account, most[0], most[1])
