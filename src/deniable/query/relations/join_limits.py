"""Limits on a unit's rows before a join of private tables.

Such a join has as many rows of a unit as the product of its rows in both tables. One unit with
very many rows could exhaust the engine's time or memory, and everybody would see that failure.
So each side keeps a limited number of rows of a unit, unless one of them has only one.

A keyed hash of the rows picks which ones. Rows with the same hash are ordered by their values,
and rows with the same values are equal (except the signs of zero and NaN, which nothing in a
statement sees). So the choice depends only on the unit's own rows, not on their order, and no
contribution bound changes.
"""

from collections.abc import Sequence

from sqlglot import exp

from deniable.query.relations.sql_nodes import column, keep_rows, keyed_hash
from deniable.query.relations.views import RelationView

# As many rows as a unit may count with, but at least the first number and at most the second:
# one unit then makes at most a hundred million joined rows.
_LEAST, _MOST = 1_000, 10_000


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
    columns = [column(f"d{place}") for place in places]
    drawn = keyed_hash([column("u"), *(one.copy() for one in columns)])
    return keep_rows(view.select(places), [drawn, *columns], most)
