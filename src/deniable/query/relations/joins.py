"""Joins: which rows may be joined, and the engine's SQL of a join.

A join of a private table with public ones, on any condition, turns each private row into some
rows that depend only on that row and on public data. A join of two private tables on the unit
turns the rows of one unit into some rows that depend only on the rows of that unit. So in both
cases all resulting rows still belong to one unit. Its contribution is bounded once, after the
join. (A unit that vanishes, or changes, does so in both tables at once.) No other join keeps
the rows of different units apart.

A join on the unit has as many rows of a unit as the product of its rows in both tables. One
unit with very many rows could exhaust the engine's time or memory, and everybody would see that
failure. So each side keeps a limited number of rows of a unit, unless one of them has only one.
A keyed hash of the rows picks which ones. Rows with the same hash are ordered by their values,
and rows with the same values are equal (except the signs of zero and NaN, which nothing in a
statement sees). So the choice depends only on the unit's own rows, not on their order, and no
contribution bound changes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from deniable.errors import InvalidQuery
from deniable.policy import Column as Declared
from deniable.policy import Table
from deniable.query.language.expressions import conjunction, conjuncts, walk
from deniable.query.language.syntax_tree import Call, ColumnRef, Expression
from deniable.query.relations.path_keys import JoinKeys
from deniable.query.relations.row_origin import RowOrigin, hidden_name
from deniable.query.relations.scope import Scope
from deniable.query.relations.sql_nodes import (
    Sql,
    double,
    keep_rows,
    keyed_hash,
    named,
    try_cast,
)
from deniable.query.relations.views import RelationView, ViewColumn, declare_column

MOST_ROWS = 10**15  # the most rows that every engine can add up
# As many rows as a unit may count with, but at least the first number and at most the second:
# one unit then makes at most a hundred million joined rows.
_LEAST, _MOST = 1_000, 10_000
_SIDES = {"inner": "", "left": "LEFT", "right": "RIGHT", "full": "FULL", "cross": ""}


@dataclass(frozen=True, slots=True)
class JoinedRows:
    """The joined rows of two views."""

    left: RelationView
    right: RelationView
    kind: str
    table: Table  # has the columns of the left view, then those of the right view
    on: tuple[Expression, ...] = ()  # conditions over those columns
    by_unit: bool = False
    most: int | None = None  # rows of one unit that each side keeps

    @property
    def keyed(self) -> bool:
        """Whether some equality limits which rows are joined, so not every pair is."""
        first = len(self.left.columns)
        places = {name: place < first for place, name in enumerate(self.table.columns)}
        equalities = (
            [
                {places[leaf.name] for leaf in walk(part) if isinstance(leaf, ColumnRef)}
                for part in condition.arguments
            ]
            for condition in self.on
            if isinstance(condition, Call) and condition.name == "="
        )
        return self.by_unit or any(
            sorted(map(sorted, sides)) == [[False], [True]] for sides in equalities
        )

    def select(self, names: Sequence[str]) -> exp.Select:
        """These columns and the unit, of all rows for which all conditions hold."""
        columns = list(self.table.columns)
        selected = [columns.index(name) for name in names]
        tested = [
            columns.index(leaf.name)
            for condition in self.on
            for leaf in walk(condition)
            if isinstance(leaf, ColumnRef)
        ]
        first, used = len(self.left.columns), sorted({*selected, *tested})
        left = self._side(self.left, [place for place in used if place < first])
        right = self._side(self.right, [place - first for place in used if place >= first])
        outputs = [named(self._raw(place), f"d{place}") for place in selected]
        outputs += [] if self.table.unit is None else [named(self._unit(), "u")]
        conditions = [self._same_unit()] if self.by_unit else []
        conditions += [self._condition(condition) for condition in self.on]
        select = exp.Select(expressions=outputs or [exp.Literal.number(1)])
        return select.from_(left.subquery("a", copy=False), copy=False).join(
            right.subquery("b", copy=False),
            on=exp.and_(*conditions) if conditions else exp.true(),
            join_type=_SIDES[self.kind],
            copy=False,
        )

    def _side(self, view: RelationView, places: Sequence[int]) -> exp.Select:
        return (
            view.select(places) if self.most is None else _limit_rows(view, places, self.most)
        )

    def _raw(self, place: int) -> Sql:
        first = len(self.left.columns)
        side, own = ("a", place) if place < first else ("b", place - first)
        return exp.column(f"d{own}", table=side)

    def _unit(self) -> Sql:
        left, right = exp.column("u", table="a"), exp.column("u", table="b")
        if not self.by_unit:
            return left if self.left.private else right
        if self.kind == "full":
            return exp.func("COALESCE", *(self._cast_unit(side) for side in (left, right)))
        return right if self.kind == "right" else left

    def _same_unit(self) -> Sql:
        sides = [self._cast_unit(exp.column("u", table=side)) for side in ("a", "b")]
        return exp.EQ(this=sides[0], expression=sides[1])

    def _cast_unit(self, unit: Sql) -> Sql:
        return cast_unit(unit, self.left.scope.origin.unit_type)

    def _condition(self, condition: Expression) -> Sql:
        """A condition as SQL. Integers are compared as integers, other numbers as doubles."""
        scope, columns = Scope(self.table), list(self.table.columns)
        if isinstance(condition, Call) and condition.name == "=":
            both = [
                argument for argument in condition.arguments if isinstance(argument, ColumnRef)
            ]
            if len(both) == 2 and all(self.table.columns[side.name].integer for side in both):
                a, b = (self._raw(columns.index(side.name)) for side in both)
                return exp.EQ(this=a, expression=b)

        def leaf(node: exp.Expr) -> exp.Expr:
            if not isinstance(node, exp.Column):
                return node
            place = int(node.name.removeprefix("c"))
            raw = self._raw(place)
            return double(raw) if self.table.columns[columns[place]].kind == "number" else raw

        return scope.sql(condition).transform(leaf)


def cast_unit(unit: Sql, kind: str | None) -> Sql:
    """A unit, cast to the type in which units of several tables are compared."""
    return unit if kind in (None, "bigint") else try_cast(unit, kind)


def join_views(
    left: RelationView,
    right: RelationView,
    kind: str,
    on: Expression | None,
    *,
    using: Sequence[tuple[int, int]] = (),
    unique: bool = False,
) -> RelationView:
    """The view of a join. `on` uses columns of both sides; `using` pairs their positions.

    `unique` says that each row of the left view is joined with at most one of the right view.
    """
    _check_sides(left, right, kind)
    columns, outputs = side_by_side(left, right)
    names, first = list(columns), len(left.columns)
    bare = RelationView(Scope(Table("joined", public=True, columns=columns)), outputs)
    same = [Call("=", (ColumnRef(names[a]), ColumnRef(names[first + b]))) for a, b in using]
    conditions = conjuncts(
        bare.filter(conjunction([None if on is None else bare.resolve(on), *same])).where
    )
    both = left.private and right.private
    units = _unit_places(left, 0, names), _unit_places(right, first, names)
    keys = JoinKeys.of(left, right, names)
    pairs = [condition for condition in conditions if both and _equates_units(condition, units)]
    if both and not pairs and not keys.equated(conditions):
        raise _not_on_the_unit(left, right)
    rest = tuple(condition for condition in conditions if condition not in pairs)
    unit = units[1] if kind == "right" or not left.private else units[0]
    if both and kind == "full":
        unit = []  # in some rows the left column holds it, in others the right one
    held = [*units[0], *units[1]] if both and kind == "inner" else unit
    outputs = _with_one_unit(outputs, held)
    for a, b in using if kind != "full" else ():
        place = a if kind == "right" else first + b
        hidden = replace(outputs[place], hidden=True)
        outputs = (*outputs[:place], hidden, *outputs[place + 1 :])
    once = unique or not both or keys.meets_one_row(conditions)
    most = None if once else _most_joined(left, right)
    origin = _joined_origin(left, right, both=both, unique=unique, most=most)
    origin = replace(origin, keys=keys.all)
    table = _joined_table(left, right, origin, columns, unit[0] if unit else None)
    source = JoinedRows(left, right, kind, table, rest, by_unit=both, most=most)
    return RelationView(Scope(table, source, origin), outputs)


def side_by_side(
    left: RelationView, right: RelationView
) -> tuple[dict[str, Declared], tuple[ViewColumn, ...]]:
    """The columns of both views under distinct names, and the view columns that use them.

    What is joined to elements of lists may differ from one element to the next.
    """
    pairs = [(side, column) for side in (left, right) for column in side.columns]
    listed = max(left.scope.origin.times, right.scope.origin.times) > 1
    names = _distinct_names([column for _, column in pairs])
    columns = {
        name: declare_column(name, column.expression, side.scope)
        for name, (side, column) in zip(names, pairs, strict=True)
    }
    for name, (side, _) in zip(names, pairs, strict=True):
        if listed and side.scope.origin.times == 1:
            columns[name] = replace(columns[name], spread=True)
    outputs = (
        replace(column, expression=ColumnRef(name))
        for name, (_, column) in zip(names, pairs, strict=True)
    )
    return columns, tuple(outputs)


def _with_one_unit(columns: tuple[ViewColumn, ...], units: list[str]) -> tuple[ViewColumn, ...]:
    """Columns that all hold the unit are the first of them. After an inner join, those of both
    sides do."""
    return tuple(
        replace(column, expression=ColumnRef(units[0]))
        if isinstance(column.expression, ColumnRef) and column.expression.name in units
        else column
        for column in columns
    )


def _joined_origin(
    left: RelationView, right: RelationView, *, both: bool, unique: bool, most: int | None
) -> RowOrigin:
    """The origin of the rows of a join."""
    single = (
        left.scope.origin.one_row_per_unit
        if unique
        else both and right.scope.origin.one_row_per_unit
    )
    origin = RowOrigin.combine(
        [side.scope.origin for side in (left, right)],
        one_row_per_unit=single and left.scope.origin.one_row_per_unit,
    )
    return replace(origin, most_joined=max(most or 0, origin.most_joined or 0) or None)


def _joined_table(
    left: RelationView,
    right: RelationView,
    origin: RowOrigin,
    columns: dict[str, Declared],
    unit: str | None,
) -> Table:
    """What is known about the rows of a join."""
    sides = left.scope.table, right.scope.table
    name = " and ".join(dict.fromkeys(side.name for side in sides))
    if not origin.tables:
        return Table(name, public=True, columns=columns)
    private = [side.scope.table for side in (left, right) if side.private]
    together = min(MOST_ROWS, sides[0].row_ceiling * sides[1].row_ceiling)
    return Table(
        name,
        unit=unit or hidden_name(private[0].unit or "row", columns),
        neighbors=private[0].neighbors,
        max_groups_per_unit=1 if origin.one_row_per_unit else origin.max_groups_per_unit,
        max_rows_per_unit_per_group=1
        if origin.one_row_per_unit
        else origin.max_rows_per_unit_per_group,
        row_ceiling=max(together, *(part.row_ceiling for part in private)),
        expected_rows=private[0].expected_rows,
        columns=columns,
    )


def _check_sides(left: RelationView, right: RelationView, kind: str) -> None:
    if left.private and right.private:
        _check_private_sides(left, right)
        return
    if not left.private and not right.private:
        return
    optional = {"left": [right], "right": [left], "full": [left, right]}.get(kind, [])
    if any(side.private for side in optional):
        (table,) = {name for side in (left, right) for name in side.scope.origin.tables[:1]}
        raise InvalidQuery(
            f"Table {table} is private, and on the optional side of a {kind.upper()} JOIN with "
            "a public table: the answer would have rows that belong to no unit. Use JOIN, or "
            "put the private table first: private LEFT JOIN public."
        )


def _check_private_sides(left: RelationView, right: RelationView) -> None:
    names = f"{left.scope.table.name} and {right.scope.table.name}"
    origins = left.scope.origin, right.scope.origin
    if any(origin.numbered or origin.unit is None for origin in origins):
        raise InvalidQuery(
            f"{names} cannot be joined: at least one of them protects single rows, and one of "
            "its rows could be joined with any number of rows. Declare in the policy which "
            'column identifies a person in both, for example   unit = "patient"   or ask about '
            "each table on its own."
        )
    check_same_unit(left.scope, right.scope, "joined")


def check_same_unit(left: Scope, right: Scope, verb: str) -> None:
    """Refuses tables with different privacy units, or with different neighbours."""
    names = f"{left.table.name} and {right.table.name}"
    units = left.origin.unit, right.origin.unit
    if (units[0] or "").lower() != (units[1] or "").lower():
        raise InvalidQuery(
            f"{names} cannot be {verb}: the unit is {units[0] or 'one row'} in one and "
            f"{units[1] or 'one row'} in the other. If both mean the same people, give both "
            "columns the same name."
        )
    if left.table.neighbors != right.table.neighbors:
        raise InvalidQuery(
            f"{names} cannot be {verb}: one has neighbors = {left.table.neighbors!r}, the "
            f"other {right.table.neighbors!r}. Declare the same `neighbors` in the policy."
        )
    types = left.origin.unit_type, right.origin.unit_type
    if units[0] is not None and (None in types or types[0] != types[1]):
        raise InvalidQuery(
            f"{names} cannot be {verb}: the unit {units[0]} must be an integer in both, or "
            "text in both. Otherwise two people could be taken for one."
        )


def _equates_units(condition: Expression, units: tuple[list[str], list[str]]) -> bool:
    """Whether a condition says that the left unit equals the right unit."""
    if not isinstance(condition, Call) or condition.name != "=":
        return False
    a, b = (
        [argument.name] if isinstance(argument, ColumnRef) else []
        for argument in condition.arguments
    )
    left, right = (set(unit) for unit in units)
    return bool((left & {*a} and right & {*b}) or (left & {*b} and right & {*a}))


def _not_on_the_unit(left: RelationView, right: RelationView) -> InvalidQuery:
    tables = left.scope.table.name, right.scope.table.name
    unit = left.scope.origin.unit
    return InvalidQuery(
        f"{tables[0]} and {tables[1]} are both private, but not joined on the unit: "
        "one person's rows would be joined with rows of other people. Join them on the unit: "
        f"{tables[0]} JOIN {tables[1]} ON {tables[0]}.{unit} = {tables[1]}.{unit} [AND ...]. A "
        f"sub-query must select {unit} for that."
    )


def _unit_places(view: RelationView, first: int, names: list[str]) -> list[str]:
    """The names of the columns that hold the unit of a view."""
    return [
        names[first + place]
        for place, column in enumerate(view.columns)
        if column.expression == view.unit
    ]


def _distinct_names(columns: Sequence[ViewColumn]) -> list[str]:
    """A distinct name for each column, as short as possible."""
    short = [column.name.lower() for column in columns]
    names: list[str] = []
    for column in columns:
        name = column.name
        if short.count(name.lower()) > 1:
            name = f"{column.table}.{name}" if column.table else name
        while name.lower() in map(str.lower, names):
            name += "'"
        names.append(name)
    return names


def _most_joined(left: RelationView, right: RelationView) -> int | None:
    """How many rows of one unit each side keeps; None if one side has one row of each unit."""
    origins = left.scope.origin, right.scope.origin
    if any(origin.one_row_per_unit for origin in origins):
        return None
    counting = (
        origin.max_groups_per_unit * origin.max_rows_per_unit_per_group for origin in origins
    )
    return min(_MOST, max(_LEAST, *counting))


def _limit_rows(view: RelationView, places: Sequence[int], most: int) -> exp.Select:
    """The columns of a view at some positions, with at most `most` rows of each unit."""
    columns: list[Sql] = [exp.column(f"d{place}") for place in places]
    drawn = keyed_hash([exp.column("u"), *(column.copy() for column in columns)])
    return keep_rows(view.select(places), [drawn, *columns], most)
