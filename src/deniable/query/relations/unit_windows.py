"""Windows inside FROM over the rows of one unit: numbers, LAG, FIRST_VALUE, running sums.

A window whose partition holds the unit depends on that unit's own rows alone. RANK, and
aggregates without ROWS, give rows that tie the same value. What tells rows that tie apart puts
them in order by all other columns that are used; rows that are equal in all of them cannot be
told apart. So nothing depends on the order in which rows are stored. Sums are of whole grid
steps, like those of groups.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from sqlglot import exp

from deniable.errors import InvalidQuery
from deniable.policy import Column, Table
from deniable.query.language.expressions import walk
from deniable.query.language.spellings.written_windows import RANKS, WINDOW
from deniable.query.language.syntax_tree import (
    Aggregate,
    Call,
    ColumnRef,
    Expression,
    Literal,
    Named,
)
from deniable.query.relations.grouping import declare_aggregate, whole_steps
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
)

_MOST_NUMBERED = 10**6  # higher numbers of rows are cut to this one
_NODES: Mapping[str, type[exp.Expr]] = {
    "row number": exp.RowNumber,
    "rank": exp.Rank,
    "dense rank": exp.DenseRank,
    "lag": exp.Lag,
    "lead": exp.Lead,
    "first value": exp.FirstValue,
    "last value": exp.LastValue,
    "count": exp.Count,
    "sum": exp.Sum,
    "avg": exp.Sum,
    "min": exp.Min,
    "max": exp.Max,
}
_ADDED = {"sum", "avg"}
_TIES_ALIKE = {"rank", "dense rank", "count", "min", "max", *_ADDED}  # without a frame


@dataclass(frozen=True, slots=True)
class UnitWindow:
    """One window: its function, and the places of the columns that it uses."""

    function: str
    argument: int | None  # None: whole rows
    away: int  # of LAG and LEAD
    steps: tuple[int, int, Fraction] | None  # what is added up, and the step
    keys: tuple[int, ...]  # of the partition, beside the unit
    order: tuple[tuple[int, bool], ...]  # each with whether it descends
    frame: tuple[int | None, ...] = ()

    @property
    def places(self) -> set[int]:
        """The places of all columns that it uses."""
        own = set() if self.argument is None else {self.argument}
        return own | set(self.keys) | {place for place, _ in self.order}

    def sql(self, places: Sequence[int]) -> list[tuple[Sql, str]]:
        """The window over rows with columns at `places`; of an average a sum and a count."""
        if self.function not in _ADDED:
            return [(self._over(self._call(), places), "d")]
        parts = [(self._over(exp.Sum(this=self._steps_of_argument()), places), "s")]
        if self.function == "avg":
            counted = exp.Count(this=column(f"d{self.argument}"))
            parts.append((self._over(counted, places), "n"))
        return parts

    def _call(self) -> Sql:
        kind = _NODES[self.function]
        if self.function in RANKS:
            return kind()
        if self.argument is None:
            return exp.Count(this=exp.Star())
        offset = {"offset": number(self.away)} if self.function in ("lag", "lead") else {}
        return kind(this=column(f"d{self.argument}"), **offset)

    def _steps_of_argument(self) -> Sql:
        assert self.steps is not None
        low, high, step = self.steps
        value = double(column(f"d{self.argument}"))
        scaled = exp.Mul(this=value, expression=double_literal(1 / step))
        return wide(exp.cast(clip(scaled, number(low), number(high)), "bigint"))

    def _over(self, call: Sql, places: Sequence[int]) -> Sql:
        order = list(self.order)
        if self.frame or self.function not in _TIES_ALIKE:
            first = {place for place, _ in order}
            order += [(place, False) for place in places if place not in first]
        sorting = [
            exp.Ordered(this=column(f"d{place}"), desc=down, nulls_first=False)
            for place, down in order
        ]
        return exp.Window(
            this=call,
            partition_by=[column("u"), *(column(f"d{place}") for place in self.keys)],
            order=exp.Order(expressions=sorting) if sorting else None,
            spec=self._frame(),
            over="OVER",
        )

    def _frame(self) -> exp.WindowSpec | None:
        if not self.frame:
            return None
        ends: dict[str, object] = {"kind": "ROWS"}
        for name, side, end in zip(("start", "end"), _SIDES, self.frame, strict=True):
            ends[name] = "UNBOUNDED" if end is None else number(abs(end))
            ends[f"{name}_side"] = side if not end else _SIDES[end > 0]
        return exp.WindowSpec(**ends)

    def value(self, place: int) -> Sql:
        """The sum or the average in the column's own unit, from its parts at a place."""
        assert self.steps is not None
        total, step = double(column(f"s{place}")), double_literal(self.steps[2])
        if self.function == "avg":
            count = exp.func("NULLIF", double(column(f"n{place}")), number(0))
            total = exp.paren(exp.Div(this=total, expression=count, typed=False))
        return exp.Mul(this=total, expression=step)


