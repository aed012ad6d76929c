"""Rows told apart by a number, where a table protects each row on its own.

Before a join or UNION ALL each row gets a number, and that number is the unit whose
contribution is bounded: a public table with a key twice makes two rows of one, and a table put
below itself likewise. The numbers are made once in a statement, so a row has the same one
wherever it is read. Which number a row has hangs on the other rows, so nothing but telling
rows apart may use it: it enters no hash.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sqlglot import exp

from deniable.policy import Table


class RowSource(Protocol):
    """What rows are made of, where they are not simply those of a table."""

    def select(self, names: Sequence[str]) -> exp.Select:
        """Those columns, each as d and its place among the scope's, and the unit as u."""


@dataclass(frozen=True, slots=True)
class Numbered:
    """The rows of a table with their numbers, kept under a name beside the statement."""

    table: Table = field(compare=False)  # which the name stands for
    name: str

    def select(self, names: Sequence[str]) -> exp.Select:
        """The columns d0, d1, ... as the table has them, and the number u."""
        places = list(self.table.columns)
        columns = [
            exp.alias_(exp.column(name, quoted=True), f"d{places.index(name)}")
            for name in names
        ]
        number = exp.alias_(exp.column(self._number(), quoted=True), "u")
        return exp.select(*columns, number).from_(exp.to_identifier(self.name, quoted=True))

    def beside(self, statement: exp.Select, place: int, of: int) -> exp.Select:
        """The statement with these rows defined beside it; numbers of several tables differ."""
        count: exp.Expr = exp.Window(this=exp.RowNumber(), over="OVER")
        if of > 1:
            count = exp.Mul(this=count, expression=exp.Literal.number(of))
            count = exp.Add(this=count, expression=exp.Literal.number(place))
        number = exp.alias_(count, self._number(), quoted=True)
        source = exp.to_identifier(self.table.name, quoted=True)
        rows = exp.select(number, exp.Star()).from_(source)
        name = exp.to_identifier(self.name, quoted=True)
        return statement.with_(name, as_=rows, materialized=True)

    def _number(self) -> str:
        """A name for the number that no column has."""
        taken, name = {one.lower() for one in self.table.columns}, "u"
        while name in taken:
            name += "_"
        return name


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose rows something is made of, and what one unit may contribute to an answer.

    `single` says that a unit has one row at most. It only sets how much noise there is: the
    limit holds in the engine whatever the rows are.
    """

    tables: tuple[str, ...] = ()  # the private ones, each once
    public: tuple[str, ...] = ()
    counted: tuple[Numbered, ...] = ()
    unit: str | None = None  # the column that tells units apart; None: rows are units
    unit_type: str | None = None  # the type in which units of several tables are compared
    single: bool = False
    max_groups_per_unit: int = 1
    max_rows_per_unit_per_group: int = 1

    @classmethod
    def of(cls, parts: "Sequence[Origin]", *, single: bool) -> "Origin":
        """Of what is made of several: all their tables, and the wider limits."""
        public = tuple(dict.fromkeys(name for one in parts for name in one.public))
        private = [one for one in parts if one.tables]
        if not private:
            return cls(public=public)
        return cls(
            tuple(dict.fromkeys(name for one in private for name in one.tables)),
            public,
            tuple(dict.fromkeys(rows for one in private for rows in one.counted)),
            private[0].unit,
            private[0].unit_type,
            single,
            max(one.max_groups_per_unit for one in private),
            max(one.max_rows_per_unit_per_group for one in private),
        )


NOBODY = Origin()


def hidden(name: str, columns: Iterable[str]) -> str:
    """What a unit is called that no column shows, so that no column is taken for it.

    >>> hidden("row", ["age", "(row)"])
    '((row))'
    """
    taken, made = {one.lower() for one in columns}, f"({name.strip('()')})"
    while made.lower() in taken:
        made = f"({made})"
    return made
