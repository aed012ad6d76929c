"""Reads a statement so that its text has one meaning: the canonical print of its own parse."""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import TypeAlias, TypeVar

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from deniable.errors import PlanRefused

Node: TypeAlias = exp.Expr
AnyNode = TypeVar("AnyNode", bound=Node)
T = TypeVar("T")

_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"")


def require(outcome: T | None, why: str) -> T:
    """What was found, or the truth of a condition. Refuses the plan without it."""
    if not outcome:
        raise PlanRefused(why)
    return outcome


def no_rule(node: Node) -> PlanRefused:
    """The refusal of what no rule covers."""
    return PlanRefused(f"No rule covers {type(node).__name__}: {node.sql('duckdb')[:80]}")


# The steps of a training read the same stored rows. Nothing changes a tree.
@lru_cache(maxsize=4)
def read_statement(sql: str, dialect: str = "duckdb") -> Node:
    """The tree of a statement. Refuses a text that is not the print of its own tree.

    So the tree holds all of the text: no comment, no second statement, and no spelling that a
    parser reads in one way and prints in another.
    """
    plain = _QUOTED.sub("", sql)
    hidden = not plain.isascii() or "--" in plain or "/*" in plain or "\0" in sql
    require(not hidden, "The statement has a comment, or characters outside of ASCII.")
    try:
        tree = sqlglot.parse_one(sql, dialect=dialect)
        printed = tree.sql(dialect=dialect, copy=False)
    except SqlglotError:
        raise PlanRefused("The statement cannot be parsed.") from None
    require(printed == sql, "The statement is not the canonical print of its own parse.")
    return tree


def only(node: AnyNode, *names: str) -> AnyNode:
    """The node, if it has no argument but these: whatever is not looked at must not be there.

    >>> only(sqlglot.parse_one("COUNT(x)"), "this", "big_int").sql()
    'COUNT(x)'
    """
    for name, value in node.args.items():
        if value and name not in names:
            raise PlanRefused(f"{type(node).__name__} with `{name}` has no rule.")
    return node


def operands(node: Node, kind: type[Node]) -> list[Node]:
    """What a chain of AND, or of OR, joins."""
    node = node.unnest()
    return list(node.flatten()) if isinstance(node, kind) else [node]


def conditions(clause: Node | None) -> list[Node]:
    """The conditions of a WHERE or HAVING, if there is one."""
    return [] if clause is None else operands(only(clause, "this").this, exp.And)


def match(node: Node, pattern: str) -> Mapping[str, Node]:
    """What the names in a pattern stand for in a node; nothing if it has another shape.

    >>> match(sqlglot.parse_one("(a + 1) * a"), "(x + y) * x")["y"].sql()
    '1'
    """
    bindings: dict[str, Node] = {}
    return bindings if _matches(node, _parsed(pattern), bindings) else {}


@cache
def _parsed(pattern: str) -> Node:
    return sqlglot.parse_one(pattern, dialect="duckdb")


def _matches(node: object, pattern: object, bindings: dict[str, Node]) -> bool:
    if isinstance(pattern, list) and isinstance(node, list):
        pairs = zip(node, pattern, strict=False)
        return len(node) == len(pattern) and all(_matches(a, b, bindings) for a, b in pairs)
    if not isinstance(node, Node) or not isinstance(pattern, Node):
        return (node or None) == (pattern or None)
    node, pattern = node.unnest(), pattern.unnest()
    if isinstance(pattern, exp.Column):
        return bindings.setdefault(pattern.name, node) == node
    if type(node) is not type(pattern):
        return False
    parts = {**pattern.args, **node.args}
    return all(_matches(node.args.get(p), pattern.args.get(p), bindings) for p in parts)
