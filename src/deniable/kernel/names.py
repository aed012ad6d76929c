"""Names: what columns, aliases and the order of a window refer to."""

import re
from dataclasses import replace

from sqlglot import exp

from deniable.errors import PlanRefused
from deniable.kernel.expressions import RowScope
from deniable.kernel.facts import folded
from deniable.kernel.functions import ALL
from deniable.kernel.reading import Node, bare, no_rule, only, type_of
from deniable.kernel.relations import Relation
from deniable.kernel.values import Names, Value

# Names without quotes that no engine takes for a keyword or a function.
_NO_KEYWORD = re.compile(r"[a-z]\d*b?(_[a-z0-9_]+)?|place|group_place|cell|units|key|one")
# To which type units of a kind may be cast: different units stay different, or become NULL.
_INJECTIVE = {"integer": "INT128", "wide": "INT128", "text": "TEXT"}


def name_of(node: Node, rows: Relation) -> str:
    """The key of a column in its relation; after a join, of alias and name."""
    if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier):
        raise no_rule(node)
    table = only(node, "this", "table").args.get("table")
    name = folded(only(node.this, "this", "quoted").this)
    if not node.this.args.get("quoted") and not _NO_KEYWORD.fullmatch(name):
        raise PlanRefused(f"A name without quotes may be a keyword: {name}")
    key = name if table is None else f"{folded(table.this)}\0{name}"
    if key not in rows.columns:
        raise PlanRefused(f"Unknown column: {node.sql('duckdb')}")
    return key


def scope_of(rows: Relation) -> RowScope:
    """The columns of one row. A row's number is not among them: it depends on other rows."""

    def find(column: exp.Column) -> Value:
        name = name_of(column, rows)
        if rows.numbered and name in rows.units:
            raise PlanRefused("A row number is used as a value.")
        return rows.columns[name]

    return RowScope(find, ALL)


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
    if len(dict(found)) < len(found):
        raise PlanRefused("Two outputs have the same name.")
    return dict(found)


def check_names(node: exp.Select) -> None:
    """Refuses a name in WHERE, GROUP BY or HAVING that an output gives to another expression:
    engines differ in which of the two they take."""
    aliased = [output for output in node.expressions if isinstance(output, exp.Alias)]
    aliases = {folded(output.alias): bare(output.this) for output in aliased}
    parts = [node.args[name] for name in ("where", "group", "having") if node.args.get(name)]
    for column in (column for part in parts for column in part.find_all(exp.Column)):
        own = aliases.get(folded(column.name), column)
        if not isinstance(own, exp.Column) or folded(own.name) != folded(column.name):
            raise PlanRefused(f"{column.name} is a column and another output.")


def group_names(node: exp.Select, rows: Relation) -> list[str]:
    """The columns of GROUP BY; nothing but columns, because a number would be a position."""
    group = node.args.get("group")
    parts = [] if group is None else only(group, "expressions").expressions
    return [name_of(part, rows) for part in parts]


def unit_in(node: Node, rows: Relation) -> str | None:
    """The unit column that an expression is, unchanged or cast so that units stay different;
    after a full join, the unit of whichever side has one."""
    if isinstance(node, exp.Coalesce) and rows.either is not None:
        sides = [bare(part) for part in only(node, "this", "expressions").iter_expressions()]
        each = [replace(rows, units=units, either=None) for units in rows.either]
        if len(sides) == 2 and all(map(unit_in, sides, each)):
            return min(rows.either[0])
    if isinstance(node, exp.TryCast) and rows.owner is not None and not rows.numbered:
        to = type_of(only(node, "this", "to", "safe"))
        return unit_in(bare(node.this), rows) if _INJECTIVE.get(rows.owner.kind) == to else None
    name = name_of(node, rows) if isinstance(node, exp.Column) else None
    return name if name in rows.units else None


def equates_units(node: Node, left: Relation, right: Relation) -> bool:
    """Whether a condition says that the units of both sides are equal. They are compared as
    integers of 64 bits, or both are cast to one type in which units stay different."""
    if not isinstance(node, exp.EQ) or left.owner is None:
        return False
    a, b = bare(node.this), bare(node.expression)
    both = replace(left, columns={**left.columns, **right.columns})
    cast = [isinstance(side, exp.TryCast) for side in (a, b)]
    alike = all(cast) or (not any(cast) and left.owner.kind == "integer")
    return bool(alike and unit_in(a, both) and unit_in(b, replace(both, units=right.units)))


def order_of(order: Node | None, rows: Relation) -> tuple[Names, Names]:
    """The columns that a window is ordered by, and those inside of hashes with the salt."""
    plain, hashed = set[str](), set[str]()
    for part in [] if order is None else only(order, "expressions").expressions:
        inner = bare(only(part, "this", "desc", "nulls_first").this)
        if isinstance(inner, exp.Column):
            plain.add(name_of(inner, rows))
            continue
        if not isinstance(inner, exp.Anonymous) or inner.name.upper() != "HASH":
            raise no_rule(inner)
        *columns, salt = only(inner, "this", "expressions").expressions
        if not isinstance(salt, exp.Placeholder) or salt.name != "salt":
            raise PlanRefused("A hash without the salt.")
        hashed |= {name_of(column, rows) for column in columns}
    return frozenset(plain), frozenset(hashed)
