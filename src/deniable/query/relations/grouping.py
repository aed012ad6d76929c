"""Groups inside FROM: of the rows of one unit, or of public rows.

An aggregate over the rows of one unit depends only on that unit. So it may be any function of
these rows whose value has bounds and does not depend on the order of rows. Sums and averages
therefore use whole grid steps. The sum of at most `max_rows_per_unit_per_group` values lies
between that many times the column's bounds. The outer statement clips to these bounds, as it
does for any column. They are not a claim about the rows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sqlglot import exp

from deniable.errors import InvalidQuery
from deniable.policy import Column, Table
from deniable.query.language.syntax_tree import Aggregate, ColumnRef, Expression, Named
from deniable.query.plan.grid_steps import coarsen_by_tens
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
    select_clean_columns,
)

_MOST_STEPS = 1 << 40  # the widest range of a value that is added up
_MOMENTS = {"avg", "var_samp", "var_pop", "stddev_samp", "stddev_pop"}
_MEDIAN = (Fraction(1, 2),)
_SUPPORTED = {"count", "count_units", "sum", "min", "max", "quantile", *_MOMENTS}


@dataclass(frozen=True, slots=True)
class GroupedRows:
    """The rows of a view in groups: keys first, then aggregates."""

    view: RelationView
    keys: tuple[Expression, ...]
    aggregates: tuple[Aggregate, ...]
    table: Table

    def select(self, names: Sequence[str]) -> exp.Select:
        """These keys and aggregates, one row per group."""
        places = [list(self.table.columns).index(name) for name in names]
        first = len(self.keys)
        rows = subquery(
            self._rows([place - first for place in places if place >= first]), "rows"
        )
        unit = [column("u")] if self.view.private else []
        keys = [column(f"k{i}") for i in range(first)]
        outputs = [
            named(column(f"k{place}"), f"d{place}")
            if place < first
            else named(self._aggregate(place - first), f"d{place}")
            for place in places
        ]
        select = rows.select(*(unit + outputs or [number(1)]), copy=False)
        by = [*(expression.copy() for expression in unit), *keys]
        return select.group_by(*by, copy=False) if by else select

    def _rows(self, places: list[int]) -> exp.Select:
        """The keys k0, k1, ... and the arguments y0, y1, ... of the aggregates at `places`."""
        scope, view = self.view.scope, self.view
        used: list[Expression] = [] if view.where is None else [view.where]
        integers: list[str] = []
        outputs: list[Sql] = [column("u")] if view.private else []
        for i, key in enumerate(self.keys):
            integer = integer_column(key, scope)
            if key == view.unit:
                outputs.append(named(column("u"), f"k{i}"))
            elif integer is not None:
                integers.append(integer)
                outputs.append(named(column(f"{scope.alias(integer)}_key"), f"k{i}"))
            else:
                used.append(key)
                outputs.append(named(scope.sql(key), f"k{i}"))
        for i in places:
            argument = self.aggregates[i].argument
            if argument is not None:
                used.append(argument)
                outputs.append(named(self._argument(self.aggregates[i], argument), f"y{i}"))
        clean = subquery(select_clean_columns(scope, used, integers, outermost=False), "clean")
        rows = clean.select(*(outputs or [number(1)]), copy=False)
        return rows if view.where is None else rows.where(scope.sql(view.where), copy=False)

    def _argument(self, aggregate: Aggregate, argument: Expression) -> Sql:
        value = self.view.scope.sql(argument)
        if aggregate.name not in ("sum", "quantile", *_MOMENTS):
            return value
        low, high, step = whole_steps(argument, self.view.scope)
        if self.view.scope.value_range(argument).kind == "boolean":
            value = double(value)
        scaled = exp.Mul(this=exp.paren(value), expression=double_literal(1 / step))
        return exp.cast(clip(scaled, number(low), number(high)), "bigint")

    def _aggregate(self, place: int) -> Sql:
        name, argument = self.aggregates[place].name, self.aggregates[place].argument
        if argument is None:
            return exp.Count(this=exp.Star())
        value = column(f"y{place}")
        if name == "count":
            return exp.Count(this=value)
        if name == "count_units":
            return exp.Count(this=exp.Distinct(expressions=[value]))
        if name in ("min", "max"):
            return exp.Min(this=value) if name == "min" else exp.Max(this=value)
        step = double_literal(whole_steps(argument, self.view.scope)[2])
        if name == "sum":
            return exp.Mul(this=double(exp.Sum(this=wide(value))), expression=step)
        if name == "quantile":  # half the sum of two whole steps is exact in every engine
            return exp.Mul(this=exp.Median(this=double(value)), expression=step)
        return self._moment(name, value, step)

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
    """The view of groups: a column for each key, and one for each aggregate, named by its text.

    Keys and arguments are expressions over the scope of the view.
    """
    scope = view.scope
    unit = next((key.name for key in keys if key.expression == view.unit), None)
    # Rows with the same key of a path belong to one unit, so these groups are groups of it.
    links = tuple(
        (key.name, link)
        for key in keys
        for name, link in scope.origin.keys
        if key.expression == ColumnRef(name)
    )
    if view.private and unit is None and not links:
        raise _not_by_the_unit(view)
    columns = {key.name: declare_column(key.name, key.expression, scope) for key in keys}
    for aggregate in aggregates:
        name = _name(aggregate, columns)
        columns[name] = declare_aggregate(name, aggregate, view)
    single = unit is not None and {key.expression for key in keys} == {view.unit}
    is_spread = any(column.spread for column in columns.values())
    origin = scope.origin if is_spread else scope.origin.without_elements
    origin = replace(origin, one_row_per_unit=single, keys=links)
    table = Table(
        scope.table.name,
        public=not view.private,
        unit=(unit or hidden_name("unit", columns)) if view.private else None,
        neighbors=scope.table.neighbors,
        max_groups_per_unit=(1 if origin.one_row_per_unit else origin.max_groups_per_unit)
        if view.private
        else None,
        max_rows_per_unit_per_group=(
            1 if origin.one_row_per_unit else origin.max_rows_per_unit_per_group
        )
        if view.private
        else None,
        row_ceiling=scope.table.row_ceiling,
        columns=columns,
    )
    source = GroupedRows(view, tuple(key.expression for key in keys), tuple(aggregates), table)
    outputs = tuple(ViewColumn(None, name, ColumnRef(name)) for name in columns)
    return RelationView(Scope(table, source, origin), outputs)


def narrow_to_groups(scope: Scope, keys: Iterable[Expression]) -> Scope:
    """The scope for a question with these keys. If its rows are groups of one unit, by the unit
    and some of these keys, then a unit has one row in each group of the question."""
    source = scope.source
    if not isinstance(source, GroupedRows) or not source.view.private:
        return scope
    own = list(scope.table.columns)[: len(source.keys)]
    outer = {key.name for key in keys if isinstance(key, ColumnRef)}
    if set(own) - {scope.table.unit} <= outer:
        return replace(scope, table=replace(scope.table, max_rows_per_unit_per_group=1))
    return scope


def declare_aggregate(name: str, aggregate: Aggregate, view: RelationView) -> Column:
    """The column of an aggregate. The least and the largest of a column's values are values of
    that column: they keep its declared keys."""
    argument = aggregate.argument
    declared = column_from_range(name, _aggregate_range(aggregate, view))
    if aggregate.name not in ("min", "max") or not isinstance(argument, ColumnRef):
        return declared
    keys = view.scope.column(argument.name).keys
    if not isinstance(keys, tuple):
        return declared
    return Column(
        name, kind=declared.kind, bounds=declared.bounds, step=declared.step, keys=keys
    )


def _name(aggregate: Aggregate, taken: Iterable[str]) -> str:
    name = str(aggregate)
    while name.lower() in map(str.lower, taken):
        name += "'"
    return name


def _not_by_the_unit(view: RelationView) -> InvalidQuery:
    unit, name = view.scope.origin.unit, view.scope.table.name
    if unit is None:
        return InvalidQuery(
            f"GROUP BY and DISTINCT inside FROM would combine rows of {name}, but each of its "
            "rows is protected on its own. Group in the outer question, or declare in the "
            'policy which column identifies a person, for example   unit = "patient".'
        )
    return InvalidQuery(
        f"GROUP BY and DISTINCT inside FROM would combine rows of several people of {name}, "
        f"unless the unit is one of the keys. Use GROUP BY {unit}, ... or SELECT DISTINCT "
        f"{unit}, ..., or group in the outer question."
    )


def whole_steps(argument: Expression, scope: Scope) -> tuple[int, int, Fraction]:
    """The argument's bounds in whole steps, and the step: coarse enough to be added up."""
    return coarsen_by_tens(*scope.grid(argument), most=_MOST_STEPS, widest=_MOST_STEPS)


