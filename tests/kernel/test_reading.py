"""The parser reads the structure that the engine reads: no operator binds otherwise."""

import random

import duckdb
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from deniable.errors import PlanRefused
from deniable.kernel.relations import Relation
from deniable.kernel.sources import scope_of

COMPARED = ["=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "AND", "OR"]
# Constants of one kind, and the operators that may stand between, before and after them.
KINDS = [
    (["1", "CAST(2 AS DOUBLE)"], [*COMPARED, *"+-*/%", "//"], ["-"], [" IN (1, 2)"]),
    (["TRUE", "FALSE", "NULL"], COMPARED, ["NOT "], [" IS NULL", " IN (TRUE)"]),
    (["'a'", "'TRUE'"], [*COMPARED, "LIKE", "||", "||"], ["NOT "], [" IN ('a')", " IS NULL"]),
]
EMPTY = Relation({}, None, 1)


def text(draw):
    """A few constants and operators, without brackets; seldom of several kinds."""
    parts, kind = [], draw.choice(KINDS)
    for _ in range(draw.randint(2, 4)):
        atoms, between, before, after = draw.choice(KINDS) if draw.random() < 0.1 else kind
        first, last = draw.choice(["", "", *before]), draw.choice(["", "", "", *after])
        parts += [first + draw.choice(atoms) + last, draw.choice(between)]
    return " ".join(parts[:-1])


def bracketed(node):
    """The same tree with brackets around every part."""
    node = node.unnest()
    if isinstance(node, exp.In):
        return f"({bracketed(node.this)} IN ({', '.join(map(bracketed, node.expressions))}))"
    if isinstance(node, exp.Between):
        ends = " AND ".join(bracketed(node.args[end]) for end in ("low", "high"))
        return f"({bracketed(node.this)} BETWEEN {ends})"
    if isinstance(node, exp.Not | exp.Neg):
        return f"({'NOT ' if isinstance(node, exp.Not) else '-'}{bracketed(node.this)})"
    if isinstance(node, exp.Binary):
        shape = node.copy()
        shape.set("this", exp.column("first_part"))
        shape.set("expression", exp.column("second_part"))
        both = shape.sql("duckdb").replace("first_part", bracketed(node.this))
        return f"({both.replace('second_part', bracketed(node.expression))})"
    return node.sql("duckdb")


def told(engine, sql):
    """What the engine makes of an expression; None if it fails by a value."""
    try:
        return repr(engine.execute(f"SELECT {sql}").fetchone())
    except (duckdb.ParserException, duckdb.BinderException):
        return "refused"  # whatever the rows hold
    except duckdb.Error:
        return None


def accepted(tree):
    try:
        return bool(scope_of(EMPTY).value(tree))
    except PlanRefused:
        return False


def test_operators_bind_in_the_parser_as_in_the_engine(size):
    """Where they do not, as in `NOT a IS NULL || b`, the rules refuse what the parser read."""
    draw, count = random.Random(18), size(small=400, full=40_000, what="texts of operators")
    known = 0
    with duckdb.connect() as engine:
        for _ in range(count):
            sql = text(draw)
            try:
                tree = sqlglot.parse_one(sql, dialect="duckdb")
            except SqlglotError:
                continue
            if tree.sql("duckdb") == sql and accepted(tree):
                known += 1
                assert told(engine, sql) in ("refused", told(engine, bracketed(tree))), sql
    assert known > count / 20