_SIDES = ("PRECEDING", "FOLLOWING")


@dataclass(frozen=True, slots=True)
class WindowedRows:
    """The rows of a view, with windows over the rows of each unit."""

    view: RelationView
    windows: Mapping[str, UnitWindow]  # by the names of their columns
    table: Table

    def select(self, names: Sequence[str]) -> exp.Select:
        """These columns, the windows among them, and the unit."""
        columns = list(self.table.columns)
        windows = [(columns.index(n), self.windows[n]) for n in names if n in self.windows]
        plain = [columns.index(name) for name in names if name not in self.windows]
        used = set(plain).union(*(window.places for _, window in windows))
        units = {
            at
            for at, view_column in enumerate(self.view.columns)
            if view_column.expression == self.view.unit
        }
        places = sorted(used - units)
        rows = subquery(self.view.select(places), "ranked")
        outputs = [
            named(column("u"), f"d{place}") if place in units else column(f"d{place}")
            for place in plain
        ]
        for place, window in windows:
            outputs += [named(sql, f"{letter}{place}") for sql, letter in window.sql(places)]
        rows = rows.select(*outputs, column("u"), copy=False)
        added = {place: window for place, window in windows if window.function in _ADDED}
        if not added:
            return rows
        direct_places = plain + [place for place, _ in windows if place not in added]
        values = [named(window.value(place), f"d{place}") for place, window in added.items()]
        direct_columns = [column(f"d{place}") for place in direct_places]
        return subquery(rows, "windows").select(
            *direct_columns, *values, column("u"), copy=False
        )


def has_window(expression: Expression | None) -> bool:
    """Whether a window stands in an expression."""
    parts = () if expression is None else walk(expression)
    return any(isinstance(part, Call) and part.name == WINDOW for part in parts)


def window_view(
    view: RelationView, outputs: Sequence[Named], qualify: Expression | None = None
) -> RelationView:
    """The view of a sub-query with windows. Outputs with windows, and QUALIFY, name columns of
    the view; other outputs are expressions over its scope."""
    taken = {output.name for output in outputs}
    read = _Reader(view, taken)
    for output in outputs:
        if not has_window(output.expression):
            read.plain[output.name] = output.expression
    expressions = {
        output.name: read.over_windows(output.expression, output.name)
        if has_window(output.expression)
        else ColumnRef(output.name)
        for output in outputs
    }
    condition = None if qualify is None else read.over_windows(qualify)
    scope = read.scope()
    columns = tuple(
        ViewColumn(None, name, scope.resolve(part)) for name, part in expressions.items()
    )
    rows = RelationView(scope, columns)
    return rows if condition is None else rows.filter(scope.resolve(condition))


