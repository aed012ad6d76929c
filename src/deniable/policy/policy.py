"""The whole policy: tables, and one budget for all questions about them."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType

from deniable.errors import InvalidPolicy
from deniable.exact.rationals import Number
from deniable.policy.budget import FILTER_NAMES, Budget, FilterName, Schedule
from deniable.policy.names import compared_name
from deniable.policy.table import Table
from deniable.policy.unit_paths import check_paths

_LEAST = 64 << 20  # bytes; an engine needs at least this much
_UNITS = {"kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12} | {
    "kib": 1 << 10,
    "mib": 1 << 20,
    "gib": 1 << 30,
    "tib": 1 << 40,
}


@dataclass(frozen=True, slots=True, init=False)
class Policy:
    """Tables, and the whole budget for questions about them.

    One budget holds for all tables together. A unit with a budget of its own in `units` (by
    the name of its column) is charged there instead. `analysts` also limits each analyst, and
    "*" those who are not named. `filters` are the ways in which losses are added up.
    `ledger` is where charges are recorded: the path of a file, or a PostgreSQL address.
    `ledger_key` is the file of the key that signs it, and `ledger_id` the id that a ledger gets
    when it begins: with it, no other ledger is used. `memory` is how much memory an engine
    in our own process may use ("4 GB"); the rest goes to private files.

    >>> policy = Policy([Table("visits")], epsilon=3, delta=1e-6)
    >>> policy.delta, list(policy.tables)
    (Fraction(1, 1000000), ['visits'])
    """

    tables: Mapping[str, Table]
    budget: Budget
    filters: tuple[FilterName, ...]
    units: Mapping[str, Budget]
    analysts: Mapping[str, Budget]
    ledger: str | None = field(repr=False)  # if it came from the environment, a secret is in it
    ledger_key: str | None
    ledger_id: str | None
    memory: int | None  # bytes; None: the engine decides

    def __init__(
        self,
        tables: Mapping[str, Table] | Sequence[Table],
        *,
        epsilon: Number,
        delta: Number = 0,
        schedule: Schedule | None = None,
        filters: Sequence[FilterName] = ("pure",),
        units: Mapping[str, Budget] | None = None,
        analysts: Mapping[str, Budget] | None = None,
        ledger: str | None = None,
        ledger_key: str | None = None,
        ledger_id: str | None = None,
        memory: int | str | None = None,
    ) -> None:
        listed = list(tables.values()) if isinstance(tables, Mapping) else list(tables)
        object.__setattr__(self, "tables", MappingProxyType(_check_names(listed)))
        check_paths(self.tables)
        object.__setattr__(self, "budget", _budget(epsilon, delta, schedule))
        own = {name.lower(): budget for name, budget in (units or {}).items()}
        if len(own) < len(units or {}):
            raise InvalidPolicy(
                "[units] has one unit twice, in upper and lower case: "
                f"{', '.join(units or {})}. Keep one of them.",
                where=("units",),
            )
        object.__setattr__(self, "units", MappingProxyType(own))
        object.__setattr__(self, "analysts", MappingProxyType(_analysts(analysts or {})))
        object.__setattr__(self, "filters", _filters(filters))
        object.__setattr__(self, "ledger", ledger)
        object.__setattr__(self, "ledger_key", ledger_key)
        object.__setattr__(self, "ledger_id", ledger_id)
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
        """The owner's version labels of these tables, as one text.

        >>> Policy([Table("visits", version="2026-03")], epsilon=1).version(["visits"])
        'visits=2026-03'
        """
        labels = ((name, self.tables[name].version) for name in sorted(set(tables)))
        return ";".join(f"{name}={label}" for name, label in labels)

    def data_name(self, tables: Sequence[str]) -> str:
        """A name of the data in these tables: their versions, and a hash of their addresses.

        Under this name a ledger finds an answer again. It follows from what the owner wrote,
        and from no row, size or time of the data.

        >>> old, new = (
        ...     Policy([Table("visits", source, version="1")], epsilon=1)
        ...     for source in ("/old.csv", "/new.csv")
        ... )
        >>> old.data_name(["visits"]) == new.data_name(["visits"])
        False
        >>> old.data_name(["visits"]).partition("#")[0]
        'visits=1'
        """
        named = [self.tables[name] for name in sorted(set(tables))]
        facts = json.dumps([[table.name, table.version, table.address] for table in named])
        return f"{self.version(tables)}#{hashlib.sha256(facts.encode()).hexdigest()}"

    def _check_budgets(self) -> None:
        """Every filter except "pure" needs a delta. Every unit belongs to some table."""
        units = {(table.unit or "").lower() for table in self.tables.values()}
        for name in self.units:
            if name not in units:
                raise InvalidPolicy(
                    f"No table has the unit {name!r}. Name the `unit` of a table, or remove "
                    "this budget.",
                    where=("units", name),
                )
        if self.filters == ("pure",):
            return
        named: list[tuple[tuple[str, ...], Budget]] = [(("budget",), self.budget)]
        named += [(("units", name), budget) for name, budget in self.units.items()]
        named += [(("analysts", name), budget) for name, budget in self.analysts.items()]
        named += [
            (("tables", table.name), table.budget)
            for table in self.tables.values()
            if table.budget
        ]
        for where, budget in named:
            if budget.delta == 0:
                raise InvalidPolicy(
                    "The filters zcdp and gdp need a `delta` above 0, but "
                    f"it is 0 in [{'.'.join(where)}]. Set one, for example   delta = 1e-6   "
                    'or use   filters = ["pure"]',
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
            _complete(table, schemas[name]) if name in schemas else table
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
            ledger_id=self.ledger_id,
            memory=self.memory,
        )


def _complete(table: Table, schema: Mapping[str, str]) -> Table:
    try:
        return table.with_schema(schema)
    except InvalidPolicy as problem:
        path = ("tables", table.name, *problem.where)
        raise InvalidPolicy(str(problem), where=path) from None


def _check_names(tables: list[Table]) -> dict[str, Table]:
    if not tables:
        raise InvalidPolicy(
            "A policy needs at least one table. Add one, for example   [tables.visits]",
            where=("tables",),
        )
    seen: dict[str, str] = {}
    for table in tables:
        compared = compared_name(table.name)
        if compared in seen:
            raise InvalidPolicy(
                f"The table names {seen[compared]!r} and {table.name!r} are the same: upper "
                "and lower case, blanks and the width of letters do not count. Rename one of "
                "them.",
                where=("tables", table.name),
            )
        seen[compared] = table.name
    return {table.name: table for table in tables}


def _analysts(budgets: Mapping[str, Budget]) -> dict[str, Budget]:
    """The budgets by the analysts' compared names."""
    spelt: dict[str, str] = {}
    for name in budgets:
        try:
            compared = compared_name(name)
        except ValueError as problem:
            raise InvalidPolicy(
                f"The name of an analyst {problem}.", where=("analysts", str(name))
            ) from None
        if compared in spelt:
            raise InvalidPolicy(
                f"The analysts {spelt[compared]!r} and {name!r} are the same: upper and lower "
                "case, blanks and the width of letters do not count. Keep one of them.",
                where=("analysts", name),
            )
        spelt[compared] = name
    return {compared: budgets[name] for compared, name in spelt.items()}


