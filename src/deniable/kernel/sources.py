"""Where rows come from, and what names stand for: tables, joins, parts, units and outputs."""

from dataclasses import dataclass, field

from sqlglot import exp

from deniable.errors import PlanRefused
from deniable.kernel.expressions import EXPRESSIONS, RowScope, text_of, type_of
from deniable.kernel.facts import MOST_ROWS, TableFacts, folded
from deniable.kernel.functions import FUNCTIONS, places_apart
from deniable.kernel.reading import Node, conditions, match, only, operands, require
from deniable.kernel.relations import Owner, Relation, join_units
from deniable.kernel.values import Limit, Names, Value, stored
from deniable.query.plan.plan import KeyValue

_RULES = {**EXPRESSIONS, **FUNCTIONS}
# To which type units of a kind may be cast: different units stay different, or become NULL.
_INJECTIVE = {"integer": "INT128", "wide": "INT128", "text": "TEXT"}
_PLACE = "\0place"  # of a row in one of several grouping sets
_SINGLE = Limit("rows", frozenset())  # each row is a unit of its own
# Whether rows of the left and of the right side of a join stay without a partner.
_STAY = {
    "": (False, False),
    "LEFT": (True, False),
    "RIGHT": (False, True),
    "FULL": (True, True),
}


def scope_of(rows: Relation) -> RowScope:
    """The columns of one row."""
    return RowScope(rows, _RULES, {}, {})


def outputs(node: exp.Select, rows: Relation) -> dict[str, Node]:
    """Each output by its name. A constant without a name gets one that nothing refers to."""
    pairs: list[tuple[str, Node]] = []
    for output in node.expressions:
        if isinstance(output, exp.Star) and not any("\0" in name[1:] for name in rows.columns):
            only(output)
            pairs += [(name, exp.column(name, quoted=True)) for name in rows.columns]
        elif isinstance(output, exp.Alias):
            pairs.append((folded(only(output, "this", "alias").alias), output.this.unnest()))
        elif isinstance(output, exp.Column) and output.args.get("table") is None:
            pairs.append((folded(output.name), output))
        elif isinstance(output, exp.Literal):
            pairs.append((f"\0{len(pairs)}", output))
        else:
            raise PlanRefused("An output has no name.")
    require(len(dict(pairs)) == len(pairs), "Two outputs have the same name.")
    return dict(pairs)


def check_names(node: exp.Select, rows: Relation) -> None:
    """Refuses a name in WHERE, GROUP BY or HAVING that an output gives to another expression:
    engines differ in which of the two they take."""
    named_outputs = outputs(node, rows)
    parts = [node.args[name] for name in ("where", "group", "having") if node.args.get(name)]
    for column in (column for part in parts for column in part.find_all(exp.Column)):
        own = named_outputs.get(folded(column.name), column)
        same = isinstance(own, exp.Column) and folded(own.name) == folded(column.name)
        require(same, f"{column.name} is a column and another output.")


def group_names(node: exp.Select, rows: Relation) -> Names:
    """The columns of GROUP BY; nothing but columns, because a number would be a position."""
    group = node.args.get("group")
    parts = [] if group is None else only(group, "expressions").expressions
    return frozenset(rows.name(part) for part in parts)


def spread_sets(node: exp.Select, rows: Relation) -> tuple[exp.Select, Relation]:
    """GROUP BY GROUPING SETS ((p), (q), ...) of places: the rows at their places, grouped by
    one column. Any other SELECT stays as it is.

    Proof. A row counts in each set. There the columns of other sets are NULL, and its own never
    is, so COALESCE(p, q, ...) is the place. The ranges of places do not meet, so no group of
    one set is that of another. So the groups are those of rows that stand once at each of their
    places. Beside COALESCE, a place could be the row's or the group's: no output may use it.
    """
    group = node.args.get("group") or exp.Group()
    sets = next(iter(group.expressions), None)
    if not isinstance(sets, exp.GroupingSets):
        return node, rows
    names = [rows.name(only(s, "this").this) for s in only(sets, "expressions").expressions]
    alone = only(group, "expressions").expressions == [sets] and not node.args.get("having")
    different = len({*names}) == len(names) and rows.units.isdisjoint(names)
    require(alone and different, "Grouping sets are the same, the unit's or not alone.")
    place = places_apart([rows.columns[name] for name in names])
    images = {name: name for name in rows.columns if name not in names}
    columns = {name: rows.columns[name]._replace(form=None) for name in images}
    kept = rows._replace(columns={**columns, _PLACE: place}, limits=rows.carried(images))
    key, told = exp.column(_PLACE, quoted=True), f"COALESCE({', '.join(names)})"
    parts = [(p.unalias().sql("duckdb") == told, p.copy()) for p in node.expressions]
    selected = [exp.alias_(key, part.alias) if same else part for same, part in parts]
    groups = exp.Group(expressions=[key])
    return exp.Select(expressions=selected, group=groups), kept.spread(_PLACE, len(names))


