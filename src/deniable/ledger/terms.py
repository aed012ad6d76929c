"""The terms of a ledger: the budget of each account, and the filters that keep it.

The ledger's first entry holds them, so anyone can check every grant. The budgets of privacy
units are fixed then, and so is the unit that each table protects. A table that is removed from
the policy is remembered, because answers about it stay released; so is where the rows of each
table came from. Budgets of tables and analysts
only narrow the budgets of units, so the owner may change these later. Each change is an entry,
and what loosens the terms needs the owner's consent (`amendments`).
"""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from deniable.errors import InvalidParameter, LedgerBroken
from deniable.ledger.accounts import (
    Amount,
    Charge,
    fraction_from_json,
    migrated_account_name,
)
from deniable.ledger.charges import charge_for, filter_limits
from deniable.policy import Policy
from deniable.policy.budget import Budget, Schedule
from deniable.policy.names import compared_name
from deniable.policy.source_names import source_names
from deniable.query.plan.plan import Plan

ALL_UNITS = "unit:*"  # the account of all units without a budget of their own
ANY_ANALYST = "analyst:*"  # the budget of each analyst who is not named


@dataclass(frozen=True, slots=True)
class Terms:
    """Budgets by account, their filters, and the unit's account that each table charges.

    >>> terms = Terms.from_budget(Budget(1, 1e-6))
    >>> terms.accounts(("visits",), analyst="ann")
    ('unit:*',)
    """

    budgets: Mapping[str, Budget]
    filters: tuple[str, ...] = ("pure",)
    tables: Mapping[str, str | None] = field(default_factory=dict)  # None: a public table
    protects: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # unit, neighbors
    sources: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # see `source_names`

    @classmethod
    def from_budget(cls, budget: Budget) -> "Terms":
        """One budget for everything."""
        return cls({ALL_UNITS: budget})

    @classmethod
    def from_policy(cls, policy: Policy) -> "Terms":
        """The terms that a policy declares."""
        budgets = {ALL_UNITS: policy.budget}
        budgets |= {f"unit:{name}": budget for name, budget in policy.units.items()}
        budgets |= {f"analyst:{name}": budget for name, budget in policy.analysts.items()}
        tables: dict[str, str | None] = {}
        protects: dict[str, tuple[str, str]] = {}
        for name, table in policy.tables.items():
            unit = (table.unit or "").lower()
            tables[name] = f"unit:{unit}" if unit in policy.units else ALL_UNITS
            if table.public:
                tables[name] = None
                continue
            protects[name] = unit, table.neighbors
            if table.budget is not None:
                budgets[f"table:{name}"] = table.budget
        return cls(budgets, policy.filters, tables, protects, source_names(policy))

    def accounts(self, tables: tuple[str, ...], analyst: str | None) -> tuple[str, ...]:
        """The accounts that a question about these tables charges: units, tables, analyst."""
        return (*self.accounts_of_tables(tables), *self.analyst_account(analyst))

    def accounts_of_tables(self, tables: tuple[str, ...]) -> tuple[str, ...]:
        """The accounts of units and tables that a question about these tables charges."""
        accounts: dict[str, None] = {}
        for table in tables:
            unit = self.tables.get(table, ALL_UNITS)
            if unit is not None:
                accounts[unit] = None
            if f"table:{table}" in self.budgets:
                accounts[f"table:{table}"] = None
        return tuple(accounts)

    def analyst_account(self, name: str | None, *, exactly: bool = False) -> tuple[str, ...]:
        """The analyst's own account; () if the policy has no budgets of analysts.

        `exactly` finds a name by its spelling, as format 1 did.
        """
        given, name = name, name if exactly else compared_analyst(name)
        accounts = [account for account in self.budgets if account.startswith("analyst:")]
        if not accounts:
            return ()
        if not name or name == "*":
            raise InvalidParameter(
                "This policy gives each analyst a budget, so it must know who asks. Give a "
                "name, for example   analyst='ann'. Nothing was spent."
            )
        if ANY_ANALYST not in accounts and f"analyst:{name}" not in accounts:
            raise InvalidParameter(
                f"The policy gives analyst {given!r} no budget. The owner can add   "
                f"[analysts.{name}]   to it. Nothing was spent."
            )
        return (f"analyst:{name}",)

    def charges(
        self, plans: Sequence[Plan], analyst: str | None, delta: Fraction | None = None
    ) -> dict[str, Charge]:
        """What plans charge together to each account; with a `delta`, their tight price."""
        accounts = {tables: self.accounts(tables, analyst) for tables in _tables_of(plans)}
        charged: dict[str, list[Plan]] = {}  # the plans that each account is charged for
        for plan in plans:
            for account in accounts[plan.tables]:
                charged.setdefault(account, []).append(plan)
        whole = charge_for(plans, self.filters, delta)
        return {
            account: whole if len(some) == len(plans) else charge_for(some, self.filters, delta)
            for account, some in charged.items()
        }

    def limits(self, account: str, day: datetime.date | None) -> dict[str, Amount]:
        """The limits of an account's filters on a day; with None, at the schedule's end."""
        return filter_limits(self.budget(account).at(day), self.filters)

    def has_budget(self, account: str) -> bool:
        """Whether an account has a budget: its own, or the one for any analyst."""
        any_analyst = account.startswith("analyst:") and ANY_ANALYST in self.budgets
        return account in self.budgets or any_analyst

    def budget(self, account: str) -> Budget:
        """An account's budget."""
        if account in self.budgets:
            return self.budgets[account]
        if account.startswith("analyst:") and ANY_ANALYST in self.budgets:
            return self.budgets[ANY_ANALYST]
        raise LedgerBroken(f"The ledger charges {account!r}, which has no budget.")

    def with_tables_of(self, earlier: "Terms") -> "Terms":
        """These terms, with the tables of earlier terms, their budgets and their sources."""
        kept = {
            name: budget
            for name, budget in earlier.budgets.items()
            if name.startswith("unit:")
            or _table_of(name) in set(earlier.tables) - set(self.tables)
        }
        return replace(
            self,
            budgets={**kept, **self.budgets},
            tables={**earlier.tables, **self.tables},
            protects={**earlier.protects, **self.protects},
            sources={
                name: tuple(
                    sorted({*earlier.sources.get(name, ()), *self.sources.get(name, ())})
                )
                for name in (*earlier.sources, *self.sources)
            },
        )

    def check_change(self, new: "Terms") -> None:
        """Refuses new terms that change what was fixed at the start."""
        new = new.with_tables_of(self)
        units = {
            name: budget for name, budget in self.budgets.items() if name.startswith("unit:")
        }
        same = all(new.budgets.get(name) == budget for name, budget in units.items())
        same = same and _agree_where_both(self.tables, new.tables)
        same = same and _have_one_account_each(self, new)
        if new.filters != self.filters or not same:
            raise LedgerBroken(
                "The policy's budget is not the one that this ledger was opened with: it was "
                f"{_describe_budgets(self)}; now it is {_describe_budgets(new)}. A budget is "
                "fixed before the first question, because an answer cannot be taken back. "
                "Restore the policy. Or, as its owner, open another ledger: what that one "
                "grants is spent in addition."
            )
        if not _agree_where_both(self.protects, new.protects):
            raise LedgerBroken(
                "The policy does not protect the same units as when this ledger was opened: it "
                f"protected {_describe_units(self)}; now it protects {_describe_units(new)}. "
                "Restore the table's `unit` and `neighbors`, or, as its owner, open another "
                "ledger."
            )

    def to_json(self) -> dict[str, Any]:
        sources = {name: list(names) for name, names in self.sources.items()}
        return {
            "budgets": {name: _budget_to_json(budget) for name, budget in self.budgets.items()},
            "filters": list(self.filters),
            "protects": {name: list(pair) for name, pair in self.protects.items()},
            "tables": dict(self.tables),
            **({"sources": sources} if sources else {}),
        }

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> "Terms":
        budgets = {name: _budget_from_json(json) for name, json in read["budgets"].items()}
        pairs = read.get("protects", {}).items()
        protects = {name: (pair[0], pair[1]) for name, pair in pairs}
        sources = {name: tuple(names) for name, names in read.get("sources", {}).items()}
        return cls(budgets, tuple(read["filters"]), dict(read["tables"]), protects, sources)


