"""UNNEST: a row for each element of a list, up to the length that the policy declares.

The places 1, 2, ... of a list are constants of the statement, so a row becomes as many rows as
there are places, and those behind the end of its own list are dropped. Of a longer list the
first elements count: which ones depends on that row alone. So one row becomes at most
`length` rows of the same unit, and no list can make an engine fail. Several lists of one row
multiply, and so does a join before them, so their product has a limit: otherwise the long lists
of one row could exhaust the engine's time or memory, and everybody would see that failure.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from deniable.errors import InvalidQuery
from deniable.policy import Column, Table
from deniable.query.language.expressions import walk
from deniable.query.language.spellings.written_lists import IN_SELECT
from deniable.query.language.syntax_tree import ColumnRef, Expression, Unnested
from deniable.query.relations.joins import MOST_ROWS, side_by_side
from deniable.query.relations.row_origin import RowOrigin, hidden_name
from deniable.query.relations.scope import Scope
from deniable.query.relations.sql_nodes import column, named, number, subquery
from deniable.query.relations.views import RelationView, ViewColumn

_PLACE = "place"  # in a list
_MOST_TIMES = 10_000  # rows that lists make of one row
_MOST_MADE = 10**8  # rows that lists make of one unit's rows behind a join, as a join may


@dataclass(frozen=True, slots=True)
class UnnestedRows:
    """The rows of a view, each as often as one of its lists has elements."""

    view: RelationView
    at: int  # the position of the list
    length: int
    outer: bool  # whether rows without elements stay
    table: Table  # has the columns of the view, then the elements

    def select(self, names: Sequence[str]) -> exp.Select:
        """These columns, the elements among them, and the unit."""
        columns = list(self.table.columns)
        places = [columns.index(name) for name in names]
        last, listed = len(columns) - 1, column(f"d{self.at}")
        constants = exp.Array(expressions=[number(i + 1) for i in range(self.length)])
        rows = self.view.select(
            sorted({self.at, *places} - {last}), [(exp.Explode(this=constants), _PLACE)]
        )
        element = exp.Anonymous(this="LIST_EXTRACT", expressions=[listed, column(_PLACE)])
        outputs = [
            named(element, f"d{last}") if place == last else column(f"d{place}")
            for place in places
        ]
        outputs += [] if self.table.unit is None else [column("u")]
        size = exp.ArraySize(this=listed.copy())
        inside: exp.Expr = exp.LTE(this=column(_PLACE), expression=size)
        if self.outer:
            inside = exp.or_(inside, exp.EQ(this=column(_PLACE), expression=number(1)))
        elements = subquery(rows, "spread").select(*(outputs or [number(1)]), copy=False)
        return elements.where(inside, copy=False)


def unnest_view(view: RelationView, relation: Unnested) -> RelationView:
    """The view of the rows with the elements of one of their lists."""
    listed = _find_list(view, relation.column)
    declared = (
        view.scope.column(listed.expression.name)
        if isinstance(listed.expression, ColumnRef)
        else None
    )
    if declared is None or declared.elements is None or declared.length is None:
        example = f'{relation.column.name} = {{ length = 5, kind = "text" }}'
        raise InvalidQuery(
            f"UNNEST({relation.column}): the policy declares no `length` of lists in "
            f"{relation.column}. If the column holds lists, declare how many elements of each "
            f"count, and what they are, for example   {example}"
        )
    name = relation.name or relation.alias or "unnest"
    element = replace(declared.elements, name=name, spread=True, of_list=declared.name)
    shown = ViewColumn(relation.alias, name, ColumnRef(name), relation.alias == IN_SELECT)
    elements = Scope(Table("unnest", public=True, columns={name: element}))
    columns, outputs = side_by_side(view, RelationView(elements, (shown,)))
    names = list(columns)
    if relation.alias is not None and relation.name is None:  # DuckDB's own name, u.unnest
        outputs = (*outputs, replace(outputs[-1], name="unnest", hidden=True))
    units = [
        own
        for own, outer in zip(names, view.columns, strict=False)
        if outer.expression == view.unit
    ]
    length, origin = declared.length, _spread(view.scope.origin, declared.length)
    _check_times(relation, origin)
    table = _unnested_table(view, origin, columns, units, length)
    at = view.columns.index(listed)
    source = UnnestedRows(view, at, length, relation.outer, table)
    outputs = tuple(
        replace(output, expression=ColumnRef(units[0]))
        if isinstance(output.expression, ColumnRef) and output.expression.name in units
        else output
        for output in outputs
    )
    return RelationView(Scope(table, source, origin), outputs)


def _find_list(view: RelationView, ref: ColumnRef) -> ViewColumn:
    try:
        return view.column(ref)
    except InvalidQuery as problem:
        raise InvalidQuery(
            f"{problem} Lists of a frame are read if the policy declares their `length`, for "
            f'example   {ref.name} = {{ length = 5, kind = "text" }}'
        ) from None


def _check_times(relation: Unnested, origin: RowOrigin) -> None:
    """Refuses lists that could make very many rows of one."""
    if origin.times > _MOST_TIMES:
        raise InvalidQuery(
            f"UNNEST({relation.column}): the lists of one row could make {origin.times:,} "
            f"rows, and at most {_MOST_TIMES:,} are allowed: otherwise one row with long lists "
            "could exhaust the engine. Ask about one list at a time, or declare a shorter "
            "`length`."
        )
    if (origin.most_joined or 0) ** 2 * origin.times > _MOST_MADE:
        raise InvalidQuery(
            f"UNNEST({relation.column}) behind a join of private tables could make too many "
            "rows of one person. Write it into a sub-query before the join: FROM (SELECT "
            f"*, UNNEST({relation.column.name}) AS element FROM ...) AS a JOIN ... ."
        )


def _spread(origin: RowOrigin, length: int) -> RowOrigin:
    """The origin of the rows: a unit may have `length` times as many of them in a group."""
    groups, rows = origin.max_groups_per_unit, origin.max_rows_per_unit_per_group
    if origin.one_row_per_unit:
        groups = rows = 1
    return replace(
        origin,
        one_row_per_unit=False,
        max_groups_per_unit=groups,
        max_rows_per_unit_per_group=rows * length,
        times=origin.times * length,
    )


def _unnested_table(
    view: RelationView,
    origin: RowOrigin,
    columns: dict[str, Column],
    units: list[str],
    length: int,
) -> Table:
    """What is known about the rows with their elements."""
    rows = view.scope.table
    ceiling = min(MOST_ROWS, rows.row_ceiling * length)
    if not view.private:
        return Table(rows.name, public=True, row_ceiling=ceiling, columns=columns)
    return Table(
        rows.name,
        unit=units[0] if units else hidden_name(rows.unit or "row", columns),
        neighbors=rows.neighbors,
        max_groups_per_unit=origin.max_groups_per_unit,
        max_rows_per_unit_per_group=origin.max_rows_per_unit_per_group,
        row_ceiling=ceiling,
        expected_rows=rows.expected_rows,
        columns=columns,
    )


def spread_over_groups(scope: Scope, keys: Iterable[Expression]) -> Scope:
    """The scope for a question with these keys. Where the elements of a list tell the groups, a
    row counts in one group for each of them, and in each of these groups once."""
    leaves = [leaf for key in keys for leaf in walk(key) if isinstance(leaf, ColumnRef)]
    table, times = scope.table, scope.origin.times
    if times == 1 or not any(scope.column(leaf.name).spread for leaf in leaves):
        return scope
    groups = table.max_groups_per_unit * times
    rows = max(1, table.max_rows_per_unit_per_group // times)
    limited = replace(table, max_groups_per_unit=groups, max_rows_per_unit_per_group=rows)
    return replace(scope, table=limited)
