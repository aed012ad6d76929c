"""Rows told apart by a number, where a table protects each row on its own.

Before a join or UNION ALL each row gets a number, and that number is the unit whose
contribution is bounded: a public table with a key twice makes two rows of one, and a table put
below itself likewise. The numbers are made once in a statement, so a row has the same one
wherever it is read. Which number a row has hangs on the other rows, so nothing but telling
rows apart may use it: it enters no hash.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from deniable.policy import Table


@dataclass(frozen=True, slots=True)
class NumberedRows:
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

    def define_in(self, statement: exp.Select, place: int, of: int) -> exp.Select:
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
        taken, name = {column.lower() for column in self.table.columns}, "u"
        while name in taken:
            name += "_"
        return name