def unit_in(node: Node, rows: Relation) -> str | None:
    """The unit column that an expression is, unchanged or cast so that units stay different;
    after a full join, the unit of whichever side has one."""
    sides = match(node, "COALESCE(a, b)")
    if sides and rows.either is not None:
        each = [rows._replace(units=units, either=None) for units in rows.either]
        unit = unit_in(sides["a"], each[0]) and unit_in(sides["b"], each[1])
        return unit and min(rows.either[0])
    if isinstance(node, exp.TryCast) and rows.owner is not None and not rows.numbered:
        same = _INJECTIVE.get(rows.owner.kind) == type_of(only(node, "this", "to", "safe"))
        return unit_in(node.this.unnest(), rows) if same else None
    name = rows.name(node) if isinstance(node, exp.Column) else None
    return name if name in rows.units else None


def equates_units(node: Node, left: Relation, right: Relation) -> bool:
    """Whether a condition says that the units of both sides are equal. They are compared as
    integers of 64 bits, or both are cast to one type in which units stay different."""
    sides = match(node, "a = b")
    if not sides or left.owner is None:
        return False
    both = left._replace(columns={**left.columns, **right.columns})
    cast = [isinstance(side, exp.TryCast) for side in sides.values()]
    alike = all(cast) or (not any(cast) and left.owner.kind == "integer")
    other = both._replace(units=right.units)
    return bool(alike and unit_in(sides["a"], both) and unit_in(sides["b"], other))


def order_of(order: Node | None, rows: Relation) -> tuple[Names, Names]:
    """The columns that a window is ordered by, and those inside of hashes with the salt."""
    plain, hashed = set[str](), set[str]()
    for part in [] if order is None else only(order, "expressions").expressions:
        inner = only(part, "this", "desc", "nulls_first").this.unnest()
        if not isinstance(inner, exp.Anonymous):
            plain.add(rows.name(inner))
            continue
        require(inner.name.upper() == "HASH", "A window is ordered by another function.")
        *columns, salt = only(inner, "this", "expressions").expressions
        salted = isinstance(salt, exp.Placeholder) and salt.name == "salt"
        require(salted, "A hash without the salt.")
        hashed |= {rows.name(column) for column in columns}
    return frozenset(plain), frozenset(hashed)


def scan(table: TableFacts) -> Relation:
    """A table: its rows belong to their unit, or each row is a unit of its own."""
    kinds = {folded(name): kind for name, kind in table.columns.items()}
    require(len(kinds) == len(table.columns), "Two columns of a table have the same name.")
    columns = {name: stored(kind) for name, kind in kinds.items()}
    rows, unit = min(table.row_ceiling, MOST_ROWS), folded(table.unit or "")
    if table.public:
        return Relation(columns, None, rows)
    if table.unit is None:
        return Relation(columns, Owner(None, ""), rows, known=True, limits=(_SINGLE,))
    return Relation(columns, Owner(unit, kinds[unit]), rows, frozenset([unit]))


def number_rows(column: str, numbers: tuple[str, int, int], rows: Relation) -> Relation:
    """Single rows, each of which is a unit, with one more column: the number of the row."""
    single = rows.owner is not None and rows.owner.unit is None and _SINGLE in rows.limits
    require(single and not rows.numbered, "Only a table of single rows is numbered.")
    fits = column not in rows.columns and numbers[2] < numbers[1] <= 1000
    require(fits, "A row number has the name of a column, or is not such a number.")
    owner = rows.owner and rows.owner._replace(numbers=frozenset([numbers]))
    columns = {column: Value("raw wide", null=False), **rows.columns}
    return rows._replace(columns=columns, owner=owner, units=frozenset([column]))