def migrated_terms(terms: Terms) -> Terms:
    """Terms with compared names. Of two budgets of one analyst the smaller one is kept."""
    budgets: dict[str, Budget] = {}
    for account, budget in terms.budgets.items():
        name = migrated_account_name(account)
        budgets[name] = min(budgets.get(name, budget), budget, key=_size)
    return replace(terms, budgets=budgets)


def _size(budget: Budget) -> tuple[Any, Any]:
    last = budget.at(None)
    return last.epsilon, last.delta


def compared_analyst(analyst: str | None) -> str | None:
    """The name by which an analyst is found."""
    if analyst is None or analyst == "":
        return None
    try:
        return compared_name(analyst)
    except ValueError as problem:
        raise InvalidParameter(f"`analyst` {problem}. Nothing was spent.") from None


def _tables_of(plans: Sequence[Plan]) -> set[tuple[str, ...]]:
    return {plan.tables for plan in plans}


def _agree_where_both(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether every name that is in both has the same value in both."""
    return all(new[name] == value for name, value in old.items() if name in new)


def _have_one_account_each(old: Terms, new: Terms) -> bool:
    """Whether each unit is charged to one account: a budget is not split or joined later."""
    pairs = {
        (unit, terms.tables.get(name))
        for terms in (old, new)
        for name, (unit, _) in terms.protects.items()
    }
    return len(pairs) == len({unit for unit, _ in pairs})


def _table_of(account: str) -> str | None:
    kind, _, name = account.partition(":")
    return name if kind == "table" else None


def _describe_units(terms: Terms) -> str:
    units = (
        f"each {unit or 'row'} of {name} ({neighbors})"
        for name, (unit, neighbors) in terms.protects.items()
    )
    return ", ".join(units)


def _describe_budgets(terms: Terms) -> str:
    units = [
        f"epsilon {budget.epsilon}, delta {budget.delta}"
        f"{' and a schedule' if budget.schedule else ''}"
        for name, budget in terms.budgets.items()
        if name.startswith("unit:")
    ]
    separate = {name: unit for name, unit in terms.tables.items() if unit != ALL_UNITS}
    rest = f" (tables with their own account: {separate})" if separate else ""
    return f"{'; '.join(units)} with filters {'+'.join(terms.filters)}{rest}"


def _budget_to_json(budget: Budget) -> dict[str, Any]:
    json: dict[str, Any] = {"epsilon": str(budget.epsilon), "delta": str(budget.delta)}
    schedule = budget.schedule
    if schedule is not None:
        json["schedule"] = {
            "start": schedule.start.isoformat(),
            "every": schedule.every,
            "epsilon": str(schedule.epsilon),
            "delta": str(schedule.delta),
            "times": schedule.times,
        }
    return json


def _budget_from_json(read: Mapping[str, Any]) -> Budget:
    schedule = None
    if "schedule" in read:
        json = read["schedule"]
        schedule = Schedule(
            start=datetime.date.fromisoformat(json["start"]),
            every=json["every"],
            epsilon=fraction_from_json(json["epsilon"]),
            delta=fraction_from_json(json["delta"]),
            times=json["times"],
        )
    epsilon, delta = (fraction_from_json(read[name]) for name in ("epsilon", "delta"))
    return Budget(epsilon, delta, schedule=schedule)
