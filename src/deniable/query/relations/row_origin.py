"""Where rows come from: the tables, the unit, and what one unit may contribute.

Row numbers are for tables in which each row is a privacy unit. Before a join or UNION ALL each
row gets a number. The number is the unit whose contribution is bounded, because one row may
become several: by a join with a public table that has a key twice, or by UNION ALL of a table
with itself. The numbers are made once in a statement, so a row has the same number wherever it
is read. The number of a row depends on the other rows, so it is used only to tell rows apart,
and never in a hash.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from sqlglot import exp

from deniable.policy import Table
from deniable.query.relations.sql_nodes import relation


class RowSource(Protocol):
    """Makes the rows of a relation that is not simply a table."""

    def select(self, names: Sequence[str]) -> exp.Select:
        """These columns, each as d and its position in the scope, and the unit as u."""


@dataclass(frozen=True, slots=True)
class NumberedRows:
    """The rows of a table with their numbers, defined under a name in the statement's WITH."""

    table: Table = field(compare=False)  # implied by the name
    name: str

    def select(self, names: Sequence[str]) -> exp.Select:
        """The columns of the table as d0, d1, ... and the number as u."""
        places = list(self.table.columns)
        columns = [
            exp.alias_(exp.column(name, quoted=True), f"d{places.index(name)}")
            for name in names
        ]
        number = exp.alias_(exp.column(self._number(), quoted=True), "u")
        return exp.select(*columns, number).from_(relation(self.name))

    def define_in(self, statement: exp.Select, place: int, of: int) -> exp.Select:
        """The statement with these rows in its WITH. They are number `place` of `of` tables,
        and numbers of different tables differ."""
        count: exp.Expr = exp.Window(this=exp.RowNumber(), over="OVER")
        if of > 1:
            count = exp.Mul(this=count, expression=exp.Literal.number(of))
            count = exp.Add(this=count, expression=exp.Literal.number(place))
        number = exp.alias_(count, self._number(), quoted=True)
        rows = exp.select(number, exp.Star()).from_(relation(self.table.name))
        name = exp.to_identifier(self.name, quoted=True)
        return statement.with_(name, as_=rows, materialized=True)

    def _number(self) -> str:
        """A name for the number that is not the name of a column."""
        taken, name = {column.lower() for column in self.table.columns}, "u"
        while name in taken:
            name += "_"
        return name


@dataclass(frozen=True, slots=True)
class RowOrigin:
    """The tables that rows come from, and what one unit may contribute to an answer.

    `one_row_per_unit` says that a unit has at most one row. It only sets the amount of noise:
    the engine enforces the limit whatever the rows are.
    """

    tables: tuple[str, ...] = ()  # the private ones, each once
    public: tuple[str, ...] = ()
    numbered: tuple[NumberedRows, ...] = ()
    unit: str | None = None  # the column that identifies the unit; None: each row is a unit
    unit_type: str | None = None  # the type in which units of several tables are compared
    one_row_per_unit: bool = False
    max_groups_per_unit: int = 1
    max_rows_per_unit_per_group: int = 1
    most_joined: int | None = None  # rows of one unit that each side of a join keeps
    times: int = 1  # how many rows UNNEST made of one, at most
    # Columns that hold a key of a path to the unit, and which: rows with the same value of the
    # same key belong to the same unit.
    keys: tuple[tuple[str, str], ...] = ()

    @property
    def without_elements(self) -> "RowOrigin":
        """The origin of rows that UNNEST made, put together again."""
        rows = max(1, self.max_rows_per_unit_per_group // self.times)
        return replace(self, max_rows_per_unit_per_group=rows, times=1)

    @classmethod
    def combine(cls, parts: "Sequence[RowOrigin]", *, one_row_per_unit: bool) -> "RowOrigin":
        """The origin of rows made of several parts: all their tables, and the wider limits."""
        public = tuple(dict.fromkeys(name for part in parts for name in part.public))
        private = [part for part in parts if part.tables]
        if not private:
            return cls(public=public)
        return cls(
            tuple(dict.fromkeys(name for part in private for name in part.tables)),
            public,
            tuple(dict.fromkeys(rows for part in private for rows in part.numbered)),
            private[0].unit,
            private[0].unit_type,
            one_row_per_unit,
            max(part.max_groups_per_unit for part in private),
            max(part.max_rows_per_unit_per_group for part in private),
            max(part.most_joined or 0 for part in private) or None,
            max(part.times for part in private),
        )


NO_ORIGIN = RowOrigin()


def hidden_name(name: str, columns: Iterable[str]) -> str:
    """A name for a unit that no column holds. It differs from the names of all columns.

    >>> hidden_name("row", ["age", "(row)"])
    '((row))'
    """
    taken, hidden = {column.lower() for column in columns}, f"({name.strip('()')})"
    while hidden.lower() in taken:
        hidden = f"({hidden})"
    return hidden
