"""UNION ALL: the rows of several views one after the other, each with its unit.

All rows of a unit, in whichever part, are that unit's, and its limits hold for all of them
together.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from deniable.errors import InvalidQuery
from deniable.policy import Column as Declared
from deniable.policy import Table
from deniable.policy.column import Keys, KeyValue
from deniable.query.language.syntax_tree import ColumnRef, Expression
from deniable.query.relations import value_ranges
from deniable.query.relations.joins import MOST_ROWS, cast_unit, check_same_unit
from deniable.query.relations.row_origin import RowOrigin, hidden_name
from deniable.query.relations.scope import Scope
from deniable.query.relations.sql_nodes import (
    column,
    named,
    subquery,
    try_cast,
)
from deniable.query.relations.views import (
    RelationView,
    ViewColumn,
    column_from_range,
    integer_column,
)


@dataclass(frozen=True, slots=True)
class UnitedRows:
    """The rows of several views with the same columns."""

    parts: tuple[RelationView, ...]
    table: Table

    def select(self, names: Sequence[str]) -> exp.Select:
        """Those columns and the unit, of all parts."""
        places = [list(self.table.columns).index(name) for name in names]
        selects = [self._part(part, places) for part in self.parts]
        whole = exp.union(*selects, distinct=False, copy=False)
        alias = exp.TableAlias(this=exp.to_identifier("parts"))
        made = exp.Select(expressions=[exp.Star()])
        return made.from_(exp.Subquery(this=whole, alias=alias), copy=False)

    def _part(self, view: RelationView, places: list[int]) -> exp.Select:
        """Numbers are doubles, unless the column holds integers in every part."""
        chosen = []
        for place in places:
            declared = list(self.table.columns.values())[place]
            value = column(f"d{place}")
            if declared.kind == "number" and not declared.integer:
                value = try_cast(value, "double")
            chosen.append(named(value, f"d{place}"))
        if view.private:
            chosen.append(named(cast_unit(column("u"), view.scope.origin.unit_type), "u"))
        made = subquery(view.select(places), "part")
        return made.select(*(chosen or [named(exp.Literal.number(1), "one")]), copy=False)


def unite_views(parts: tuple[RelationView, ...]) -> RelationView:
    """The view of all parts; columns go by their place and take the names of the first."""
    first = parts[0]
    for other in parts[1:]:
        _check(first, other)
    columns = {
        item.name: _column(item.name, parts, place) for place, item in enumerate(first.columns)
    }
    unit = next(
        (
            item.name
            for place, item in enumerate(first.columns)
            if first.unit is not None
            and all(part.columns[place].expression == part.unit for part in parts)
        ),
        None,
    )
    tables = [part.scope.table for part in parts]
    name = " and ".join(dict.fromkeys(one.name for one in tables))
    origin = RowOrigin.combine([part.scope.origin for part in parts], one_row_per_unit=False)
    expected = [one.expected_rows for one in tables]
    private = first.private
    table = Table(
        name,
        public=not private,
        unit=(unit or hidden_name(origin.unit or "row", columns)) if private else None,
        neighbors=tables[0].neighbors,
        max_groups_per_unit=origin.max_groups_per_unit if private else None,
        max_rows_per_unit_per_group=origin.max_rows_per_unit_per_group if private else None,
        row_ceiling=min(MOST_ROWS, sum(one.row_ceiling for one in tables)),
        expected_rows=None if None in expected else sum(filter(None, expected)),
        columns=columns,
    )
    items = tuple(ViewColumn(None, name, ColumnRef(name)) for name in columns)
    return RelationView(Scope(table, UnitedRows(parts, table), origin), items)


def _check(first: RelationView, other: RelationView) -> None:
    if len(first.columns) != len(other.columns):
        raise InvalidQuery(
            f"UNION ALL needs as many columns in each part. Found {len(first.columns)} and "
            f"{len(other.columns)}."
        )
    if first.private != other.private:
        raise InvalidQuery(
            "UNION ALL of private and public rows: the public ones belong to nobody. Ask about "
            "the private ones, and add what is public to the answer."
        )
    if first.private:
        check_same_unit(first.scope, other.scope, "put below one another")


def _column(name: str, parts: tuple[RelationView, ...], place: int) -> Declared:
    expressions = [(part.columns[place].expression, part.scope) for part in parts]
    known = [scope.value_range(expression) for expression, scope in expressions]
    kinds = {one.kind for one in known} - {None}
    if len(kinds) > 1:
        raise InvalidQuery(
            f"UNION ALL: column {place + 1} ({name}) is of different kinds, "
            f"{' and '.join(sorted(map(str, kinds)))}. CAST one of them."
        )
    hull = value_ranges.hull(known)
    made = column_from_range(name, hull)
    whole = all(integer_column(expression, scope) for expression, scope in expressions)
    return Declared(
        name,
        kind=made.kind,
        bounds=made.bounds,
        step=made.step,
        keys=_keys(expressions),
        integer=whole,
        narrow=whole,
    )


def _keys(expressions: Sequence[tuple[Expression, Scope]]) -> Keys:
    """All declared keys, where every part declares some."""
    found: dict[KeyValue, None] = {}
    private = False
    for expression, scope in expressions:
        keys = scope.column(expression.name).keys if isinstance(expression, ColumnRef) else None
        if keys is None:
            return None
        private = private or isinstance(keys, str)
        found.update(dict.fromkeys(keys if isinstance(keys, tuple) else ()))
    return "private" if private else tuple(found)
