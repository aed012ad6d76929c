"""Limits on a unit's rows before a join of private tables.

Such a join has as many rows of a unit as the product of its rows in both tables. One unit with
very many rows could exhaust the engine's time or memory, and everybody would see that failure.
So each side keeps a limited number of rows of a unit, unless one of them has only one.

A keyed hash of the rows picks which ones. Rows with the same hash are ordered by their values,
and rows with the same values are equal. So the choice depends only on the unit's own rows, not
on their order, and no contribution bound changes.
"""

from collections.abc import Sequence
from fractions import Fraction

from sqlglot import exp

from deniable.query.relations.sql_nodes import (
    Sql,
    case,
    column,
    double_literal,
    keep_rows,
    keyed_hash,
    named,
    subquery,
)
from deniable.query.relations.views import RelationView, integer_column

# As many rows as a unit may count with, but at least the first number and at most the second:
# one unit then makes at most a hundred million joined rows.
_LEAST, _MOST = 1_000, 10_000
_ZERO = Fraction(0)


def most_joined(left: RelationView, right: RelationView) -> int | None:
    """How many rows of one unit each side keeps; None if one side has one row of each unit."""
    origins = left.scope.origin, right.scope.origin
    if any(origin.one_row_per_unit for origin in origins):
        return None
    counting = (
        origin.max_groups_per_unit * origin.max_rows_per_unit_per_group for origin in origins
    )
    return min(_MOST, max(_LEAST, *counting))


def limit_rows(view: RelationView, places: Sequence[int], most: int) -> exp.Select:
    """The columns of a view at some positions, with at most `most` rows of each unit."""
    outputs = [named(_unsigned_zero(view, place), f"d{place}") for place in places]
    rows = subquery(view.select(places), "side")
    rows = rows.select(*outputs, named(column("u"), "u"), copy=False)
    columns = [column(f"d{place}") for place in places]
    drawn = keyed_hash([column("u"), *(one.copy() for one in columns)])
    return keep_rows(rows, [drawn, *columns], most)


def _unsigned_zero(view: RelationView, place: int) -> Sql:
    """A column in which 0 and -0, which no order tells apart, are the same double."""
    expression, value = view.columns[place].expression, column(f"d{place}")
    if view.scope.value_range(expression).kind != "number":
        return value
    if integer_column(expression, view.scope) is not None:
        return value
    zero = double_literal(_ZERO)
    return case(exp.EQ(this=value, expression=zero), zero.copy(), value.copy())
