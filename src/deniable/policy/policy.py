"""The whole policy: tables, and one budget for all questions about them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from deniable.errors import InvalidPolicy
from deniable.exact.rationals import Number
from deniable.policy.budget import SUMS, Budget, Schedule, Sums
from deniable.policy.memory_sizes import in_bytes
from deniable.policy.table import Table


@dataclass(frozen=True, slots=True, init=False)
class Policy:
    """Tables, and the whole budget for questions about them.

    One budget holds for all tables together. A unit that has a budget of its own in `units`
    (by the name of its column) is charged there instead. `analysts` bounds each analyst in
    addition, "*" those who are not named; `filters` are the sums that keep each budget.
    `ledger` is where what was spent is kept: a file's path, or a PostgreSQL address;
    `ledger_key` is the file of the key that signs it. `memory` is how much an engine in our
    own process may use ("4 GB"); what does not fit goes to private files.

    >>> policy = Policy([Table("visits")], epsilon=3, delta=1e-6)
    >>> policy.delta, list(policy.tables)
    (Fraction(1, 1000000), ['visits'])
    """

    tables: Mapping[str, Table]
    budget: Budget
    filters: tuple[Sums, ...]
    units: Mapping[str, Budget]
    analysts: Mapping[str, Budget]
    ledger: str | None
    ledger_key: str | None
    memory: int | None  # bytes; None: as the engine decides

    def __init__(
        self,
        tables: Mapping[str, Table] | Sequence[Table],
        *,
        epsilon: Number,
        delta: Number = 0,
        schedule: Schedule | None = None,
        filters: Sequence[Sums] = ("pure",),
        units: Mapping[str, Budget] | None = None,
        analysts: Mapping[str, Budget] | None = None,
        ledger: str | None = None,
        ledger_key: str | None = None,
        memory: int | str | None = None,
    ) -> None:
        listed = list(tables.values()) if isinstance(tables, Mapping) else list(tables)
        object.__setattr__(self, "tables", MappingProxyType(_distinct(listed)))
        object.__setattr__(self, "budget", _budget(epsilon, delta, schedule))
        own = {name.lower(): budget for name, budget in (units or {}).items()}
        if len(own) < len(units or {}):
            raise InvalidPolicy(
                f"A unit has two budgets, in two spellings: {', '.join(units or {})}.",
                where=("units",),
            )
        object.__setattr__(self, "units", MappingProxyType(own))
        object.__setattr__(self, "analysts", MappingProxyType(dict(analysts or {})))
        object.__setattr__(self, "filters", _filters(filters))
        object.__setattr__(self, "ledger", ledger)
        object.__setattr__(self, "ledger_key", ledger_key)
        object.__setattr__(self, "memory", None if memory is None else in_bytes(memory))
        self._check_budgets()

    @property
    def epsilon(self) -> Fraction:
        """The budget's epsilon, before any schedule."""
        return self.budget.epsilon

    @property
    def delta(self) -> Fraction:
        """The budget's delta, before any schedule."""
        return self.budget.delta

    def version(self, tables: Sequence[str]) -> str:
        """The labels of the data in these tables, as the owner set them.

        >>> Policy([Table("visits", version="2026-03")], epsilon=1).version(["visits"])
        'visits=2026-03'
        """
        found = ((name, self.tables[name].version) for name in sorted(set(tables)))
        return ";".join(f"{name}={label}" for name, label in found)

    def _check_budgets(self) -> None:
        """Every filter but the pure one is paid for with delta; every unit is some table's."""
        units = {(table.unit or "").lower() for table in self.tables.values()}
        for name in self.units:
            if name not in units:
                raise InvalidPolicy(
                    f"No table has the unit {name!r}, so it needs no budget of its own.",
                    where=("units", name),
                )
        if self.filters == ("pure",):
            return
        named: list[tuple[tuple[str, ...], Budget]] = [(("budget",), self.budget)]
        named += [(("units", name), one) for name, one in self.units.items()]
        named += [(("analysts", name), one) for name, one in self.analysts.items()]
        named += [
            (("tables", one.name), one.budget) for one in self.tables.values() if one.budget
        ]
        for where, budget in named:
            if budget.delta == 0:
                raise InvalidPolicy(
                    "The filters zcdp and gdp turn into an epsilon only with a `delta` above "
                    f"0, and {' '.join(where)} has none. Give it one, such as 1e-6, or use   "
                    'filters = ["pure"]',
                    where=(*where, "delta"),
                )

    def with_schemas(self, schemas: Mapping[str, Mapping[str, str]]) -> "Policy":
        """This policy with its tables completed from their sources' schemas.

        >>> policy = Policy([Table("visits")], epsilon=3)
        >>> completed = policy.with_schemas({"visits": {"age": "INTEGER"}})
        >>> completed.tables["visits"].columns["age"].integer
        True
        """
        tables = [
            _completed(table, schemas[name]) if name in schemas else table
            for name, table in self.tables.items()
        ]
        return Policy(
            tables,
            epsilon=self.epsilon,
            delta=self.delta,
            schedule=self.budget.schedule,
            filters=self.filters,
            units=self.units,
            analysts=self.analysts,
            ledger=self.ledger,
            ledger_key=self.ledger_key,
            memory=self.memory,
        )


def _completed(table: Table, schema: Mapping[str, str]) -> Table:
    try:
        return table.with_schema(schema)
    except InvalidPolicy as problem:
        path = ("tables", table.name, *problem.where)
        raise InvalidPolicy(str(problem), where=path) from None


def _distinct(tables: list[Table]) -> dict[str, Table]:
    if not tables:
        raise InvalidPolicy("A policy needs at least one table.", where=("tables",))
    seen: dict[str, str] = {}
    for table in tables:
        if table.name.lower() in seen:
            raise InvalidPolicy(
                f"Tables {seen[table.name.lower()]!r} and {table.name!r} cannot be told apart "
                "in SQL. Give one of them another name.",
                where=("tables", table.name),
            )
        seen[table.name.lower()] = table.name
    return {table.name: table for table in tables}


def _budget(epsilon: Number, delta: Number, schedule: Schedule | None) -> Budget:
    try:
        return Budget(epsilon, delta, schedule=schedule)
    except InvalidPolicy as problem:
        raise InvalidPolicy(str(problem), where=("budget", *problem.where)) from None


def _filters(filters: Sequence[Sums]) -> tuple[Sums, ...]:
    """The filters in their own order, whatever order they were named in."""
    named = set(filters)
    if not named <= set(SUMS) or len(named) != len(filters) or "pure" not in named:
        raise InvalidPolicy(
            '`filters` must be "pure" and any of "zcdp" and "gdp", each once. '
            f"Found {list(filters)}.",
            where=("budget", "filters"),
        )
    return tuple(one for one in SUMS if one in named)
