"""Groups inside FROM: of the rows of one unit, or of public rows; and numbers of a unit's rows.

An aggregate over the rows of one unit depends only on that unit. So it may be any function of
these rows whose value has bounds and does not depend on the order of rows. Sums and averages
therefore use whole grid steps. The sum of at most `max_rows_per_unit_per_group` values lies
between that many times the column's bounds. The outer statement clips to these bounds, as it
does for any column. They are not a claim about the rows.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sqlglot import exp

from deniable.errors import InvalidQuery
from deniable.policy import Column, Table
from deniable.query.language.sql_calls import ROW_NUMBER
from deniable.query.language.syntax_tree import Aggregate, Call, ColumnRef, Expression, Named
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

_MOST_NUMBERED = 10**6  # higher numbers of rows are cut to this one
_MOST_STEPS = 1 << 40  # the widest range of a value that is added up
_MOMENTS = {"avg", "var_samp", "var_pop", "stddev_samp", "stddev_pop"}
_SUPPORTED = {"count", "count_units", "sum", "min", "max", *_MOMENTS}


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
        by = [*(one.copy() for one in unit), *keys]
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
        if aggregate.name != "sum" and aggregate.name not in _MOMENTS:
            return value
        low, high, step = _steps(argument, self.view.scope)
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
        step = double_literal(_steps(argument, self.view.scope)[2])
        if name == "sum":
            return exp.Mul(this=double(exp.Sum(this=wide(value))), expression=step)
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
        columns[name] = _declare_aggregate(name, aggregate, view)
    single = unit is not None and len({key.expression for key in keys}) == 1
    origin = replace(scope.origin, one_row_per_unit=single, keys=links)
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


def _declare_aggregate(name: str, aggregate: Aggregate, view: RelationView) -> Column:
    """The column of an aggregate. The least and the largest of a column's values are values of
    that column: they keep its declared keys."""
    argument = aggregate.argument
    made = column_from_range(name, _aggregate_range(aggregate, view))
    if aggregate.name not in ("min", "max") or not isinstance(argument, ColumnRef):
        return made
    keys = view.scope.column(argument.name).keys
    if not isinstance(keys, tuple):
        return made
    return Column(name, kind=made.kind, bounds=made.bounds, step=made.step, keys=keys)


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


def _steps(argument: Expression, scope: Scope) -> tuple[int, int, Fraction]:
    """The argument's bounds in whole steps, and the step: coarse enough to be added up."""
    return coarsen_by_tens(*scope.grid(argument), most=_MOST_STEPS, widest=_MOST_STEPS)


