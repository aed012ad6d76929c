"""The terms of a ledger: whose budgets there are, how large, and which filters keep them.

They are written into the ledger's first entry, so that a stranger can check every grant by
them. Budgets of privacy units are fixed then, and whom each table protects; a table that is
taken out of the policy is remembered, since what was told about it stays told. Budgets of
tables and analysts only narrow those of units, so the owner may change these later; each
change is an entry of its own.
"""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from deniable.errors import InvalidParameter, LedgerBroken
from deniable.ledger.accounts import Amount
from deniable.ledger.charges import limits
from deniable.policy import Policy
from deniable.policy.budget import Budget, Schedule

EVERYBODY = "unit:*"  # the budget of all units that have no budget of their own
ANYBODY = "analyst:*"  # what every analyst has who is not named


@dataclass(frozen=True, slots=True)
class Terms:
    """Budgets by account, the filters of each, and which unit's account a table charges.

    >>> terms = Terms.within(Budget(1, 1e-6))
    >>> terms.accounts(("visits",), analyst="ann")
    ('unit:*',)
    """

    budgets: Mapping[str, Budget]
    filters: tuple[str, ...] = ("pure",)
    tables: Mapping[str, str | None] = field(default_factory=dict)  # None: a public table
    protects: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # unit, neighbors

    @classmethod
    def within(cls, budget: Budget) -> "Terms":
        """One budget for everything."""
        return cls({EVERYBODY: budget})

    @classmethod
    def of(cls, policy: Policy) -> "Terms":
        """The terms that a policy declares."""
        budgets = {EVERYBODY: policy.budget}
        budgets |= {f"unit:{name}": one for name, one in policy.units.items()}
        budgets |= {f"analyst:{name}": one for name, one in policy.analysts.items()}
        tables: dict[str, str | None] = {}
        protects: dict[str, tuple[str, str]] = {}
        for name, table in policy.tables.items():
            unit = (table.unit or "").lower()
            tables[name] = f"unit:{unit}" if unit in policy.units else EVERYBODY
            if table.public:
                tables[name] = None
                continue
            protects[name] = unit, table.neighbors
            if table.budget is not None:
                budgets[f"table:{name}"] = table.budget
        return cls(budgets, policy.filters, tables, protects)

    def accounts(self, tables: tuple[str, ...], analyst: str | None) -> tuple[str, ...]:
        """The accounts that a question about these tables charges: units, tables, analyst."""
        return (*self.about(tables), *self.analyst(analyst))

    def about(self, tables: tuple[str, ...]) -> tuple[str, ...]:
        """The accounts of units and tables that a question about these tables charges."""
        found: dict[str, None] = {}
        for table in tables:
            unit = self.tables.get(table, EVERYBODY)
            if unit is not None:
                found[unit] = None
            if f"table:{table}" in self.budgets:
                found[f"table:{table}"] = None
        return tuple(found)

    def analyst(self, name: str | None) -> tuple[str, ...]:
        """An analyst's own account, where analysts have any."""
        if name is not None and not (isinstance(name, str) and name.isprintable()):
            raise InvalidParameter(
                f"An analyst's name can be printed, on one line. Found {name!r}. Nothing was "
                "spent."
            )
        known = [one for one in self.budgets if one.startswith("analyst:")]
        if not known:
            return ()
        if not name or name == "*":
            raise InvalidParameter(
                "This policy gives each analyst a budget, so it must know who asks. Say, for "
                "example,   analyst='ann'. Nothing was spent."
            )
        if ANYBODY not in known and f"analyst:{name}" not in known:
            raise InvalidParameter(
                f"The policy gives analyst {name!r} no budget. The owner may add   "
                f"[analysts.{name}]   to it. Nothing was spent."
            )
        return (f"analyst:{name}",)

    def limits(self, account: str, day: datetime.date | None) -> dict[str, Amount]:
        """The limits of an account's filters on a day; with None, the last there will be."""
        return limits(self.budget(account).at(day), self.filters)

    def has(self, account: str) -> bool:
        """Whether an account has a budget, its own or that of any analyst."""
        anybody = account.startswith("analyst:") and ANYBODY in self.budgets
        return account in self.budgets or anybody

    def budget(self, account: str) -> Budget:
        """An account's budget."""
        if account in self.budgets:
            return self.budgets[account]
        if account.startswith("analyst:") and ANYBODY in self.budgets:
            return self.budgets[ANYBODY]
        raise LedgerBroken(f"The ledger charges {account!r}, which has no budget.")

    def after(self, known: "Terms") -> "Terms":
        """These terms, which remember the tables of those before them."""
        return replace(
            self,
            tables={**known.tables, **self.tables},
            protects={**known.protects, **self.protects},
        )

    def allow(self, new: "Terms") -> None:
        """Refuses terms that change what was fixed at the start."""
        units = {name: one for name, one in self.budgets.items() if name.startswith("unit:")}
        apart = {f"unit:{unit}" for unit, _ in self.protects.values()} - set(units)
        kept = all(new.budgets.get(name) == one for name, one in units.items())
        kept = kept and not apart & set(new.budgets)  # who shared a budget gets no other
        kept = kept and _agree(self.tables, new.tables)
        if new.filters != self.filters or not kept:
            raise LedgerBroken(
                "The policy's budget is not the one that this ledger was opened with: "
                f"{_told(self)}, now {_told(new)}. A budget is fixed before the first "
                "question, and what was told cannot be taken back. Restore the policy, or, as "
                "its owner, open another ledger: what it grants comes on top of this one's."
            )
        if not _agree(self.protects, new.protects):
            raise LedgerBroken(
                "The policy protects others than when this ledger was opened: "
                f"{_whom(self)}, now {_whom(new)}. What was promised to the former cannot be "
                "kept by charging for the latter. Restore the table's `unit` and `neighbors`, "
                "or, as its owner, open another ledger."
            )

    def to_json(self) -> dict[str, Any]:
        return {
            "budgets": {name: _written(one) for name, one in self.budgets.items()},
            "filters": list(self.filters),
            "protects": {name: list(one) for name, one in self.protects.items()},
            "tables": dict(self.tables),
        }

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> "Terms":
        budgets = {name: _read(one) for name, one in read["budgets"].items()}
        protects = {name: (one[0], one[1]) for name, one in read.get("protects", {}).items()}
        return cls(budgets, tuple(read["filters"]), dict(read["tables"]), protects)


