"""Row numbers, for tables in which each row is a privacy unit.

Before a join or UNION ALL each row gets a number. The number is the unit whose contribution is
bounded, because one row may become several: by a join with a public table that has a key twice,
or by UNION ALL of a table with itself. The numbers are made once in a statement, so a row has
the same number wherever it is read. The number of a row depends on the other rows, so it is
used only to tell rows apart, and never in a hash.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from deniable.policy import Table
from deniable.query.relations.sql_nodes import relation


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
