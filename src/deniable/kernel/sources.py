"""Where rows come from: tables, numbered tables, joins and parts of a table."""

from dataclasses import dataclass, field, replace

from sqlglot import exp

from deniable.kernel.facts import MOST_ROWS, TableFacts, folded
from deniable.kernel.names import equates_units, scope_of
from deniable.kernel.reading import (
    Node,
    bare,
    conditions,
    match,
    only,
    operands,
    require,
    text_of,
)
from deniable.kernel.relations import Owner, Relation, join_units
from deniable.kernel.values import SIGNED, Limit, Value
from deniable.query.plan.plan import KeyValue

_SINGLE = Limit("rows", frozenset())  # each row is a unit of its own


def scan(table: TableFacts) -> Relation:
    """A table: its rows belong to their unit, or each row is a unit of its own."""
    kinds = {folded(name): kind for name, kind in table.columns.items()}
    require(len(kinds) == len(table.columns), "Two columns of a table have the same name.")
    columns = {name: _raw(kind).renamed(name) for name, kind in kinds.items()}
    rows = min(table.row_ceiling, MOST_ROWS)
    if table.public:
        return Relation(columns, None, rows)
    if table.unit is None:
        owner = Owner(None, "", table.neighbors)
        return Relation(columns, owner, rows, known=True, limits=(_SINGLE,))
    unit = folded(table.unit)
    owner = Owner(unit, kinds[unit], table.neighbors)
    return Relation(columns, owner, rows, frozenset([unit]))


def _raw(kind: str) -> Value:
    """A column as a source holds it: only casts may read it, unless it is a 64-bit integer."""
    if kind == "integer":
        return Value("int", -(1 << 63), (1 << 63) - 1, 64)
    exact = kind in ("wide", "text", "boolean", "date")
    return Value(f"raw {kind}", zeros=0 if exact else SIGNED)


def number_rows(name: str, node: exp.Select, rows: Relation) -> Relation:
    """SELECT ROW_NUMBER() OVER () AS n, * FROM single rows, each of which is a unit. With
    several tables, the numbers are n * factor + place with place < factor."""
    number, star = node.expressions if len(node.expressions) == 2 else (node, node)
    require(isinstance(star, exp.Star) and only(star), "A numbered table has other columns.")
    made, column = only(number, "this", "alias").this, folded(number.alias)
    found = match(made, "ROW_NUMBER() OVER () * f + p")
    factor, place = (int(found[n].this) for n in "fp") if found else (1, 0)
    plain = found or made.sql("duckdb") == "ROW_NUMBER() OVER ()"
    single = rows.owner is not None and rows.owner.unit is None and _SINGLE in rows.limits
    require(single and not rows.numbered, "Only a table of single rows is numbered.")
    fits = plain and column not in rows.columns and place < factor <= 1000
    require(fits, "A row number has the name of a column, or is no such number.")
    owner = rows.owner and replace(rows.owner, numbers=frozenset([(name, factor, place)]))
    columns = {column: Value("raw wide", null=False), **rows.columns}
    return replace(rows, columns=columns, owner=owner, units=frozenset([column]))


def join_rows(left: Relation, right: Relation, join: exp.Join) -> Relation:
    """Two private sides are joined on the unit. A public side may be joined on anything,
    but not so that its rows stay without a private row."""
    side = str(join.args.get("side") or "")
    require(side in ("", "LEFT", "RIGHT", "FULL"), "A join of another kind.")
    tests = operands(require(join.args.get("on"), "A join without a condition."), exp.And)
    columns = _padded(left, side, "RIGHT") | _padded(right, side, "LEFT")
    rows = min(MOST_ROWS, left.rows * right.rows + left.rows + right.rows)
    if left.owner is not None and right.owner is not None:
        same = [part for part in tests if equates_units(part, left, right)]
        alike = left.owner == right.owner and left.owner.unit is not None
        require(alike and same, "Two private tables are not joined on one unit.")
        tests = [part for part in tests if part not in same]
        kept = {"": left.units | right.units, "LEFT": left.units, "RIGHT": right.units}
        known = {"": True, "LEFT": left.known, "RIGHT": right.known}.get(side, False)
        both = Relation(columns, left.owner, rows, kept.get(side, frozenset()), known)
        either = (left.units, right.units) if side == "FULL" else None
        both = replace(both, limits=join_units(left, right, side), either=either)
    else:
        own, stays = (left, "LEFT") if left.owner is not None else (right, "RIGHT")
        alone = own.owner is not None and side not in ("", stays)
        require(not alone, "A public row would stay without a private one.")
        groups = tuple(limit for limit in own.limits if limit.kind == "groups")
        both = Relation(columns, own.owner, rows, own.units, own.known, groups)
    for test in tests:
        scope_of(both).boolean(test)
    return both


def _padded(rows: Relation, side: str, other: str) -> dict[str, Value]:
    """The columns of one side of a join, NULL where it has no partner: where rows of the other
    side stay."""
    if side not in (other, "FULL"):
        return dict(rows.columns)
    return {name: value.optional().renamed(name) for name, value in rows.columns.items()}


@dataclass(slots=True)
class PartRule:
    """The part that all scans of a table must be restricted to. `readings` are the expressions
    that tell the part of a row: they must be the same for all parts of a partition, which the
    kernel cannot see, so it reports them.

    Parts are charged side by side, so no unit may count in two of them. A row's part is the
    value of an expression of one column; a unit's part is the least value among its rows.
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
        source, where = node.args.get("from_"), node.args.get("where")
        if source is None or where is None or node.args.get("joins"):
            return False
        table, unit = (_quoted(name or "") for name in (self.table.name, self.table.unit))
        each = 1 if self.table.unit is None else 2  # conditions for a column of the part
        expected, tests = [], conditions(where)[::each]
        for (column, key), test in zip(self.part, tests, strict=False):
            found = match(test, "e = k")
            names = {folded(one.name) for one in test.find_all(exp.Column)}
            if not found or names != {folded(column)} or not _is_key(found["k"], key):
                return False
            e, k = (found[name].sql("duckdb") for name in "ek")
            own = (
                f"{unit} IN (SELECT {unit} FROM {table} GROUP BY {unit} HAVING MIN({e}) = {k})"
            )
            expected += [f"{e} = {k}", own][:each]
            if self.readings.setdefault(column, e) != e:
                return False
        told = f"{source.sql('duckdb')} {where.sql('duckdb')}"
        wanted = f"FROM {table} WHERE {' AND '.join(expected)}"
        return len(tests) == len(self.part) and told == wanted


def _quoted(name: str) -> str:
    return exp.to_identifier(name, quoted=True).sql("duckdb")


def _is_key(node: Node, key: KeyValue) -> bool:
    """Whether a constant is the key: a boolean, a number as a double, a text or a date."""
    if isinstance(key, bool) or isinstance(node, exp.Boolean):
        return isinstance(node, exp.Boolean) and node.this is key
    node = bare(node.this) if isinstance(node, exp.TryCast | exp.Cast) else node
    if isinstance(key, str):
        return text_of(node) == key
    plain = isinstance(node, exp.Literal | exp.Neg) and text_of(node) is None
    return plain and float(node.sql("duckdb")) == float(key)
