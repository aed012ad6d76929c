"""Whole numbers of one row: what a step of learning adds up.

Each is computed from the row's cells by sums, products, clips and lookups in constant lists, so
its range is known before a row is read. There is no division and no float: a row's number
depends on that row alone, and is the same on every engine.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import product
from operator import add
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from deniable.query.relations.sql_nodes import Sql, case, clip, number

Range: TypeAlias = tuple[int, int]
Ranges: TypeAlias = Mapping[str, Range]
Columns: TypeAlias = Mapping[str, NDArray[np.int64]]


class RowInteger(Protocol):
    """A whole number of one row."""

    def sql(self) -> Sql:
        """As an expression of the named numbers that it uses."""

    def range(self, names: Ranges) -> Range:
        """The least and the largest value that it can have."""

    def evaluate(self, rows: Columns) -> NDArray[np.int64]:
        """The same numbers in Python, for rows that are at hand: predictions and tests."""


@dataclass(frozen=True, slots=True)
class Ref:
    """A number that has a name: a cell of a column (c0, c1, ...), or one computed before."""

    name: str

    def sql(self) -> Sql:
        return exp.column(self.name)

    def range(self, names: Ranges) -> Range:
        return names[self.name]

    def evaluate(self, rows: Columns) -> NDArray[np.int64]:
        return rows[self.name]


@dataclass(frozen=True, slots=True)
class Whole:
    """A constant."""

    value: int

    def sql(self) -> Sql:
        return exp.cast(number(self.value), _type_of([self.value]), copy=False)

    def range(self, names: Ranges) -> Range:
        return self.value, self.value

    def evaluate(self, rows: Columns) -> NDArray[np.int64]:
        size = len(next(iter(rows.values()))) if rows else 1
        return np.full(size, self.value, np.int64)


@dataclass(frozen=True, slots=True)
class Plus:
    """The sum of some numbers.

    >>> Plus((Ref("c0"), Whole(-2))).range({"c0": (0, 5)})
    (-2, 3)
    """

    terms: tuple[RowInteger, ...]

    def sql(self) -> Sql:
        parts = [_operand(term) for term in self.terms]
        return reduce(lambda a, b: exp.Add(this=a, expression=b), parts)

    def range(self, names: Ranges) -> Range:
        ends = [term.range(names) for term in self.terms]
        return sum(low for low, _ in ends), sum(high for _, high in ends)

    def evaluate(self, rows: Columns) -> NDArray[np.int64]:
        return reduce(add, (term.evaluate(rows) for term in self.terms))


@dataclass(frozen=True, slots=True)
class Times:
    """The product of two numbers."""

    first: RowInteger
    second: RowInteger

    def sql(self) -> Sql:
        parts = (_operand(self.first), _operand(self.second))
        return exp.Mul(this=parts[0], expression=parts[1])

    def range(self, names: Ranges) -> Range:
        ends = product(self.first.range(names), self.second.range(names))
        corners = [a * b for a, b in ends]
        return min(corners), max(corners)

    def evaluate(self, rows: Columns) -> NDArray[np.int64]:
        return self.first.evaluate(rows) * self.second.evaluate(rows)


@dataclass(frozen=True, slots=True)
class Clip:
    """A number, clipped to two ends."""

    value: RowInteger
    low: int
    high: int

    def sql(self) -> Sql:
        return clip(self.value.sql(), number(self.low), number(self.high))

    def range(self, names: Ranges) -> Range:
        self.value.range(names)  # the names must be known
        return self.low, self.high

    def evaluate(self, rows: Columns) -> NDArray[np.int64]:
        return np.clip(self.value.evaluate(rows), self.low, self.high)


@dataclass(frozen=True, slots=True)
class Lookup:
    """The entry of a constant list at a place, counted from 0. The place must lie inside.

    >>> step = Lookup((5, -3, 2), Ref("c0"))
    >>> step.sql().sql("duckdb"), step.range({"c0": (0, 2)})
    ('LIST_EXTRACT([5, -3, 2], c0 + 1)', (-3, 5))
    """

    entries: tuple[int, ...]
    place: RowInteger

    def sql(self) -> Sql:
        entries = [exp.Literal.number(entry) for entry in self.entries]
        from_one = exp.Add(this=_enclosed(self.place.sql()), expression=number(1))
        listed = exp.Array(expressions=entries)
        return exp.Anonymous(this="LIST_EXTRACT", expressions=[listed, from_one])

    def range(self, names: Ranges) -> Range:
        low, high = self.place.range(names)
        if low < 0 or high >= len(self.entries):
            raise ValueError(f"A place in [{low}, {high}] of a list of {len(self.entries)}.")
        inside = self.entries[low : high + 1]
        return min(inside), max(inside)

    def evaluate(self, rows: Columns) -> NDArray[np.int64]:
        return np.array(self.entries, np.int64)[self.place.evaluate(rows)]


@dataclass(frozen=True, slots=True)
class Equals:
    """One number where another equals a constant, and a third one elsewhere."""

    tested: RowInteger
    value: int
    then: RowInteger
    otherwise: RowInteger

    def sql(self) -> Sql:
        test = exp.EQ(this=_enclosed(self.tested.sql()), expression=number(self.value))
        return case(test, self.then.sql(), self.otherwise.sql())

    def range(self, names: Ranges) -> Range:
        ends = [part.range(names) for part in (self.then, self.otherwise)]
        return min(low for low, _ in ends), max(high for _, high in ends)

    def evaluate(self, rows: Columns) -> NDArray[np.int64]:
        same = self.tested.evaluate(rows) == self.value
        return np.where(same, self.then.evaluate(rows), self.otherwise.evaluate(rows))


@dataclass(frozen=True, slots=True)
class LeastPlace:
    """The place of the least of some named numbers; of equal ones, the first."""

    names: tuple[str, ...]

    def sql(self) -> Sql:
        parts: list[Sql] = []
        for place, name in enumerate(self.names[:-1]):
            tests = [
                exp.LTE(this=exp.column(name), expression=exp.column(later))
                for later in self.names[place + 1 :]
            ]
            parts += [exp.and_(*tests, copy=False), Whole(place).sql()]
        return case(*parts, Whole(len(self.names) - 1).sql()) if parts else Whole(0).sql()

    def range(self, names: Ranges) -> Range:
        return 0, len(self.names) - 1

    def evaluate(self, rows: Columns) -> NDArray[np.int64]:
        least = np.argmin(np.stack([rows[name] for name in self.names]), axis=0)
        return np.asarray(least, np.int64)


def _enclosed(sql: Sql) -> Sql:
    return exp.paren(sql, copy=False) if isinstance(sql, exp.Binary | exp.Neg) else sql


def _operand(part: RowInteger) -> Sql:
    """A part of a sum or product: a constant takes the type of what stands beside it."""
    return number(part.value) if isinstance(part, Whole) else _enclosed(part.sql())


def _type_of(values: Iterable[int]) -> str:
    return "int" if all(abs(value) < 1 << 30 for value in values) else "bigint"


def evaluate(levels: Iterable[Mapping[str, RowInteger]], rows: Columns) -> dict[str, Any]:
    """All named numbers of some rows."""
    numbers: dict[str, Any] = dict(rows)
    for level in levels:
        numbers |= {name: value.evaluate(numbers) for name, value in level.items()}
    return numbers
