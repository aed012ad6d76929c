"""Sub-queries for a single value about other people: they are released first, as constants.

`WHERE salary > (SELECT AVG(salary) FROM staff)` asks for an average, and then for the rows
above it. The sub-query is a private question by itself; the rest is one with a constant in its
place.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction

from sqlglot import exp

from deniable.errors import InvalidQuery
from deniable.exact.rationals import decimal_text
from deniable.query.language.parse import parse_tree
from deniable.query.outer.outer_sql import write_outer

_NO_VALUES = (exp.From, exp.Join, exp.CTE, exp.In, exp.Exists, exp.SetOperation)
_MOST = 3


def find_constants(text: str, ask: Callable[[str], None]) -> tuple[str, ...]:
    """The sub-queries of a statement that are private questions by themselves, as SQL.

    `ask` refuses what is not such a question.

    >>> text = "SELECT COUNT(*) FROM t WHERE x > (SELECT AVG(x) FROM t)"
    >>> find_constants(text, lambda part: None)
    ('SELECT AVG(x) FROM t',)
    """
    tree = parse_tree(text)
    parts: list[str] = []
    for node in _values(tree):
        part = write_outer(_with_names(tree, node))
        try:
            ask(part)
        except InvalidQuery:
            continue
        if part not in parts:
            parts.append(part)
    if len(parts) > _MOST:
        raise InvalidQuery(
            f"The question has {len(parts)} sub-queries for single values about other people. "
            f"At most {_MOST} are released first."
        )
    return tuple(parts)


def put_constants(text: str, values: Mapping[str, Fraction]) -> str:
    """The statement with numbers in place of sub-queries.

    >>> text = "SELECT COUNT(*) FROM t WHERE x > (SELECT AVG(x) FROM t)"
    >>> put_constants(text, {"SELECT AVG(x) FROM t": Fraction(5, 2)})
    'SELECT COUNT(*) FROM t WHERE x > (2.5)'
    """
    tree = parse_tree(text)
    for node in _values(tree):
        value = values.get(write_outer(_with_names(tree, node)))
        if value is not None:
            number: exp.Expr = exp.Literal.number(decimal_text(abs(value)))
            node.replace(exp.Paren(this=exp.Neg(this=number) if value < 0 else number))
    return write_outer(tree)


def _values(tree: exp.Expr) -> list[exp.Subquery]:
    """The sub-queries that stand for a single value, without those inside of others."""
    walked = tree.walk(prune=lambda node: isinstance(node, exp.Subquery) and _is_value(node))
    return [node for node in walked if isinstance(node, exp.Subquery) and _is_value(node)]


def _is_value(node: exp.Subquery) -> bool:
    return not isinstance(node.parent, _NO_VALUES) and isinstance(node.this, exp.Select)


def _with_names(tree: exp.Expr, node: exp.Subquery) -> exp.Expr:
    """The question of a sub-query, with the statement's WITH."""
    select: exp.Expr = node.this.copy()
    clause = tree.args.get("with_")
    if clause is not None:
        select.set("with_", clause.copy())
    return select
