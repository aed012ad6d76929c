"""The whole policy: tables, and one budget for all questions about them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from deniable.errors import InvalidParameter, InvalidPolicy
from deniable.exact.rationals import Number, positive, rational
from deniable.policy.table import Table


@dataclass(frozen=True, slots=True, init=False)
class Policy:
    """Tables, and the whole budget for questions about them.

    >>> policy = Policy([Table("visits")], epsilon=3, delta=1e-6)
    >>> policy.delta, list(policy.tables)
    (Fraction(1, 1000000), ['visits'])
    """

    tables: Mapping[str, Table]
    epsilon: Fraction
    delta: Fraction

    def __init__(
        self,
        tables: Mapping[str, Table] | Sequence[Table],
        *,
        epsilon: Number,
        delta: Number = 0,
    ) -> None:
        listed = list(tables.values()) if isinstance(tables, Mapping) else list(tables)
        object.__setattr__(self, "tables", MappingProxyType(_distinct(listed)))
        object.__setattr__(self, "epsilon", _epsilon(epsilon))
        object.__setattr__(self, "delta", _delta(delta))

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
        return Policy(tables, epsilon=self.epsilon, delta=self.delta)


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


def _epsilon(epsilon: Number) -> Fraction:
    try:
        return positive(epsilon, "epsilon")
    except InvalidParameter as problem:
        raise InvalidPolicy(str(problem), where=("budget", "epsilon")) from None


def _delta(delta: Number) -> Fraction:
    try:
        exact = rational(delta, "delta")
    except InvalidParameter as problem:
        raise InvalidPolicy(str(problem), where=("budget", "delta")) from None
    if not 0 <= exact < 1:
        raise InvalidPolicy(
            f"`delta` is the chance that the guarantee fails: 0 or more, and well below 1, "
            f"such as 1e-6. Found {delta}.",
            where=("budget", "delta"),
        )
    return exact