def _aggregate_range(aggregate: Aggregate, view: RelationView) -> ValueRange:
    """The range of an aggregate over the rows of one group."""
    if aggregate.name not in _SUPPORTED or aggregate.levels not in ((), _MEDIAN):
        raise InvalidQuery(
            f"{aggregate} is not supported inside FROM. Use COUNT, COUNT(DISTINCT ...), SUM, "
            "AVG, MEDIAN, VARIANCE, STDDEV, MIN or MAX there."
        )
    most = Fraction(view.scope.origin.max_rows_per_unit_per_group) if view.private else None
    step = Fraction(1)
    if aggregate.argument is None:
        return ValueRange("number", Fraction(0), most, step)
    values = view.scope.value_range(aggregate.argument)
    if aggregate.name in ("count", "count_units"):
        return ValueRange("number", Fraction(0), most, step)
    if aggregate.name in ("min", "max"):
        return values
    low, high, step = whole_steps(aggregate.argument, view.scope)
    if aggregate.name == "sum":
        if most is None:
            return ValueRange("number", step=step)
        ends = [low * step, high * step, low * step * most, high * step * most]
        return ValueRange("number", min(ends), max(ends), step)
    if aggregate.name == "avg":
        return ValueRange("number", low * step, high * step)
    if aggregate.name == "quantile":  # one of the values, or the mean of two
        return ValueRange("number", low * step, high * step, step / 2)
    width = (high - low) * step
    return ValueRange(
        "number", Fraction(0), width if aggregate.name.startswith("stddev") else width**2
    )
