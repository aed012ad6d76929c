"""Groups inside FROM: of one person's rows, or of public ones.

What is added up inside one unit's rows is a matter of that unit alone, so it may be any
function of them, as long as its value has limits and does not depend on the order of rows.
Sums and averages are therefore made of whole grid steps. The sum of at most
`max_rows_per_unit_per_group` values lies between that many times the column's bounds. The outer
statement clips to this limit, like to any column's bounds; it is not a promise about the rows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sqlglot import exp

from deniable.errors import InvalidQuery
from deniable.policy import Table
from deniable.query.language.syntax_tree import Aggregate, ColumnRef, Expression, Named
from deniable.query.relations.clean_columns import select_clean_columns
from deniable.query.relations.row_origin import hidden_name
from deniable.query.relations.scope import Scope
from deniable.query.relations.sql_nodes import (
    Sql,
    clip,
    column,
    double,
    double_literal,
    named,
    number,
    subquery,
    wide,
)
from deniable.query.relations.value_ranges import ValueRange
from deniable.query.relations.views import (
    RelationView,
    ViewColumn,
    column_from_range,
    declare_column,
    integer_column,
)

_WIDEST = 1 << 40  # steps of a value that is added up
_MOMENTS = {"avg", "var_samp", "var_pop", "stddev_samp", "stddev_pop"}
_OWN = {"count", "count_units", "sum", "min", "max", *_MOMENTS}


@dataclass(frozen=True, slots=True)
class GroupedRows:
    """The rows of a view in groups: keys first, then aggregates."""

    view: RelationView
    keys: tuple[Expression, ...]
    aggregates: tuple[Aggregate, ...]
    table: Table

    def select(self, names: Sequence[str]) -> exp.Select:
        """Those keys and aggregates, one row a group."""
        places = [list(self.table.columns).index(name) for name in names]
        first = len(self.keys)
        rows = subquery(
            self._rows([place - first for place in places if place >= first]), "rows"
        )
        unit = [column("u")] if self.view.private else []
        keys = [column(f"k{i}") for i in range(first)]
        chosen = [
            named(column(f"k{place}"), f"d{place}")
            if place < first
            else named(self._aggregate(place - first), f"d{place}")
            for place in places
        ]
        made = rows.select(*(unit + chosen or [number(1)]), copy=False)
        by = [*(one.copy() for one in unit), *keys]
        return made.group_by(*by, copy=False) if by else made

    def _rows(self, wanted: list[int]) -> exp.Select:
        """The keys k0, k1, ... and what the wanted aggregates are over, y0, y1, ..."""
        scope, view = self.view.scope, self.view
        used: list[Expression] = [] if view.where is None else [view.where]
        whole: list[str] = []
        chosen: list[Sql] = [column("u")] if view.private else []
        for i, key in enumerate(self.keys):
            kept = integer_column(key, scope)
            if key == view.unit:
                chosen.append(named(column("u"), f"k{i}"))
            elif kept is not None:
                whole.append(kept)
                chosen.append(named(column(f"{scope.alias(kept)}_key"), f"k{i}"))
            else:
                used.append(key)
                chosen.append(named(scope.sql(key), f"k{i}"))
        for i in wanted:
            argument = self.aggregates[i].argument
            if argument is not None:
                used.append(argument)
                chosen.append(named(self._argument(self.aggregates[i], argument), f"y{i}"))
        rows = subquery(select_clean_columns(scope, used, whole, outermost=False), "clean")
        made = rows.select(*(chosen or [number(1)]), copy=False)
        return made if view.where is None else made.where(scope.sql(view.where), copy=False)

    def _argument(self, aggregate: Aggregate, argument: Expression) -> Sql:
        value = self.view.scope.sql(argument)
        if aggregate.name != "sum" and aggregate.name not in _MOMENTS:
            return value
        low, high, step = _steps(argument, self.view.scope)
        if self.view.scope.value_range(argument).kind == "boolean":
            value = double(value)
        scaled = exp.Mul(this=exp.paren(value), expression=double_literal(1 / step))
        return exp.cast(clip(scaled, number(low), number(high)), "bigint")

    def _aggregate(self, place: int) -> Sql:
        one = self.aggregates[place]
        if one.argument is None:
            return exp.Count(this=exp.Star())
        value = column(f"y{place}")
        if one.name == "count":
            return exp.Count(this=value)
        if one.name == "count_units":
            return exp.Count(this=exp.Distinct(expressions=[value]))
        if one.name in ("min", "max"):
            return exp.Min(this=value) if one.name == "min" else exp.Max(this=value)
        step = double_literal(_steps(one.argument, self.view.scope)[2])
        if one.name == "sum":
            return exp.Mul(this=double(exp.Sum(this=wide(value))), expression=step)
        return self._moment(one.name, value, step)

    def _moment(self, name: str, value: Sql, step: Sql) -> Sql:
        """Averages and variances from exact sums."""
        count = exp.func("NULLIF", double(exp.Count(this=value)), number(0))
        mean = exp.Div(this=double(exp.Sum(this=wide(value))), expression=count, typed=False)
        if name == "avg":
            return exp.Mul(this=exp.paren(mean), expression=step)
        squares = exp.Sum(this=exp.Mul(this=wide(value), expression=wide(value)))
        square = exp.Div(this=double(squares), expression=count.copy(), typed=False)
        own = exp.Mul(this=exp.paren(mean.copy()), expression=exp.paren(mean))
        spread: Sql = exp.func("GREATEST", exp.Sub(this=square, expression=own), number(0))
        if name.endswith("samp"):
            fewer = exp.Sub(this=double(exp.Count(this=value)), expression=number(1))
            share = exp.Div(
                this=count.copy(), expression=exp.func("NULLIF", fewer, number(0)), typed=False
            )
            spread = exp.Mul(this=spread, expression=exp.paren(share))
        if name.startswith("stddev"):
            return exp.Mul(this=exp.func("SQRT", spread), expression=step)
        scale = exp.paren(exp.Mul(this=step, expression=step.copy()))
        return exp.Mul(this=spread, expression=scale)


def group_view(
    view: RelationView, keys: Sequence[Named], aggregates: Sequence[Aggregate]
) -> RelationView:
    """The view of groups: an item for each key, and one for each aggregate, by its text.

    Keys and arguments are over the rows that the view reads.
    """
    scope = view.scope
    unit = next((key.name for key in keys if key.expression == view.unit), None)
    if view.private and unit is None:
        raise _not_by_the_unit(view)
    columns = {key.name: declare_column(key.name, key.expression, scope) for key in keys}
    for one in aggregates:
        name = _name(one, columns)
        columns[name] = column_from_range(name, _facts(one, view))
    single = view.private and len({key.expression for key in keys}) == 1
    origin = replace(scope.origin, one_row_per_unit=single)
    private = view.private
    table = Table(
        scope.table.name,
        public=not private,
        unit=(unit or hidden_name("unit", columns)) if private else None,
        neighbors=scope.table.neighbors,
        max_groups_per_unit=(1 if origin.one_row_per_unit else origin.max_groups_per_unit)
        if private
        else None,
        max_rows_per_unit_per_group=(
            1 if origin.one_row_per_unit else origin.max_rows_per_unit_per_group
        )
        if private
        else None,
        row_ceiling=scope.table.row_ceiling,
        columns=columns,
    )
    made = GroupedRows(view, tuple(key.expression for key in keys), tuple(aggregates), table)
    items = tuple(ViewColumn(None, name, ColumnRef(name)) for name in columns)
    return RelationView(Scope(table, made, origin), items)


def _name(aggregate: Aggregate, taken: Iterable[str]) -> str:
    name = str(aggregate)
    while name.lower() in map(str.lower, taken):
        name += "'"
    return name


def _not_by_the_unit(view: RelationView) -> InvalidQuery:
    unit, name = view.scope.origin.unit, view.scope.table.name
    if unit is None:
        return InvalidQuery(
            f"GROUP BY and DISTINCT inside FROM would tie rows of {name} together, and each is "
            "protected on its own there. Group outside, in the question itself, or declare "
            'in the policy whose the rows are, for example   unit = "patient".'
        )
    return InvalidQuery(
        f"GROUP BY and DISTINCT inside FROM tie people of {name} together unless the unit is "
        f"among what is grouped by: GROUP BY {unit}, ... or SELECT DISTINCT {unit}, ...; or "
        "group outside, in the question itself."
    )


def _steps(argument: Expression, scope: Scope) -> tuple[int, int, Fraction]:
    low, high, step = scope.grid(argument)
    while max(high - low, abs(low), abs(high)) > _WIDEST:
        low, high, step = low // 10, -(-high // 10), step * 10
    return low, high, step


def _facts(aggregate: Aggregate, view: RelationView) -> ValueRange:
    """The limits of an aggregate over one group's rows."""
    if aggregate.name not in _OWN:
        raise InvalidQuery(
            f"{aggregate} is not supported inside FROM: COUNT, COUNT(DISTINCT ...), SUM, AVG, "
            "VARIANCE, STDDEV, MIN and MAX are."
        )
    most = Fraction(view.scope.origin.max_rows_per_unit_per_group) if view.private else None
    one = Fraction(1)
    if aggregate.argument is None:
        return ValueRange("number", Fraction(0), most, one)
    known = view.scope.value_range(aggregate.argument)
    if aggregate.name in ("count", "count_units"):
        return ValueRange("number", Fraction(0), most, one)
    if aggregate.name in ("min", "max"):
        return known
    low, high, step = _steps(aggregate.argument, view.scope)
    if aggregate.name == "sum":
        if most is None:
            return ValueRange("number", step=step)
        ends = [low * step, high * step, low * step * most, high * step * most]
        return ValueRange("number", min(ends), max(ends), step)
    if aggregate.name == "avg":
        return ValueRange("number", low * step, high * step)
    width = (high - low) * step
    return ValueRange(
        "number", Fraction(0), width if aggregate.name.startswith("stddev") else width**2
    )