def join_rows(left: Relation, right: Relation, join: exp.Join) -> Relation:
    """Two private sides are joined on the unit. A public side may be joined on anything,
    but not so that its rows stay without a private row."""
    stay = require(_STAY.get(join.args.get("side") or ""), "A join of another kind.")
    tests = operands(require(join.args.get("on"), "A join without a condition."), exp.And)
    columns = {**_padded(left, stay[1]), **_padded(right, stay[0])}
    rows = min(MOST_ROWS, left.rows * right.rows + left.rows + right.rows)
    if left.owner is not None and right.owner is not None:
        same = [part for part in tests if equates_units(part, left, right)]
        alike = left.owner == right.owner and left.owner.unit is not None
        require(alike and same, "Two private tables are not joined on one unit.")
        tests = [part for part in tests if part not in same]
        sides = zip((left, right), reversed(stay), strict=True)
        units = frozenset[str]().union(*(side.units for side, padded in sides if not padded))
        known = (left.known or not stay[0]) and (right.known or not stay[1])
        both = Relation(columns, left.owner, rows, units, known, join_units(left, right, stay))
        both = both._replace(either=(left.units, right.units) if all(stay) else None)
    else:
        own, alone = (left, stay[1]) if left.owner is not None else (right, stay[0])
        require(not (own.owner and alone), "A public row would stay without a private one.")
        groups = tuple(limit for limit in own.limits if limit.kind == "groups")
        both = Relation(columns, own.owner, rows, own.units, own.known, groups)
    for test in tests:
        scope_of(both).boolean(test)
    return both


def _padded(rows: Relation, others: bool) -> dict[str, Value]:
    """The columns of one side of a join, NULL where it has no partner: where rows of the other
    side stay."""
    return {n: value.optional() if others else value for n, value in rows.columns.items()}


@dataclass(slots=True)
class PartRule:
    """The part that all scans of a table must be restricted to. `readings` are the expressions
    that tell the part of a row: they must be the same for all parts of a partition, which the
    kernel cannot see, so it reports them.

    Parts are charged side by side, so no unit may count in two of them. A row's part is the
    value of an expression of one column, or of several where each row is a unit; a unit's part
    is the least value among its rows.
    """

    table: TableFacts
    part: tuple[tuple[str, KeyValue], ...]
    readings: dict[str, str] = field(default_factory=dict)

    def restricts(self, node: exp.Select) -> bool:
        """Whether a SELECT over the table keeps only the units of the part.

        Proof. `unit IN (SELECT unit ... HAVING MIN(e) = key)` keeps the units whose least value
        of e is the key, and no unit has two least values. With single rows, `e = key` keeps
        the rows of the key.
        """
        source, tests = node.args.get("from_"), conditions(node.args.get("where"))
        if source is None or node.args.get("joins"):
            return False
        named = (self.table.name, self.table.unit or "")
        table, unit = (exp.to_identifier(name, quoted=True).sql("duckdb") for name in named)
        each, expected = 1 if self.table.unit is None else 2, list[str]()
        for (column, key), test in zip(self.part, tests[::each], strict=False):
            parts = match(test, "e = k")
            names = {folded(reference.name) for reference in test.find_all(exp.Column)}
            column_name = folded(column.partition(" hashed by ")[0])  # the rest is a hash's key
            own = names == {column_name} or (column_name == "*" and each == 1)  # by any columns
            if not parts or not own or not _is_key(parts["k"], key):
                return False
            e, k = (parts[name].sql("duckdb") for name in "ek")
            least = f"SELECT {unit} FROM {table} GROUP BY {unit} HAVING MIN({e}) = {k}"
            expected += [f"{e} = {k}", f"{unit} IN ({least})"][:each]
            if self.readings.setdefault(column, e) != e:
                return False
        whole = source.sql("duckdb") == f"FROM {table}" and len(expected) == each * len(
            self.part
        )
        return whole and [test.sql("duckdb") for test in tests] == expected


def _is_key(node: Node, key: KeyValue) -> bool:
    """Whether a constant is the key: a boolean, a number as a double, a text or a date."""
    if isinstance(key, bool) or isinstance(node, exp.Boolean):
        return isinstance(node, exp.Boolean) and node.this is key
    node = node.this.unnest() if isinstance(node, exp.TryCast | exp.Cast) else node
    if isinstance(key, str):
        return text_of(node) == key
    plain = isinstance(node, exp.Literal | exp.Neg) and text_of(node) is None
    return plain and float(node.sql("duckdb")) == float(key)