@dataclass(slots=True)
class _Reader:
    """Collects the columns and the windows that outputs use."""

    view: RelationView
    taken: set[str]
    plain: dict[str, Expression] = field(default_factory=dict)  # over the scope of the view
    windows: dict[str, UnitWindow] = field(default_factory=dict)

    def over_windows(self, expression: Expression, name: str | None = None) -> Expression:
        """The expression over the columns that are collected. A window that is all of it has
        its name."""
        if isinstance(expression, ColumnRef):
            place = self._place(self.view.resolve(expression))
            return ColumnRef(list(self.plain)[place])
        if not isinstance(expression, Call):
            return expression
        if expression.name != WINDOW:
            return Call(expression.name, tuple(map(self.over_windows, expression.arguments)))
        window = self._window(expression)
        for known, same in self.windows.items():
            if same == window:
                return ColumnRef(known)
        own = name or self._free_name(str(expression))
        self.windows[own] = window
        return ColumnRef(own)

    def _free_name(self, name: str) -> str:
        taken = {used.lower() for used in (*self.taken, *self.plain, *self.windows)}
        while name.lower() in taken:
            name += "'"
        return name

    def _place(self, expression: Expression) -> int:
        """The place of a column. What is not selected is added: only this view names it."""
        self.view.scope.value_range(expression)
        for at, known in enumerate(self.plain.values()):
            if known == expression:
                return at
        self.plain[self._free_name(str(expression))] = expression
        return len(self.plain) - 1

    def _window(self, window: Call) -> UnitWindow:
        function, divided, ordered, *frame = window.arguments
        assert isinstance(function, Call)
        assert isinstance(divided, Call)
        assert isinstance(ordered, Call)
        view, keys = self.view, [self.view.resolve(part) for part in divided.arguments]
        if view.unit is None or view.unit not in keys:
            unit = view.scope.origin.unit or "unit"
            raise InvalidQuery(
                f"{window} depends on other people's rows, unless it looks at the rows of each "
                f"{unit}: {function} OVER (PARTITION BY {unit} ORDER BY ...)."
            )
        argument, away = (*function.arguments, None, None)[:2]
        value = None if argument is None else view.resolve(argument)
        if value == view.unit:
            if function.name != "count":
                raise InvalidQuery(
                    f"{function} is the same in all rows of {window}: the privacy unit. Use "
                    "the column itself."
                )
            value = None  # it is never NULL here
        added = value is not None and function.name in _ADDED
        return UnitWindow(
            function.name,
            None if value is None else self._place(value),
            _whole(away) or 0,
            whole_steps(value, view.scope) if added and value is not None else None,
            tuple(self._place(key) for key in keys if key != view.unit),
            tuple(
                (self._place(by), part.name == "down")
                for part in ordered.arguments
                if isinstance(part, Call)
                and (by := view.resolve(part.arguments[0])) != view.unit
            ),
            tuple(
                _whole(end)
                for frame_part in frame
                if isinstance(frame_part, Call)
                for end in frame_part.arguments
            ),
        )

    def scope(self) -> Scope:
        """The columns and the windows as a scope of their own."""
        view, scope = self.view, self.view.scope
        columns = {name: declare_column(name, part, scope) for name, part in self.plain.items()}
        columns |= {name: self._declare(name, window) for name, window in self.windows.items()}
        unit = next((name for name, part in self.plain.items() if part == view.unit), None)
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
        listed = tuple(ViewColumn(None, name, part) for name, part in self.plain.items())
        source = WindowedRows(replace(view, columns=listed), self.windows, table)
        keys = tuple(
            (name, link)
            for name, part in self.plain.items()
            for key_name, link in scope.origin.keys
            if part == ColumnRef(key_name)
        )
        return Scope(table, source, replace(scope.origin, keys=keys))

    def _declare(self, name: str, window: UnitWindow) -> Column:
        """What is public about a window's values: another row's value is one of its column."""
        if window.function in RANKS:
            numbers = ValueRange("number", Fraction(1), Fraction(_MOST_NUMBERED), Fraction(1))
            return column_from_range(name, numbers)
        place, values = window.argument, list(self.plain.values())
        argument = None if place is None else values[place]
        if argument is not None and _NODES[window.function] in _OTHER_ROWS:
            return declare_column(name, argument, self.view.scope)
        return declare_aggregate(name, Aggregate(window.function, argument), self.view)


_OTHER_ROWS = (exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue)


def _whole(end: Expression | None) -> int | None:
    value = end.value if isinstance(end, Literal) else None
    return None if value is None else int(Fraction(value))