def _budget(epsilon: Number, delta: Number, schedule: Schedule | None) -> Budget:
    try:
        return Budget(epsilon, delta, schedule=schedule)
    except InvalidPolicy as problem:
        raise InvalidPolicy(str(problem), where=("budget", *problem.where)) from None


def _filters(filters: Sequence[FilterName]) -> tuple[FilterName, ...]:
    """The filters in a fixed order."""
    named = set(filters)
    if not named <= set(FILTER_NAMES) or len(named) != len(filters) or "pure" not in named:
        raise InvalidPolicy(
            '`filters` must be a list of "pure" and, if you like, "zcdp" and "gdp", each once. '
            f"Found {list(filters)}.",
            where=("budget", "filters"),
        )
    return tuple(name for name in FILTER_NAMES if name in named)


def in_bytes(amount: int | str) -> int:
    """An amount such as "4 GB" or "512 MiB", or a number of bytes.

    >>> in_bytes("4 GB"), in_bytes("512MiB"), in_bytes(10**9)
    (4000000000, 536870912, 1000000000)
    """
    size = amount if isinstance(amount, int) and not isinstance(amount, bool) else None
    if isinstance(amount, str):
        match = re.fullmatch(r"\s*([0-9]{1,9}(?:\.[0-9]{1,3})?)\s*([KMGT]i?B)\s*", amount, re.I)
        if match:
            thousandths = round(float(match[1]) * 1000)
            size = thousandths * _UNITS[match[2].lower()] // 1000
    if size is None or size < _LEAST:
        raise InvalidPolicy(
            '`memory` must be an amount of at least 64 MiB, such as "4 GB" or "512 MiB". '
            f"Found {amount!r}.",
            where=("engine", "memory"),
        )
    return size