def _agree(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether what both speak of is the same in both."""
    return all(new[name] == one for name, one in old.items() if name in new)


def _whom(terms: Terms) -> str:
    found = (
        f"{name} each {unit or 'row'} ({neighbors})"
        for name, (unit, neighbors) in terms.protects.items()
    )
    return ", ".join(found)


def _told(terms: Terms) -> str:
    units = [
        f"epsilon {one.epsilon}, delta {one.delta}{' and a schedule' if one.schedule else ''}"
        for name, one in terms.budgets.items()
        if name.startswith("unit:")
    ]
    private = {name: unit for name, unit in terms.tables.items() if unit != EVERYBODY}
    rest = f" (tables apart: {private})" if private else ""
    return f"{'; '.join(units)} by {'+'.join(terms.filters)}{rest}"


def _written(budget: Budget) -> dict[str, Any]:
    written: dict[str, Any] = {"epsilon": str(budget.epsilon), "delta": str(budget.delta)}
    grows = budget.schedule
    if grows is not None:
        written["schedule"] = {
            "start": grows.start.isoformat(),
            "every": grows.every,
            "epsilon": str(grows.epsilon),
            "delta": str(grows.delta),
            "times": grows.times,
        }
    return written


def _read(read: Mapping[str, Any]) -> Budget:
    schedule = None
    if "schedule" in read:
        grows = read["schedule"]
        schedule = Schedule(
            start=datetime.date.fromisoformat(grows["start"]),
            every=grows["every"],
            epsilon=Fraction(grows["epsilon"]),
            delta=Fraction(grows["delta"]),
            times=grows["times"],
        )
    return Budget(Fraction(read["epsilon"]), Fraction(read["delta"]), schedule=schedule)
