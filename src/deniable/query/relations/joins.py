"""Joins: whose rows may meet, and the engine's SQL for it.

A join of a private table with public ones, on any condition, turns each private row into some
rows, by itself and public data alone. A join of two private tables on the unit turns the rows
of one unit into some rows, by themselves alone. So in either case all that comes of one unit's
rows still belongs to that unit, and its limits are enforced afterwards, once (a unit that
vanishes, or changes, does so in both tables at once). Nothing else keeps units apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from deniable.errors import InvalidQuery
from deniable.policy import Column as Declared
from deniable.policy import Table
from deniable.query.language.expressions import conjunction, conjuncts, walk
from deniable.query.language.syntax_tree import Call, ColumnRef, Expression
from deniable.query.relations.row_origin import RowOrigin, hidden_name
from deniable.query.relations.scope import Scope
from deniable.query.relations.sql_nodes import Sql, double, named, try_cast
from deniable.query.relations.views import RelationView, ViewColumn, declare_column

MOST_ROWS = 10**15  # that any engine can add up
_SIDES = {"inner": "", "left": "LEFT", "right": "RIGHT", "full": "FULL", "cross": ""}


@dataclass(frozen=True, slots=True)
class JoinedRows:
    """The rows of two views side by side."""

    left: RelationView
    right: RelationView
    kind: str
    table: Table  # of both: the left one's columns, then the right one's
    on: tuple[Expression, ...] = ()  # conditions over those columns
    by_unit: bool = False

    @property
    def keyed(self) -> bool:
        """Whether rows meet where something of theirs is equal, and not each with all."""
        first = len(self.left.columns)
        places = {name: place < first for place, name in enumerate(self.table.columns)}
        sides = (
            [
                {places[leaf.name] for leaf in walk(part) if isinstance(leaf, ColumnRef)}
                for part in one.arguments
            ]
            for one in self.on
            if isinstance(one, Call) and one.name == "="
        )
        return self.by_unit or any(
            sorted(map(sorted, side)) == [[False], [True]] for side in sides
        )

    def select(self, names: Sequence[str]) -> exp.Select:
        """Those columns and the unit, wherever all conditions hold."""
        places = list(self.table.columns)
        asked = [places.index(name) for name in names]
        tested = [
            places.index(leaf.name)
            for one in self.on
            for leaf in walk(one)
            if isinstance(leaf, ColumnRef)
        ]
        first, wanted = len(self.left.columns), sorted({*asked, *tested})
        left = self.left.select([name for name in wanted if name < first])
        right = self.right.select([name - first for name in wanted if name >= first])
        chosen = [named(self._raw(one), f"d{one}") for one in asked]
        chosen += [] if self.table.unit is None else [named(self._unit(), "u")]
        conditions = [self._same_unit()] if self.by_unit else []
        conditions += [self._condition(one) for one in self.on]
        made = exp.Select(expressions=chosen or [exp.Literal.number(1)])
        return made.from_(left.subquery("a", copy=False), copy=False).join(
            right.subquery("b", copy=False),
            on=exp.and_(*conditions) if conditions else exp.true(),
            join_type=_SIDES[self.kind],
            copy=False,
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
            return exp.func("COALESCE", *(self._as_unit(side) for side in (left, right)))
        return right if self.kind == "right" else left

    def _same_unit(self) -> Sql:
        sides = [self._as_unit(exp.column("u", table=side)) for side in ("a", "b")]
        return exp.EQ(this=sides[0], expression=sides[1])

    def _as_unit(self, unit: Sql) -> Sql:
        return cast_unit(unit, self.left.scope.origin.unit_type)

    def _condition(self, condition: Expression) -> Sql:
        """Numbers are compared as doubles, but integers with integers as what they are."""
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
    """A unit, as units of several tables are compared."""
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
    """The view of a join; `on` names columns of either side, `using` pairs their places.

    `unique` says that no row of the left view meets two of the right view.
    """
    _check_sides(left, right, kind)
    columns, items = _side_by_side(left, right)
    names, first = list(columns), len(left.columns)
    bare = RelationView(Scope(Table("joined", public=True, columns=columns)), items)
    same = [Call("=", (ColumnRef(names[a]), ColumnRef(names[first + b]))) for a, b in using]
    conditions = conjuncts(
        bare.filter(conjunction([None if on is None else bare.resolve(on), *same])).where
    )
    both = left.private and right.private
    units = _unit_places(left, 0, names), _unit_places(right, first, names)
    pairs = [condition for condition in conditions if both and _equates(condition, units)]
    if both and not pairs:
        raise _not_on_the_unit(left, right)
    rest = tuple(condition for condition in conditions if condition not in pairs)
    unit = units[1] if kind == "right" or not left.private else units[0]
    if both and kind == "full":
        unit = []  # it is in one column here and in the other there
    if both and kind == "inner":
        items = _with_one_unit(items, units)
    for a, b in using if kind != "full" else ():
        place = a if kind == "right" else first + b
        items = (*items[:place], replace(items[place], hidden=True), *items[place + 1 :])
    origin = _origin(left, right, both=both, unique=unique)
    table = _table(left, right, origin, columns, unit[0] if unit else None)
    source = JoinedRows(left, right, kind, table, rest, by_unit=both)
    return RelationView(Scope(table, source, origin), items)


def _side_by_side(
    left: RelationView, right: RelationView
) -> tuple[dict[str, Declared], tuple[ViewColumn, ...]]:
    """The columns of both views under distinct names, and the items that refer to them."""
    pairs = [(side, item) for side in (left, right) for item in side.columns]
    names = _names(tuple(item for _, item in pairs))
    columns = {
        name: declare_column(name, item.expression, side.scope)
        for name, (side, item) in zip(names, pairs, strict=True)
    }
    items = (
        replace(item, expression=ColumnRef(name))
        for name, (_, item) in zip(names, pairs, strict=True)
    )
    return columns, tuple(items)


def _with_one_unit(
    items: tuple[ViewColumn, ...], units: tuple[list[str], list[str]]
) -> tuple[ViewColumn, ...]:
    """An inner join makes both units equal, so the right one is read as the left one."""
    return tuple(
        replace(item, expression=ColumnRef(units[0][0]))
        if isinstance(item.expression, ColumnRef) and item.expression.name in units[1]
        else item
        for item in items
    )


def _origin(left: RelationView, right: RelationView, *, both: bool, unique: bool) -> RowOrigin:
    """Whose rows a join holds."""
    single = (
        left.scope.origin.one_row_per_unit
        if unique
        else both and right.scope.origin.one_row_per_unit
    )
    return RowOrigin.combine(
        [side.scope.origin for side in (left, right)],
        one_row_per_unit=single and left.scope.origin.one_row_per_unit,
    )


def _table(
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
        _check_same(left, right)
        return
    if not left.private and not right.private:
        return
    optional = {"left": [right], "right": [left], "full": [left, right]}.get(kind, [])
    if any(one.private for one in optional):
        (table,) = {name for side in (left, right) for name in side.scope.origin.tables[:1]}
        raise InvalidQuery(
            f"Table {table} is private, and on the optional side of a {kind.upper()} JOIN with "
            "a public one: rows would appear where nobody's are. Use JOIN, or put the private "
            "table first: private LEFT JOIN public."
        )


def _check_same(left: RelationView, right: RelationView) -> None:
    one, two = left.scope, right.scope
    names = f"{one.table.name} and {two.table.name}"
    if one.origin.numbered or two.origin.numbered or None in (one.origin.unit, two.origin.unit):
        raise InvalidQuery(
            f"{names} cannot be joined: at least one of them protects single rows, and a row "
            "of one could meet any number of the other's. Declare in the policy which column "
            'tells people apart in both, for example   unit = "patient"   or ask about each.'
        )
    check_same_unit(one, two, "joined")


def check_same_unit(one: Scope, two: Scope, verb: str) -> None:
    """Refuses tables whose units are not the same people, or not protected alike."""
    names = f"{one.table.name} and {two.table.name}"
    units = one.origin.unit, two.origin.unit
    if (units[0] or "").lower() != (units[1] or "").lower():
        raise InvalidQuery(
            f"{names} cannot be {verb}: the unit is {units[0] or 'one row'} in one and "
            f"{units[1] or 'one row'} in the other, so nobody is the same in both. Name the "
            "unit's column alike in both tables if it is the same."
        )
    if one.table.neighbors != two.table.neighbors:
        raise InvalidQuery(
            f"{names} cannot be {verb}: one is protected by {one.table.neighbors}, the other "
            f"by {two.table.neighbors}. Declare `neighbors` alike in the policy."
        )
    types = one.origin.unit_type, two.origin.unit_type
    if units[0] is not None and (None in types or types[0] != types[1]):
        raise InvalidQuery(
            f"{names} cannot be {verb}: {units[0]} must be whole numbers in both, or text in "
            "both, so that nobody is taken for another."
        )


def _equates(condition: Expression, units: tuple[list[str], list[str]]) -> bool:
    """Whether a condition says that the unit of the left is that of the right."""
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
        f"{tables[0]} and {tables[1]} are both private, and joined on something else than "
        f"the unit, so that one person's rows would meet those of others. Join them on it: "
        f"... JOIN ... ON {tables[0]}.{unit} = {tables[1]}.{unit} [AND ...], selecting {unit} "
        "in sub-queries."
    )


def _unit_places(view: RelationView, first: int, names: list[str]) -> list[str]:
    unit = view.unit
    return [names[first + i] for i, one in enumerate(view.columns) if one.expression == unit]


def _names(items: tuple[ViewColumn, ...]) -> list[str]:
    """Names that no two columns share, as short as they can be."""
    short = [item.name.lower() for item in items]
    found: list[str] = []
    for one in items:
        name = one.name
        if short.count(name.lower()) > 1:
            name = f"{one.table}.{name}" if one.table else name
        while name.lower() in map(str.lower, found):
            name += "'"
        found.append(name)
    return found