def _aggregate_range(aggregate: Aggregate, view: RelationView) -> ValueRange:
    """The range of an aggregate over the rows of one group."""
    if aggregate.name not in _SUPPORTED:
        raise InvalidQuery(
            f"{aggregate} is not supported inside FROM. Use COUNT, COUNT(DISTINCT ...), SUM, "
            "AVG, VARIANCE, STDDEV, MIN or MAX there."
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


@dataclass(frozen=True, slots=True)
class RankedRows:
    """The rows of a view, and the number of each row among the rows of its unit.

    Rows that tie are put in order by all other columns that are used; rows that are equal in
    all of them cannot be told apart. So a number depends on the unit's own rows alone, and not
    on the order in which they are stored.
    """

    view: RelationView
    # By the name of a number: the places of further partition keys, and of what rows are
    # sorted by, each with whether it descends.
    windows: Mapping[str, tuple[tuple[int, ...], tuple[tuple[int, bool], ...]]]
    table: Table

    def select(self, names: Sequence[str]) -> exp.Select:
        """These columns, the numbers among them, and the unit."""
        columns = list(self.table.columns)
        asked = {name: self.windows[name] for name in names if name in self.windows}
        places = {columns.index(name) for name in names if name not in asked}
        for keys, order in asked.values():
            places |= {*keys, *(place for place, _ in order)}
        rows = subquery(self.view.select(sorted(places)), "ranked")
        outputs = [column(f"d{columns.index(name)}") for name in names if name not in asked]
        for name, (keys, order) in asked.items():
            rest = [(place, False) for place in sorted(places - {at for at, _ in order})]
            sorting = [
                exp.Ordered(this=column(f"d{place}"), desc=down, nulls_first=False)
                for place, down in (*order, *rest)
            ]
            window = exp.Window(
                this=exp.RowNumber(),
                partition_by=[column("u"), *(column(f"d{place}") for place in keys)],
                order=exp.Order(expressions=sorting),
                over="OVER",
            )
            outputs.append(named(window, f"d{columns.index(name)}"))
        return rows.select(*outputs, column("u"), copy=False)


def rank_rows(view: RelationView, outputs: Sequence[Named]) -> RelationView:
    """The view of a sub-query that numbers the rows of each unit: ROW_NUMBER() OVER (PARTITION
    BY unit ORDER BY ...). Other outputs are expressions over the scope of the view."""
    scope, plain, numbers = view.scope, dict[str, Expression](), dict[str, Call]()
    for output in outputs:
        if isinstance(output.expression, Call) and output.expression.name == ROW_NUMBER:
            numbers[output.name] = output.expression
        else:
            plain[output.name] = output.expression
    windows = {name: _read_window(number, view, plain) for name, number in numbers.items()}
    columns = {name: declare_column(name, part, scope) for name, part in plain.items()}
    rank = ValueRange("number", Fraction(1), Fraction(_MOST_NUMBERED), Fraction(1))
    columns |= {name: column_from_range(name, rank) for name in numbers}
    unit = next((name for name, part in plain.items() if part == view.unit), None)
    table = Table(
        scope.table.name,
        unit=unit or hidden_name("unit", columns),
        neighbors=scope.table.neighbors,
        max_groups_per_unit=scope.table.max_groups_per_unit,
        max_rows_per_unit_per_group=scope.table.max_rows_per_unit_per_group,
        row_ceiling=scope.table.row_ceiling,
        expected_rows=scope.table.expected_rows,
        columns=columns,
    )
    listed = tuple(ViewColumn(None, name, part) for name, part in plain.items())
    source = RankedRows(replace(view, columns=listed), windows, table)
    keys = tuple(
        (name, link)
        for name, part in plain.items()
        for held, link in scope.origin.keys
        if part == ColumnRef(held)
    )
    made = Scope(table, source, replace(scope.origin, keys=keys))
    shown = (ViewColumn(None, one.name, ColumnRef(one.name)) for one in outputs)
    return RelationView(made, tuple(shown))


def _read_window(
    number: Call, view: RelationView, plain: dict[str, Expression]
) -> tuple[tuple[int, ...], tuple[tuple[int, bool], ...]]:
    """The places of what a window is divided and sorted by. What is not selected is added to
    `plain` under a name that nobody can write."""
    divided, sorted_by = number.arguments
    assert isinstance(divided, Call)
    assert isinstance(sorted_by, Call)
    keys = [view.resolve(part) for part in divided.arguments]
    if view.unit is None or view.unit not in keys:
        unit = view.scope.origin.unit or "unit"
        raise InvalidQuery(
            f"{number} depends on other people's rows, unless it numbers the rows of each "
            f"{unit}: ROW_NUMBER() OVER (PARTITION BY {unit} ORDER BY ...)."
        )

    def place(expression: Expression) -> int:
        view.scope.value_range(expression)
        for at, known in enumerate(plain.values()):
            if known == expression:
                return at
        plain[hidden_name(f"sorted {len(plain)}", plain)] = expression
        return len(plain) - 1

    further = tuple(place(key) for key in keys if key != view.unit)
    order = tuple(
        (place(view.resolve(part.arguments[0])), part.name == "down")
        for part in sorted_by.arguments
        if isinstance(part, Call)
    )
    return further, order
