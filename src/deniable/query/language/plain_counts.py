"""Reads questions that count rows by columns, and no others: SELECT a, COUNT(*) GROUP BY a."""

from dataclasses import dataclass

import sqlglot
from sqlglot import exp

_PLAIN: tuple[type[exp.Expr], ...] = (
    exp.And,
    exp.Or,
    exp.Not,
    exp.Paren,
    exp.EQ,
    exp.NEQ,
    exp.In,
    exp.Is,
    exp.Literal,
)
_PLAIN += (exp.Column, exp.Identifier, exp.Boolean, exp.Null, exp.Neg)


@dataclass(frozen=True, slots=True)
class PlainCount:
    """SELECT keys, COUNT(*) FROM the table WHERE conditions on columns GROUP BY keys."""

    keys: tuple[str, ...]  # columns, as they are written
    shown: tuple[str, ...]  # what the keys are called in the answer
    count: str  # what the count is called
    where: str
    used: frozenset[str]


def read_plain_count(text: str, table: str) -> PlainCount | None:
    """The question, if it counts rows of the table by columns.

    >>> read_plain_count("SELECT a, COUNT(*) AS n FROM t GROUP BY a", "t").keys
    ('a',)
    >>> read_plain_count("SELECT AVG(a) FROM t", "t") is None
    True
    """
    try:
        tree = sqlglot.parse_one(text, dialect="duckdb")
    except Exception:
        return None
    known = {"expressions", "from_", "where", "group", "order", "kind"}
    if not isinstance(tree, exp.Select) or _args(tree) - known:
        return None
    source = tree.args.get("from_")
    if source is None or not isinstance(source.this, exp.Table):
        return None
    if source.this.name.lower() != table.lower() or _args(source.this) != {"this"}:
        return None
    group, where = tree.args.get("group"), tree.args.get("where")
    if group is not None and _args(group) != {"expressions"}:
        return None
    keys = [] if group is None else group.expressions
    shown = {part.this if isinstance(part, exp.Alias) else part: part for part in tree.selects}
    counts = [part for part in shown if isinstance(part, exp.Count)]
    plain = all(isinstance(key, exp.Column) for key in keys)
    if not plain or len(counts) != 1 or not isinstance(counts[0].this, exp.Star):
        return None
    if {key.name.lower() for key in keys} != {p.name.lower() for p in shown if p != counts[0]}:
        return None
    if where is not None and not all(isinstance(p, _PLAIN) for p in where.this.walk()):
        return None
    inside = () if where is None else where.find_all(exp.Column)
    columns = {c.name.lower() for c in (*keys, *inside)}
    others = [part for part in shown if part is not counts[0]]
    return PlainCount(
        tuple(part.name for part in others),
        tuple(shown[part].alias_or_name for part in others),
        shown[counts[0]].alias_or_name or "count_star()",
        "" if where is None else f" WHERE {where.this.sql('duckdb')}",
        frozenset(columns),
    )


def _args(node: exp.Expr) -> set[str]:
    """What a part of a question has."""
    return {name for name, value in node.args.items() if value}
