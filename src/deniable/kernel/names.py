"""Names: what outputs, units and the order of a window refer to."""

from dataclasses import replace

from sqlglot import exp

from deniable.errors import PlanRefused
from deniable.kernel.aggregates import AGGREGATES
from deniable.kernel.expressions import EXPRESSIONS, RowScope
from deniable.kernel.facts import folded
from deniable.kernel.functions import FUNCTIONS
from deniable.kernel.reading import Node, bare, match, only, require, type_of
from deniable.kernel.relations import Relation
from deniable.kernel.values import Names

_RULES = {**EXPRESSIONS, **FUNCTIONS, **AGGREGATES}
# To which type units of a kind may be cast: different units stay different, or become NULL.
_INJECTIVE = {"integer": "INT128", "wide": "INT128", "text": "TEXT"}


def scope_of(rows: Relation) -> RowScope:
    """The columns of one row."""
    return RowScope(rows, _RULES)


def outputs(node: exp.Select, rows: Relation) -> dict[str, Node]:
    """Each output by its name. A constant without a name gets one that nothing refers to."""
    found: list[tuple[str, Node]] = []
    for output in node.expressions:
        if isinstance(output, exp.Star) and not any("\0" in name[1:] for name in rows.columns):
            only(output)
            found += [(name, exp.column(name, quoted=True)) for name in rows.columns]
        elif isinstance(output, exp.Alias):
            found.append((folded(only(output, "this", "alias").alias), bare(output.this)))
        elif isinstance(output, exp.Column) and output.args.get("table") is None:
            found.append((folded(output.name), output))
        elif isinstance(output, exp.Literal):
            found.append((f"\0{len(found)}", output))
        else:
            raise PlanRefused("An output has no name.")
    require(len(dict(found)) == len(found), "Two outputs have the same name.")
    return dict(found)


def check_names(node: exp.Select) -> None:
    """Refuses a name in WHERE, GROUP BY or HAVING that an output gives to another expression:
    engines differ in which of the two they take."""
    aliased = [output for output in node.expressions if isinstance(output, exp.Alias)]
    aliases = {folded(output.alias): bare(output.this) for output in aliased}
    parts = [node.args[name] for name in ("where", "group", "having") if node.args.get(name)]
    for column in (column for part in parts for column in part.find_all(exp.Column)):
        own = aliases.get(folded(column.name), column)
        same = isinstance(own, exp.Column) and folded(own.name) == folded(column.name)
        require(same, f"{column.name} is a column and another output.")


def group_names(node: exp.Select, rows: Relation) -> Names:
    """The columns of GROUP BY; nothing but columns, because a number would be a position."""
    group = node.args.get("group")
    parts = [] if group is None else only(group, "expressions").expressions
    return frozenset(rows.name(part) for part in parts)


def unit_in(node: Node, rows: Relation) -> str | None:
    """The unit column that an expression is, unchanged or cast so that units stay different;
    after a full join, the unit of whichever side has one."""
    sides = match(node, "COALESCE(a, b)")
    if sides and rows.either is not None:
        each = [replace(rows, units=units, either=None) for units in rows.either]
        found = unit_in(sides["a"], each[0]) and unit_in(sides["b"], each[1])
        return found and min(rows.either[0])
    if isinstance(node, exp.TryCast) and rows.owner is not None and not rows.numbered:
        to = type_of(only(node, "this", "to", "safe"))
        return unit_in(bare(node.this), rows) if _INJECTIVE.get(rows.owner.kind) == to else None
    name = rows.name(node) if isinstance(node, exp.Column) else None
    return name if name in rows.units else None


def equates_units(node: Node, left: Relation, right: Relation) -> bool:
    """Whether a condition says that the units of both sides are equal. They are compared as
    integers of 64 bits, or both are cast to one type in which units stay different."""
    sides = match(node, "a = b")
    if not sides or left.owner is None:
        return False
    both = replace(left, columns={**left.columns, **right.columns})
    cast = [isinstance(side, exp.TryCast) for side in sides.values()]
    alike = all(cast) or (not any(cast) and left.owner.kind == "integer")
    other = replace(both, units=right.units)
    return bool(alike and unit_in(sides["a"], both) and unit_in(sides["b"], other))


def order_of(order: Node | None, rows: Relation) -> tuple[Names, Names]:
    """The columns that a window is ordered by, and those inside of hashes with the salt."""
    plain, hashed = set[str](), set[str]()
    for part in [] if order is None else only(order, "expressions").expressions:
        inner = bare(only(part, "this", "desc", "nulls_first").this)
        if not isinstance(inner, exp.Anonymous):
            plain.add(rows.name(inner))
            continue
        require(inner.name.upper() == "HASH", "A window is ordered by another function.")
        *columns, salt = only(inner, "this", "expressions").expressions
        salted = isinstance(salt, exp.Placeholder) and salt.name == "salt"
        require(salted, "A hash without the salt.")
        hashed |= {rows.name(column) for column in columns}
    return frozenset(plain), frozenset(hashed)
