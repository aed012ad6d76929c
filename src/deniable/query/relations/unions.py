"""UNION ALL: the rows of several views together, each with its unit.

The contribution of a unit is bounded for its rows in all parts together.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
    list_column,
)


@dataclass(frozen=True, slots=True)
class UnitedRows:
    """The rows of several views with the same columns."""

    parts: tuple[RelationView, ...]
    table: Table

    def select(self, names: Sequence[str]) -> exp.Select:
        """These columns and the unit, of all parts."""
        places = [list(self.table.columns).index(name) for name in names]
        selects = [self._select_part(part, places) for part in self.parts]
        union = exp.union(*selects, distinct=False, copy=False)
        alias = exp.TableAlias(this=exp.to_identifier("parts"))
        select = exp.Select(expressions=[exp.Star()])
        return select.from_(exp.Subquery(this=union, alias=alias), copy=False)

    def _select_part(self, view: RelationView, places: list[int]) -> exp.Select:
        """One part. Numbers are doubles, unless the column holds integers in every part."""
        outputs = []
        for place in places:
            declared = list(self.table.columns.values())[place]
            value = column(f"d{place}")
            if declared.elements is None and declared.kind == "number" and not declared.integer:
                value = try_cast(value, "double")
            outputs.append(named(value, f"d{place}"))
        if view.private:
            outputs.append(named(cast_unit(column("u"), view.scope.origin.unit_type), "u"))
        part = subquery(view.select(places), "part")
        return part.select(*(outputs or [named(exp.Literal.number(1), "one")]), copy=False)


def unite_views(parts: tuple[RelationView, ...]) -> RelationView:
    """The view of all parts. Columns match by position and take the names of the first part."""
    first = parts[0]
    for other in parts[1:]:
        _check_parts(first, other)
    columns = {
        output.name: _column(output.name, parts, place)
        for place, output in enumerate(first.columns)
    }
    unit = next(
        (
            output.name
            for place, output in enumerate(first.columns)
            if first.unit is not None
            and all(part.columns[place].expression == part.unit for part in parts)
        ),
        None,
    )
    tables = [part.scope.table for part in parts]
    name = " and ".join(dict.fromkeys(part.scope.table.name for part in parts))
    origin = RowOrigin.combine([part.scope.origin for part in parts], one_row_per_unit=False)
    expected = [part.scope.table.expected_rows for part in parts]
    private = first.private
    table = Table(
        name,
        public=not private,
        unit=(unit or hidden_name(origin.unit or "row", columns)) if private else None,
        neighbors=tables[0].neighbors,
        max_groups_per_unit=origin.max_groups_per_unit if private else None,
        max_rows_per_unit_per_group=origin.max_rows_per_unit_per_group if private else None,
        row_ceiling=min(MOST_ROWS, sum(part.scope.table.row_ceiling for part in parts)),
        expected_rows=None if None in expected else sum(filter(None, expected)),
        columns=columns,
    )
    outputs = tuple(ViewColumn(None, name, ColumnRef(name)) for name in columns)
    return RelationView(Scope(table, UnitedRows(parts, table), origin), outputs)


def _check_parts(first: RelationView, other: RelationView) -> None:
    if len(first.columns) != len(other.columns):
        raise InvalidQuery(
            "All parts of UNION ALL need the same number of columns. Found "
            f"{len(first.columns)} and {len(other.columns)}."
        )
    if first.private != other.private:
        raise InvalidQuery(
            "UNION ALL of private and public rows is not supported: public rows have no "
            "privacy unit. Ask about the private rows, and add the public ones to the answer."
        )
    if first.private:
        check_same_unit(first.scope, other.scope, "combined by UNION ALL")


def _column(name: str, parts: tuple[RelationView, ...], place: int) -> Declared:
    expressions = [(part.columns[place].expression, part.scope) for part in parts]
    lists = [list_column(expression, scope) for expression, scope in expressions]
    if any(lists):
        return _column_of_lists(name, lists)
    ranges = [scope.value_range(expression) for expression, scope in expressions]
    kinds = {values.kind for values in ranges} - {None}
    if len(kinds) > 1:
        raise InvalidQuery(
            f"UNION ALL: Column {place + 1} ({name}) has different kinds in its parts, "
            f"{' and '.join(sorted(map(str, kinds)))}. CAST one of them."
        )
    column = column_from_range(name, value_ranges.hull(ranges))
    integer = all(integer_column(expression, scope) for expression, scope in expressions)
    return Declared(
        name,
        kind=column.kind,
        bounds=column.bounds,
        step=column.step,
        keys=_keys(expressions),
        integer=integer,
        narrow=integer,
        timed=column.timed,
    )


def _column_of_lists(name: str, lists: Sequence[Declared | None]) -> Declared:
    """Lists are handed on as they are, so all that is declared about them must be the same:
    which elements count, and how they are clipped. Only their keys are put together."""
    first = lists[0]
    alike = [(part.length, _without_keys(part.elements)) for part in lists if part is not None]
    if first is None or len(alike) < len(lists) or len(set(map(str, alike))) > 1:
        raise InvalidQuery(
            f"UNION ALL: {name} holds lists, and not every part has a list that is declared "
            "alike (`length`, kind, `bounds` and `step`). Write UNNEST into each part: SELECT "
            f"..., UNNEST({name}) AS element FROM ... UNION ALL ..."
        )
    assert first.elements is not None
    keys = [
        None if part is None or part.elements is None else part.elements.keys for part in lists
    ]
    return replace(first, name=name, elements=replace(first.elements, keys=_put_together(keys)))


def _without_keys(elements: Declared | None) -> Declared | None:
    return None if elements is None else replace(elements, name="element", keys=None)


def _keys(expressions: Sequence[tuple[Expression, Scope]]) -> Keys:
    """All declared keys, if every part declares some."""
    return _put_together(
        [
            scope.column(expression.name).keys if isinstance(expression, ColumnRef) else None
            for expression, scope in expressions
        ]
    )


def _put_together(listed: Sequence[Keys]) -> Keys:
    values: dict[KeyValue, None] = {}
    for keys in listed:
        if keys is None:
            return None
        values.update(dict.fromkeys(keys if isinstance(keys, tuple) else ()))
    return "private" if any(isinstance(keys, str) for keys in listed) else tuple(values)
